"""Means of all instances and of each label's positives, for starts and stopping rules."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.sparse.csr import CSR, add_row, entry_column, omit_full_indices
from ovaflow.sparse.jit import kernel
from ovaflow.storage.artifact import Artifact

_BLOCKS_PER_THREAD = 16
"""Ranges of labels for each thread, so that all threads end at about the same time."""


@dataclass(frozen=True)
class Means(Artifact, kind="means", made_from=("dataset",)):
    """Means and their inner products, in float64; 0 for labels without positives."""

    x_mean: np.ndarray  # mean of all n documents, shape (d,)
    pp: np.ndarray  # <p_mean, p_mean> of each label, shape (l,)
    xp: np.ndarray  # <x_mean, p_mean> of each label
    counts: np.ndarray  # positives of each label, int64
    xx: float  # <x_mean, x_mean>


def compute_means(
    X: CSR, positives: CSR, threads: int = 1, n_documents: int | None = None
) -> Means:
    """Compute the means of a training set.

    That of all instances is of the first ``n_documents``, by default of all.
    """
    n = X.n_rows if n_documents is None else n_documents
    x_mean = np.zeros(X.n_columns)
    _add_rows(X.data[: X.indptr[n]], X.indices[: X.indptr[n]], x_mean)
    x_mean /= max(n, 1)
    pp = np.zeros(positives.n_rows)
    xp = np.zeros(positives.n_rows)
    rows = omit_full_indices(X)

    def fill(labels: tuple[int, int]) -> int:
        first, last = labels
        _fill_inner_products(
            rows.data,
            rows.indices,
            rows.indptr,
            positives.indices,
            positives.indptr,
            first,
            last,
            x_mean,
            pp,
            xp,
        )
        return last - first

    with (
        Progress("means", positives.n_rows, "labels") as progress,
        ThreadPoolExecutor(threads) as pool,
    ):
        blocks = _divide_labels(positives.indptr, threads * _BLOCKS_PER_THREAD)
        for n_labels in pool.map(fill, blocks):
            progress.advance(n_labels)
    # not np.dot, whose order of addition depends on the number of BLAS threads
    xx = float(np.square(x_mean).sum())
    return Means(x_mean, pp, xp, np.diff(positives.indptr).astype(np.int64), xx)


def _divide_labels(indptr: np.ndarray, n_blocks: int) -> list[tuple[int, int]]:
    """Divide labels into consecutive ranges with about equally many positives."""
    cuts = np.searchsorted(indptr, np.linspace(0, indptr[-1], n_blocks + 1))
    cuts[0] = 0
    cuts[-1] = len(indptr) - 1
    return [(int(first), int(last)) for first, last in pairwise(cuts) if first < last]


@kernel
def _add_rows(data: np.ndarray, indices: np.ndarray, out: np.ndarray) -> None:
    """Add sum_i x_i to out."""
    for k in range(len(data)):
        out[indices[k]] += data[k]


@kernel
def _fill_inner_products(
    data: np.ndarray,
    indices: np.ndarray | None,
    indptr: np.ndarray,
    instances: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    x_mean: np.ndarray,
    pp: np.ndarray,
    xp: np.ndarray,
) -> None:
    """Fill pp = <p, p> and xp = <x_mean, p> of labels first..last, p = sum_{i in P} x_i / |P|.

    The positives of a label are ``instances`` from ``starts[label]`` on; ``starts``, pp and xp are
    those of all labels.
    """
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
