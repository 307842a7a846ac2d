"""Means of all instances and of each label's positives: what starting points and stopping rules
need.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.sparse.csr import add_row, entry_column, omit_full_indices
from ovaflow.sparse.jit import kernel
from ovaflow.storage.artifact import Artifact

_BLOCKS_PER_THREAD = 16


@dataclass(frozen=True)
class Means(Artifact, kind="means", made_from=("dataset",)):
    """Means and their inner products, in float64; 0 for labels without positives."""

    x_mean: np.ndarray  # mean of all n documents, shape (d,)
    pp: np.ndarray  # <p_mean, p_mean> of each label, shape (l,)
    xp: np.ndarray  # <x_mean, p_mean> of each label
    counts: np.ndarray  # positives of each label, int64
    xx: float  # <x_mean, x_mean>


def compute_means(X, positives, threads=1, n_documents=None):
    """Means of a training set; that of all instances is of the first ``n_documents``."""
    n = X.n_rows if n_documents is None else n_documents
    x_mean = np.zeros(X.n_columns)
    _add_rows(X.data[: X.indptr[n]], X.indices[: X.indptr[n]], x_mean)
    x_mean /= max(n, 1)
    pp = np.zeros(positives.n_rows)
    xp = np.zeros(positives.n_rows)

    def fill(block):
        first, last = block
        arrays = (*omit_full_indices(X).arrays, positives.indices, positives.indptr)
        _inner_products(*arrays, first, last, x_mean, pp, xp)
        return last - first

    with (
        Progress("means", positives.n_rows, "labels") as progress,
        ThreadPoolExecutor(threads) as pool,
    ):
        for n_labels in pool.map(fill, _blocks(positives.indptr, threads * _BLOCKS_PER_THREAD)):
            progress.advance(n_labels)
    # not np.dot, whose order of addition depends on the number of BLAS threads
    xx = float(np.square(x_mean).sum())
    return Means(x_mean, pp, xp, np.diff(positives.indptr).astype(np.int64), xx)


def _blocks(indptr, n_blocks):
    """Consecutive ranges of labels with about equally many positives."""
    cuts = np.searchsorted(indptr, np.linspace(0, indptr[-1], n_blocks + 1))
    cuts[0] = 0
    cuts[-1] = len(indptr) - 1
    return [(int(first), int(last)) for first, last in pairwise(cuts) if first < last]


@kernel
def _add_rows(data, indices, out) -> None:
    """out += sum_i x_i."""
    for k in range(len(data)):
        out[indices[k]] += data[k]


@kernel
def _inner_products(data, indices, indptr, instances, starts, first, last, x_mean, pp, xp) -> None:
    """pp = <p, p> and xp = <x_mean, p> with p = sum_{i in P} x_i / |P|, for labels first to last."""
    total = np.zeros(len(x_mean))
    for label in range(first, last):
        members = instances[starts[label] : starts[label + 1]]
        for i in members:
            add_row(data, indices, indptr[i], indptr[i + 1], 1.0, total)
        squares = 0.0
        products = 0.0
        # a full row has all features
        for i in members[:1] if indices is None else members:
            for k in range(indptr[i], indptr[i + 1]):
                feature = entry_column(indices, k, indptr[i])
                value = total[feature]
                # each feature counts once: zero after its first visit
                total[feature] = 0.0
                squares += value * value
                products += value * x_mean[feature]
        size = max(len(members), 1)
        pp[label] = squares / size / size
        xp[label] = products / size
