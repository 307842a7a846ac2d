"""Solving labels of a dataset in tests: one by one, or on the fast path."""

import h5py
import numpy as np

from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.initialization.pretrained import EarlierModel
from ovaflow.initialization.starts import compute_start_inputs, make_start
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.newton import set_up_problem
from ovaflow.solver.problem import make_unit_instances, make_workspace
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.label_jobs import LabelJobs, LabelQueue, LabelWorker
from ovaflow.training.shard_job import train_labels


def make_memory_dataset(X, Y):
    """A dataset of sparse or dense matrices, the same for training and test."""
    split = Split(from_scipy(X), from_scipy(Y))
    return Dataset("memory", split, split, "", {"bias": 1.0})


def make_jobs(dataset, **settings):
    """The one-vs-all problems of a dataset, nothing pruned."""
    training = TrainLabels(**{"stored_threshold": 0.0} | settings)
    return LabelJobs.of(dataset, compute_start_inputs(dataset, training), training)


def solve_labels(jobs, labels, fast=True):
    """TrainedLabel of each label, all on the fast path or none."""
    labels = list(labels)
    return dict(LabelWorker(jobs).solve_from(LabelQueue(labels, [fast] * len(labels))))


def make_problem(X, y, weights, cost=1.0):
    """The workspace of a problem whose positives cost so much, at some weights."""
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = weights
    set_up_problem(
        X,
        make_unit_instances(X.n_rows),
        np.flatnonzero(y > 0).astype(np.int32),
        np.float32(cost),
        work,
    )
    return work


def train_shard(dataset, labels=None, threads=1, earlier=None, **settings):
    """The shard of some labels, or of all."""
    training = TrainLabels(**settings)
    inputs = compute_start_inputs(dataset, training, earlier=earlier)
    labels = np.arange(dataset.n_labels) if labels is None else np.asarray(labels)
    return train_labels(dataset, inputs, labels, training, threads)


def compute_starts(dataset, earlier=None, **settings):
    """What every label starts at, dense."""
    training = TrainLabels(**settings)
    start = make_start(training, compute_start_inputs(dataset, training, earlier=earlier))
    weights = np.full((dataset.n_labels, dataset.n_features), np.nan, np.float32)
    for label in range(dataset.n_labels):
        positives = dataset.positives.indices[slice(*dataset.positives.indptr[label : label + 2])]
        start.fill(label, dataset.train.X, positives, weights[label])
    return weights


def make_earlier(dataset, labels, done):
    """A trained shard as the earlier model of the same dataset."""
    rows = np.full(dataset.n_labels, -1)
    d = dataset.n_features
    rows[labels] = np.where(done.trained, np.arange(len(labels)), -1)
    return EarlierModel(
        done.weights, rows, np.arange(d), np.ones(d, np.float32), done.statistics["positives"]
    )


def assert_same_bits(ours, theirs) -> None:
    """Of two sparse matrices, or two solved labels."""
    for name in ("data", "indices"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()


def read_model_bytes(path):
    """The bytes of every array of a model file."""
    arrays = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: (
                arrays.update({name: item[()].tobytes()})
                if isinstance(item, h5py.Dataset)
                else None
            )
        )
    return arrays
