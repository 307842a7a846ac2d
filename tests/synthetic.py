"""Random datasets with the properties of text that the solvers rely on, and models of given
weights.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from commands import list_words
from solving import make_memory_dataset

from ovaflow.cli import main
from ovaflow.dataset.dataset import Dataset, open_dataset, write_dataset
from ovaflow.model.model_file import ModelDescription, Names, write_model
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.settings.train import TrainLabels
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.shard_job import train_model


def make_topics(n=6000, d=3000, n_labels=90, seed=0, signed=False) -> Dataset:
    """Make instances whose words follow a power law; each label depends on a few rare words."""
    rng = np.random.default_rng(seed)
    words = np.minimum((rng.pareto(0.5, size=(n, 15)) * 5).astype(int), d - 1)
    values = rng.random(words.shape) + 0.2
    if signed:
        values *= rng.choice([-1, 1], size=values.shape)
    rows = np.repeat(np.arange(n), 15)
    X = sp.csr_array((values.ravel(), (rows, words.ravel())), shape=(n, d))
    X = sp.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1)).ravel()) @ X
    hints = rng.choice(d // 2, size=(n_labels, 3))
    touched = np.array([np.asarray(abs(X[:, hint]).sum(axis=1)).ravel() for hint in hints])
    Y = (touched > 0.05) & (rng.random((n_labels, n)) < 0.6)
    Y[:, 0] = True
    Y[Y.sum(axis=1) > 0.02 * n, 200:] = False
    return make_memory_dataset(sp.hstack([X, np.ones((n, 1))]), sp.csr_array(Y.T.astype(float)))


def write_topics(path, parameters=None, **settings) -> Dataset:
    """Write a dataset of :func:`make_topics`, with further parameters, and open it."""
    dataset = make_topics(**settings)
    names = [f"label {j}" for j in range(dataset.n_labels)]
    all_parameters = dataset.parameters | (parameters or {})
    write_dataset(path, dataset.train, dataset.train, names, [], all_parameters)
    return open_dataset(path)


def write_weights(path, dataset, weights, **parameters) -> OneVsAll:
    """Write a model of dense weights (l, d) without their zeros, and open it."""
    kept = from_scipy(weights)
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    names = Names(dataset.label_names, dataset.feature_names)
    parameters = {"transform": dataset.parameters} | parameters
    inputs = {"dataset": dataset.checksum}
    description = ModelDescription(counts > 0, counts, names, parameters, inputs)
    write_model(path, np.diff(kept.indptr), [kept], kept.n_columns, description)
    return OneVsAll.open(path)


def train_model_file(path, dataset, prune=0.0) -> Path:
    """Train on a dataset with the defaults, and write the model; return its path."""
    train_model(dataset, TrainLabels(), prune).write(path)
    return path


def prepare_and_train(folder, *options, name="model", prune=0.0) -> Path:
    """Prepare dataset.h5 with options and train on it; return the path of NAME.h5."""
    assert main(["prepare", *list_words(options), f"--output={folder}/dataset.h5"]) == 0
    return train_model_file(folder / f"{name}.h5", open_dataset(folder / "dataset.h5"), prune)
