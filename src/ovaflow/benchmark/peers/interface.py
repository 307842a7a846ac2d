"""What a peer is given, and what it must be able to do."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse

from ovaflow.benchmark.sample import columns_of
from ovaflow.data.dataset import Dataset
from ovaflow.sparse.csr import CSR, is_full

BLOCK = 1024
"""Instances that :class:`OneByOne` scores at a time."""


@dataclass(frozen=True)
class Problem:
    """One training task, the same for every peer.

    Attributes
    ----------
    dataset : Dataset
        Peers that know a bias of their own leave out its last feature.
    labels : ndarray of int64, shape (m,)
        Labels to train, ascending; peers number them 0..m-1.
    C : float
    epsilon : float
        Relative gradient tolerance of primal solvers.
    threshold : float
        Weights below it in magnitude are dropped from one-vs-all models.
    seed : int
    folder : pathlib.Path
        Where the peer may write.
    """

    dataset: Dataset
    labels: np.ndarray
    C: float
    epsilon: float
    threshold: float
    seed: int
    folder: Path

    @property
    def bias(self):
        """Value of the bias feature, 0 when there is none."""
        return float(self.dataset.parameters.get("bias", 0.0))

    @cached_property
    def X(self):
        """Training instances with the bias feature: scipy csr_matrix of float32, shape (n, d)."""
        return as_matrix(self.dataset.train.X)

    @cached_property
    def features(self):
        """Training instances without the bias feature: scipy csr_matrix of float32."""
        return self.without_bias(self.dataset.train.X)

    @cached_property
    def Y(self):
        """Labels of the training instances: scipy csr_matrix of float32, shape (n, m)."""
        return as_matrix(columns_of(self.dataset.train.Y, self.labels))

    def without_bias(self, X):
        """Leave out the bias feature.

        Parameters
        ----------
        X : CSR, shape (n, d)

        Returns
        -------
        scipy csr_matrix of float32
        """
        width = X.n_columns - (self.bias != 0)
        return as_matrix(columns_of(X, np.arange(width)))


class Peer(ABC):
    """A trainer of one problem, on one thread.

    Parameters
    ----------
    problem : Problem
        The constructor converts the data where the peer allows it; that is timed apart.
    """

    def __init__(self, problem):
        self._problem = problem

    @classmethod
    def warm_up(cls, problem):
        """Compile what a first use compiles; not timed.

        Parameters
        ----------
        problem : Problem
        """
        return None

    @abstractmethod
    def train(self):
        """Train all labels of the problem."""

    @abstractmethod
    def predict(self, X, k):
        """Predict the best labels.

        Parameters
        ----------
        X : CSR, shape (n, d)
            Bias feature included.
        k : int

        Returns
        -------
        ndarray of int, shape (n, k)
            Best first, -1 where there are fewer.
        """

    @abstractmethod
    def model_bytes(self):
        """Size of the stored model.

        Returns
        -------
        int
        """

    def weights(self):
        """One-vs-all weights as they are stored, small ones dropped.

        Returns
        -------
        CSR or None
            Shape (m, d), bias feature last; None where there are none or where they cannot be read.
        """
        return None


def as_matrix(matrix):
    """The older of SciPy's two sparse interfaces, with 32-bit indices, which the peers expect.

    Parameters
    ----------
    matrix : CSR, shape (n, d)

    Returns
    -------
    scipy csr_matrix of float32
        A copy where the arrays are mapped from a file, and where rows are
        stored in full: without their zeros.
    """
    shape = matrix.n_rows, matrix.n_columns
    if is_full(matrix):
        return scipy.sparse.csr_matrix(matrix.data.reshape(shape))
    data = np.require(matrix.data, requirements="W")
    indices, indptr = np.require(matrix.indices, requirements="W"), matrix.indptr.astype(np.int32)
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=shape)


def folder_bytes(folder):
    """Size of all files below a folder.

    Parameters
    ----------
    folder : pathlib.Path

    Returns
    -------
    int
    """
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def best_of(rows, k):
    """Predictions as an array.

    Parameters
    ----------
    rows : iterable of sequence of int
        Labels of each instance, best first.
    k : int

    Returns
    -------
    ndarray of int64, shape (n, k)
        -1 where a row has fewer than k labels.
    """
    kept = [list(row)[:k] for row in rows]
    return np.array([row + [-1] * (k - len(row)) for row in kept], np.int64).reshape(len(kept), k)


class OneByOne(Peer):
    """A peer that trains one label at a time and leaves storing and scoring to the caller.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem):
        super().__init__(problem)
        self._columns = problem.Y.tocsc()
        self._rows = []

    def train(self):
        y = np.empty(self._problem.X.shape[0])
        for label in range(self._columns.shape[1]):
            y[:] = -1.0
            y[self._columns.indices[slice(*self._columns.indptr[label : label + 2])]] = 1.0
            weights = np.asarray(self.weights_of(y), np.float32)
            kept = np.flatnonzero((np.abs(weights) >= self._problem.threshold) & (weights != 0))
            self._rows.append((kept, weights[kept]))

    @abstractmethod
    def weights_of(self, y):
        """Train one label.

        Parameters
        ----------
        y : ndarray of float64, shape (n,)
            1 or -1.

        Returns
        -------
        ndarray of float, shape (d,)
        """

    def predict(self, X, k):
        transposed = self.weights().to_scipy().T.tocsr()
        instances = X.to_scipy()
        ids = np.full((X.n_rows, k), -1, np.int64)
        for low in range(0, X.n_rows, BLOCK):
            scores = (instances[low : low + BLOCK] @ transposed).toarray()
            best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            ids[low : low + BLOCK, : best.shape[1]] = best
        return ids

    def model_bytes(self):
        return sum(array.nbytes for array in self.weights().arrays)

    def weights(self):
        indptr = np.zeros(len(self._rows) + 1, np.int64)
        np.cumsum([len(kept) for kept, _ in self._rows], out=indptr[1:])
        indices, data = (np.concatenate(parts) for parts in zip(*self._rows, strict=True))
        return CSR(data, indices.astype(np.int32), indptr, self._problem.X.shape[1])
