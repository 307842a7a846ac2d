"""Solving labels of a dataset in tests: one by one, or on the fast path."""

import h5py
import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, problem, train

from ovaflow.data.dataset import Dataset, Split
from ovaflow.initialization.pretrained import Earlier
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.losses import LOSSES, SLOPE_AT_ZERO
from ovaflow.solver.problem import Settings, make_workspace, unit_weights
from ovaflow.solver.stopping import relative_tolerance
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.label_jobs import LabelJobs, LabelQueue, LabelSolver
from ovaflow.training.shard_job import train_labels

LIBLINEAR_SOLVERS = {
    ("squared-hinge", "l2"): 2,
    ("logistic", "l2"): 0,
    ("squared-hinge", "l1"): 5,
    ("logistic", "l1"): 6,
}

DEGENERATE = {
    "one instance": ([[1.0]], [1.0]),
    "one negative": ([[1.0]], [-1.0]),
    "bias only": ([[0.0, 1.0]], [1.0]),
    "no features": ([[0.0], [0.0], [1.0]], [1.0, -1.0, -1.0]),
    "all positive": ([[0.6, 0.8, 1.0], [0.0, 0.0, 1.0]], [1.0, 1.0]),
    "contradiction": ([[0.6, 0.8, 1.0], [0.6, 0.8, 1.0]], [1.0, -1.0]),
}
"""Dense features and signs of problems that are hardly any."""


def in_memory(X, Y):
    """A dataset of sparse or dense matrices, the same for training and test."""
    split = Split(from_scipy(X), from_scipy(Y))
    return Dataset("memory", split, split, "", {"bias": 1.0})


def jobs_of(dataset, **settings):
    """The one-vs-all problems of a dataset, nothing pruned."""
    training = TrainLabels(**{"stored_threshold": 0.0} | settings)
    return LabelJobs.of(dataset, compute_start_inputs(dataset, training), training)


def solved(jobs, labels, fast=True):
    """TrainedLabel of each label, all on the fast path or none."""
    labels = list(labels)
    return dict(LabelSolver(jobs).solve_from(LabelQueue(labels, [fast] * len(labels))))


def trained(dataset, labels=None, threads=1, earlier=None, **settings):
    """The shard of some labels, or of all."""
    training = TrainLabels(**settings)
    inputs = compute_start_inputs(dataset, training, earlier=earlier)
    labels = np.arange(dataset.n_labels) if labels is None else np.asarray(labels)
    return train_labels(dataset, inputs, labels, training, threads)


def as_earlier(dataset, labels, done):
    """A trained shard as the earlier model of the same dataset."""
    rows, d = np.full(dataset.n_labels, -1), dataset.n_features
    rows[labels] = np.where(done.trained, np.arange(len(labels)), -1)
    return Earlier(done.weights, rows, np.arange(d), np.ones(d, np.float32), done.statistics["positives"])


def assert_same_bits(ours, theirs):
    """Of two sparse matrices, or two solved labels."""
    for name in ("data", "indices"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()


def signs_of(jobs, label):
    """1 for instances that carry the label, -1 for the others."""
    y = np.full(jobs.X.n_rows, -1.0)
    y[jobs.positives_of(label)] = 1.0
    return y


def dense_weights(solved_label, d):
    """Weights of a solved label, shape (d,)."""
    weights = np.zeros(d)
    weights[solved_label.indices] = solved_label.data
    return weights


def liblinear(X, y, loss="squared-hinge", C=1.0, cost=1.0, regularization="l2"):
    """LIBLINEAR's weights, at a tolerance of 1e-6."""
    # its first class is the first label that it meets
    order = np.argsort(-y, kind="stable")
    options = f"-s {LIBLINEAR_SOLVERS[loss, regularization]} -c {C} -e 1e-6 -w1 {cost} -q"
    return np.array(train(problem(y[order], sp.csr_matrix(X[order])), parameter(options)).get_decfun()[0])


def posed(X, y, start=None, loss="squared-hinge", **constants):
    """Arguments of the plain solver for an L2 problem with these signs."""
    settings = Settings(**{"C": 1.0, "epsilon": 0.01, "loss": LOSSES[loss]} | constants)
    positives = np.flatnonzero(y > 0).astype(np.int32)
    at_zero = np.linalg.norm(settings.C * SLOPE_AT_ZERO[settings.loss] * (y @ X.to_scipy().astype(float)))
    target = relative_tolerance(settings.epsilon, len(positives), len(y)) * at_zero
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0 if start is None else start
    return X, unit_weights(X.n_rows), positives, target, work, settings


def contents(path):
    """The bytes of every array of a model file."""
    arrays = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: arrays.update({name: item[()].tobytes()}) if isinstance(item, h5py.Dataset) else None
        )
    return arrays
