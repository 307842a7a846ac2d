"""Datasets of dense labels for tests of embeddings and decoders."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from ovaflow.dataset.dataset import Dataset, Split, open_dataset, write_dataset
from ovaflow.sparse.csr import from_scipy


def write_and_open(path: Path, X: Any, Y: np.ndarray) -> Dataset:
    """Write a dataset of 400 training and 100 test instances, and open it."""
    train = Split(from_scipy(X[:400]), from_scipy(Y[:400]))
    test = Split(from_scipy(X[400:]), from_scipy(Y[400:]))
    names = [f"label {j}" for j in range(Y.shape[1])]
    write_dataset(path, train, test, names, [], {"bias": 1.0})
    return open_dataset(path)


def make_features(generator: np.random.Generator) -> scipy.sparse.csr_array:
    """Make 500 sparse rows with a bias feature."""
    X = scipy.sparse.random_array((500, 60), density=0.2, rng=generator).tolil()
    X[:, -1] = 1
    return X.tocsr()


@pytest.fixture(scope="package")
def multilabel(tmp_path_factory) -> Dataset:
    """500 instances, 60 features, 30 labels that follow 6 hidden directions."""
    generator = np.random.default_rng(0)
    X = make_features(generator)
    scores = X @ generator.standard_normal((60, 6)) @ generator.standard_normal((6, 30))
    scores = np.asarray(scores) + generator.standard_normal((500, 30))
    Y = scores > np.quantile(scores, 0.9, axis=0)
    return write_and_open(tmp_path_factory.mktemp("data") / "multilabel.h5", X, Y)


@pytest.fixture(scope="package")
def multiclass(tmp_path_factory) -> Dataset:
    """500 instances with one of 12 labels each."""
    generator = np.random.default_rng(1)
    X = make_features(generator)
    scores = np.asarray(X @ generator.standard_normal((60, 12)))
    scores = scores + 0.3 * generator.standard_normal((500, 12))
    Y = np.eye(12)[(scores - scores.mean(axis=0)).argmax(axis=1)]
    return write_and_open(tmp_path_factory.mktemp("data") / "multiclass.h5", X, Y)
