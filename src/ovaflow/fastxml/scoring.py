"""Prediction: the mean of the leaf distributions that an instance falls into (Algorithm 3, eq. 6)."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.fastxml.forest import Forest
from ovaflow.sparse.best import NO_LABEL, insert_label
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

BLOCK = 256
"""Instances that a thread takes at a time."""


def predict_trees(forest, X, k, threads=1, amounts=None):
    """Score instances and keep the best k labels of each.

    Sums run in float32, tree after tree: the result is the same for any number
    of threads and for any set of instances scored together.

    Parameters
    ----------
    forest : Forest
    X : CSR, shape (n, d)
    k : int
    threads : int
    amounts : sequence of int, optional
        Predict with so many of the first trees, too; ascending.

    Returns
    -------
    ids : ndarray of int32, shape (n, k), or (len(amounts), n, k)
        By falling score, ties by the smaller id; -1 where the leaves name
        fewer labels.
    scores : ndarray of float32, of the same shape
        -inf where the id is -1.

    Raises
    ------
    ValueError
        If X and the separators have different numbers of features.
    """
    if X.n_columns != forest.separators.n_columns:
        raise ValueError(f"instances have {X.n_columns} features, the model has {forest.separators.n_columns}")
    stops = np.array([forest.n_trees] if amounts is None else amounts, np.int64)
    shape = (len(stops), X.n_rows, k)
    ids, scores = np.full(shape, NO_LABEL, np.int32), np.full(shape, -np.inf, np.float32)
    blocks = [(low, min(low + BLOCK, X.n_rows)) for low in range(0, X.n_rows, BLOCK)]

    def score(rows):
        _score_rows(X, *rows, forest, stops, ids, scores)
        return rows[1] - rows[0]

    with Progress("predicting", X.n_rows, "instances") as progress, ThreadPoolExecutor(threads) as pool:
        for scored in pool.map(score, blocks):
            progress.advance(scored)
    return (ids[0], scores[0]) if amounts is None else (ids, scores)


def load_kernels():
    """Load or compile the kernel, so that what is timed later is scoring alone."""
    row = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), 1)
    tree = Forest(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32), row, row)
    predict = np.full((1, 1, 1), NO_LABEL, np.int32), np.full((1, 1, 1), -np.inf, np.float32)
    _score_rows(row, 0, 1, tree, np.array([1]), *predict)


@strict_kernel
def _score_rows(X, low, high, forest, stops, ids, scores):
    x = np.zeros(X.n_columns, np.float32)
    totals = np.zeros(forest.distributions.n_columns, np.float32)
    named = np.empty(forest.distributions.n_columns, np.int32)
    for i in range(low, high):
        for k in range(X.indptr[i], X.indptr[i + 1]):
            x[X.indices[k]] = X.data[k]
        count = tree = 0
        for s in range(len(stops)):
            while tree < stops[s]:
                count = _add_leaf(forest.distributions, _leaf_of(x, forest, tree), totals, named, count)
                tree += 1
            _keep_best(totals, named[:count], np.float32(tree), ids[s, i], scores[s, i])
        for c in range(count):
            totals[named[c]] = 0
        for k in range(X.indptr[i], X.indptr[i + 1]):
            x[X.indices[k]] = 0


@strict_kernel
def _leaf_of(x, forest, tree):
    """Node in which a dense instance ends."""
    first, node = forest.starts[tree], 0
    while forest.children[first + node]:
        score = np.float32(0)
        for k in range(forest.separators.indptr[first + node], forest.separators.indptr[first + node + 1]):
            score += forest.separators.data[k] * x[np.uint32(forest.separators.indices[k])]
        node = forest.children[first + node] + (score <= 0)
    return first + node


@strict_kernel
def _add_leaf(distributions, leaf, totals, named, count):
    """Add a leaf's scores; returns how many labels have been named so far."""
    for k in range(distributions.indptr[leaf], distributions.indptr[leaf + 1]):
        label = distributions.indices[k]
        if totals[label] == 0:
            named[count] = label
            count += 1
        totals[label] += distributions.data[k]
    return count


@strict_kernel
def _keep_best(totals, named, n_trees, ids, best):
    for label in named:
        score = totals[label] / n_trees
        if score > best[-1] or (score == best[-1] and label < ids[-1]):
            insert_label(score, label, ids, best)
