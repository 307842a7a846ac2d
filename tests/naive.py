"""Slow references: each algorithm written the plainest way, for tests to compare with."""

import numpy as np


def label_tree(Y):
    """Prim's algorithm on all pairs of label columns and the all-zero root; root edges win ties.

    Parameters
    ----------
    Y : ndarray of 0 and 1, shape (n, l)

    Returns
    -------
    tuple of int
        Cost of the tree and number of children of the root.
    """
    nearest = [(int(column.sum()), False) for column in Y.T]
    waiting, cost, subtrees = set(range(Y.shape[1])), 0, 0
    while waiting:
        label = min(waiting, key=lambda j: nearest[j])
        waiting.remove(label)
        cost += nearest[label][0]
        subtrees += not nearest[label][1]
        for j in waiting:
            nearest[j] = min(nearest[j], (int(np.abs(Y[:, j] - Y[:, label]).sum()), True))
    return cost, subtrees
