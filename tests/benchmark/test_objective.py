import naive
import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.benchmark.objective import objectives
from ovaflow.sparse.csr import from_scipy


def test_objectives_equal_the_naive_ones():
    rng = np.random.default_rng(0)
    X, W = rng.random((30, 7)), rng.normal(size=(40, 7))
    Y = rng.random((40, 30)) < 0.3
    ours = objectives(from_scipy(X), from_scipy(sp.csr_array(Y.astype(float))), from_scipy(W), C=0.7)
    X, W = np.float32(X).astype(float), np.float32(W).astype(float)
    theirs = [naive.squared_hinge_objective(X, np.where(y, 1.0, -1.0), w, C=0.7) for y, w in zip(Y, W, strict=True)]
    assert ours == pytest.approx(theirs)
