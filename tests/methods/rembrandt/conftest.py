import numpy as np
import pytest
import scipy.sparse

from ovaflow.dataset.dataset import Split, open_dataset, write_dataset
from ovaflow.sparse.csr import from_scipy


def _write(path, X, Y):
    train = Split(from_scipy(X[:400]), from_scipy(Y[:400]))
    test = Split(from_scipy(X[400:]), from_scipy(Y[400:]))
    write_dataset(path, train, test, [f"label {j}" for j in range(Y.shape[1])], [], {"bias": 1.0})
    return open_dataset(path)


def _features(generator):
    X = scipy.sparse.random_array((500, 60), density=0.2, rng=generator).tolil()
    X[:, -1] = 1
    return X.tocsr()


@pytest.fixture(scope="package")
def multilabel(tmp_path_factory):
    """500 instances, 60 features, 30 labels that follow 6 hidden directions."""
    generator = np.random.default_rng(0)
    X = _features(generator)
    scores = X @ generator.standard_normal((60, 6)) @ generator.standard_normal((6, 30))
    scores = np.asarray(scores) + generator.standard_normal((500, 30))
    return _write(
        tmp_path_factory.mktemp("data") / "multilabel.h5",
        X,
        scores > np.quantile(scores, 0.9, axis=0),
    )


@pytest.fixture(scope="package")
def multiclass(tmp_path_factory):
    """500 instances with one of 12 labels each."""
    generator = np.random.default_rng(1)
    X = _features(generator)
    scores = np.asarray(X @ generator.standard_normal((60, 12))) + 0.3 * generator.standard_normal(
        (500, 12)
    )
    Y = np.eye(12)[(scores - scores.mean(axis=0)).argmax(axis=1)]
    return _write(tmp_path_factory.mktemp("data") / "multiclass.h5", X, Y)
