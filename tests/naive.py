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


def top_k(X, W, trained, k):
    """Ids and scores of the k best trained labels per row of dense X: falling score, then smaller id."""
    ids, scores = np.full((len(X), k), -1), np.full((len(X), k), -np.inf)
    for i, x in enumerate(X):
        ranked = sorted((-float(W[j] @ x), j) for j in range(len(W)) if trained[j])[:k]
        for place, (negated, j) in enumerate(ranked):
            ids[i, place], scores[i, place] = j, -negated
    return ids, scores
