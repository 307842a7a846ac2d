"""Problems that peers solve, and the methods that they must have."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse

from ovaflow.dataset.dataset import Dataset
from ovaflow.sparse.csr import CSR, is_full

SCORED_INSTANCES = 1024
"""Instances that :class:`OneByOne` scores at a time."""


@dataclass(frozen=True)
class Problem:
    """One training task, the same for every peer; peers number the labels 0..m-1."""

    dataset: Dataset  # peers that know a bias of their own leave out its last feature
    labels: np.ndarray  # ascending
    C: float
    epsilon: float  # relative gradient tolerance of primal solvers
    threshold: float  # smaller weights are dropped from one-vs-all models
    seed: int
    folder: Path  # where the peer may write

    @property
    def bias(self) -> float:
        """Value of the bias feature, 0 when there is none."""
        return float(self.dataset.parameters.get("bias", 0.0))

    @cached_property
    def X(self) -> scipy.sparse.csr_matrix:
        """Training instances with the bias feature: scipy csr_matrix of float32, shape (n, d)."""
        return as_matrix(self.dataset.train.X)

    @cached_property
    def features(self) -> scipy.sparse.csr_matrix:
        """Training instances without the bias feature: scipy csr_matrix of float32."""
        return self.without_bias(self.dataset.train.X)

    @cached_property
    def Y(self) -> scipy.sparse.csr_matrix:
        """Labels of the training instances: scipy csr_matrix of float32, shape (n, m)."""
        return as_matrix(self.dataset.train.Y)[:, self.labels]

    def without_bias(self, X: CSR) -> scipy.sparse.csr_matrix:
        """Leave out the bias feature."""
        n_features = X.n_columns - 1 if self.bias != 0 else X.n_columns
        return as_matrix(X)[:, :n_features]


class Peer(ABC):
    """A trainer of one problem, on one thread."""

    def __init__(self, problem) -> None:
        self._problem = problem

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile what a first use compiles; not timed."""
        return

    @abstractmethod
    def train(self) -> None:
        """Train all labels of the problem."""

    @abstractmethod
    def predict(self, X: CSR, k: int) -> np.ndarray:
        """Predict the best labels: int64 (n, k), -1 if there are fewer."""

    @abstractmethod
    def model_bytes(self) -> int:
        """Return the size of the stored model."""

    def weights(self) -> CSR | None:
        """Return one-vs-all weights as they are stored, small ones dropped, if they can be read."""
        return None


def as_matrix(matrix: CSR) -> scipy.sparse.csr_matrix:
    """Convert to the older of SciPy's sparse interfaces, with 32-bit indices, as peers expect."""
    shape = matrix.n_rows, matrix.n_columns
    if is_full(matrix):
        return scipy.sparse.csr_matrix(matrix.data.reshape(shape))
    data = np.require(matrix.data, requirements="W")
    indices = np.require(matrix.indices, requirements="W")
    indptr = matrix.indptr.astype(np.int32)
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=shape)


def folder_bytes(folder: Path) -> int:
    """Return the size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def pad_predictions(rows: Iterable[Iterable[int]], k: int) -> np.ndarray:
    """Return predictions as an array (n, k), with -1 in rows of fewer labels."""
    padded = []
    for row in rows:
        labels = list(row)[:k]
        padded.append(labels + [-1] * (k - len(labels)))
    return np.array(padded, np.int64).reshape(len(padded), k)


class OneByOne(Peer):
    """A peer that trains one label at a time and leaves storing and scoring to the caller."""

    def __init__(self, problem) -> None:
        super().__init__(problem)
        self._columns = problem.Y.tocsc()
        self._rows = []

    def train(self) -> None:
        y = np.empty(self._problem.X.shape[0])
        for label in range(self._columns.shape[1]):
            y[:] = -1.0
            start = self._columns.indptr[label]
            end = self._columns.indptr[label + 1]
            y[self._columns.indices[start:end]] = 1.0
            weights = np.asarray(self.train_label(y), np.float32)
            kept = np.flatnonzero((np.abs(weights) >= self._problem.threshold) & (weights != 0))
            self._rows.append((kept, weights[kept]))

    @abstractmethod
    def train_label(self, y: np.ndarray) -> np.ndarray:
        """Train one label and return its weights; y (n,) is 1 for positives, -1 for others."""

    def predict(self, X, k) -> np.ndarray:
        transposed = self.weights().to_scipy().T.tocsr()
        instances = X.to_scipy()
        ids = np.full((X.n_rows, k), -1, np.int64)
        for low in range(0, X.n_rows, SCORED_INSTANCES):
            scores = (instances[low : low + SCORED_INSTANCES] @ transposed).toarray()
            best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            ids[low : low + SCORED_INSTANCES, : best.shape[1]] = best
        return ids

    def model_bytes(self) -> int:
        return sum(array.nbytes for array in self.weights().arrays)

    def weights(self) -> CSR:
        indptr = np.zeros(len(self._rows) + 1, np.int64)
        np.cumsum([len(kept) for kept, _ in self._rows], out=indptr[1:])
        indices = np.concatenate([kept for kept, _ in self._rows])
        data = np.concatenate([values for _, values in self._rows])
        return CSR(data, indices.astype(np.int32), indptr, self._problem.X.shape[1])
