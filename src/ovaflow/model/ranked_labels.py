"""Ranked labels beside the true ones: which of them are right, and how much of it comes first."""

import numpy as np

from ovaflow.sparse.csr import CSR


def find_hits(ids: np.ndarray, Y: CSR) -> np.ndarray:
    """Which of the ranked labels, int (n, K) and -1 for none, are among the true ones (n, l): bool
    (n, K).
    """
    rows = np.arange(Y.n_rows, dtype=np.int64)
    true = np.repeat(rows, np.diff(Y.indptr)) * Y.n_columns + Y.indices
    return np.isin(rows[:, None] * Y.n_columns + ids, true) & (ids >= 0)


def compute_discounts(k: int) -> np.ndarray:
    """What a label at each of the first k places counts: 1 / log2(r + 1)."""
    return 1 / np.log2(np.arange(2, k + 2))


def compute_dcg(hits: np.ndarray, k: int) -> np.ndarray:
    """Sum over hits (n, K) at r <= k of 1 / log2(r + 1): float64 (n,)."""
    return hits[:, :k] @ compute_discounts(k)[: hits.shape[1]]


def compute_ideal_dcg(positives: np.ndarray, k: int) -> np.ndarray:
    """The largest of instances with so many true labels, (n,)."""
    reached = np.concatenate([[0.0], np.cumsum(compute_discounts(k))])
    return reached[np.minimum(positives, k)]
