"""Hits and discounted cumulative gains of ranked labels."""

import numpy as np

from ovaflow.sparse.csr import CSR


def find_hits(ids: np.ndarray, Y: CSR) -> np.ndarray:
    """Find the ranked labels that are true.

    Parameters
    ----------
    ids : int (n, K)
        Ranked labels of each instance, -1 for none.
    Y : (n, l)
        True labels.

    Returns
    -------
    bool (n, K)
    """
    rows = np.arange(Y.n_rows, dtype=np.int64)
    true = np.repeat(rows, np.diff(Y.indptr)) * Y.n_columns + Y.indices
    return np.isin(rows[:, None] * Y.n_columns + ids, true) & (ids >= 0)


def compute_discounts(k: int) -> np.ndarray:
    """Compute the discount 1 / log2(r + 1) of each of the first k ranks r."""
    return 1 / np.log2(np.arange(2, k + 2))


def compute_dcg(hits: np.ndarray, k: int) -> np.ndarray:
    """Compute the sum over hits (n, K) at ranks r <= k of 1 / log2(r + 1): float64 (n,)."""
    return hits[:, :k] @ compute_discounts(k)[: hits.shape[1]]


def compute_ideal_dcg(positives: np.ndarray, k: int) -> np.ndarray:
    """Compute the largest DCG of instances by their numbers of true labels, (n,)."""
    reached = np.concatenate([[0.0], np.cumsum(compute_discounts(k))])
    return reached[np.minimum(positives, k)]
