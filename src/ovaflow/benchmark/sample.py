"""Samples of a dataset: some of its labels, instances or features."""

import numpy as np

from ovaflow.artifacts.label_tree import ROOT
from ovaflow.sparse.csr import CSR


def sample_labels(counts, n_labels, seed):
    """Labels with positives, chosen at random.

    Parameters
    ----------
    counts : ndarray of int64, shape (l,)
        Positives of each label.
    n_labels : int
    seed : int

    Returns
    -------
    ndarray of int64
        Ascending; all labels with positives where there are fewer than ``n_labels``.
    """
    candidates = np.flatnonzero(counts)
    chosen = np.random.default_rng(seed).choice(candidates, min(n_labels, len(candidates)), replace=False)
    return np.sort(chosen)


def sample_subtrees(counts, parents, n_labels, seed):
    """Labels with positives of whole subtrees of the root, chosen at random.

    Parameters
    ----------
    counts : ndarray of int64, shape (l,)
        Positives of each label.
    parents : ndarray of int32, shape (l,)
        See :class:`~ovaflow.artifacts.label_tree.LabelTree`.
    n_labels : int
        Subtrees are added until there are so many.
    seed : int

    Returns
    -------
    ndarray of int64
        Ascending.
    """
    top = np.arange(len(parents))
    while (parents[top] != ROOT).any():
        top = np.where(parents[top] == ROOT, top, parents[top])
    members = np.bincount(top[counts > 0], minlength=len(parents))
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(members))
    enough = np.searchsorted(np.cumsum(members[drawn]), n_labels) + 1
    return np.flatnonzero(np.isin(top, drawn[:enough]) & (counts > 0))


def columns_of(matrix, columns):
    """Some columns of a matrix, renumbered.

    Parameters
    ----------
    matrix : CSR, shape (n, d)
    columns : ndarray of int, shape (m,)
        Ascending.

    Returns
    -------
    CSR, shape (n, m)
    """
    number = np.full(matrix.n_columns, -1, np.int32)
    number[columns] = np.arange(len(columns), dtype=np.int32)
    renumbered = number[matrix.indices]
    kept = renumbered >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return CSR(matrix.data[kept], renumbered[kept], before[matrix.indptr].astype(np.int64), len(columns))
