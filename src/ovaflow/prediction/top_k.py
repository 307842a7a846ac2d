"""The k best labels of each instance under a sparse one-vs-all model, exactly.

Labels are scored panel by panel, so that the scores of one instance stay in
cache and memory does not grow with the model. Within a panel the weights are
kept by feature: a feature that many labels use as a dense row, which is added
with vector instructions, the others as posting lists.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.sparse.best import NO_LABEL, insert_label
from ovaflow.sparse.csr import CSR, transpose
from ovaflow.sparse.jit import strict_kernel

PANEL = 8192
"""Labels scored at a time: 32 KiB of scores. Measured: 2,048 to 16,384 differ by 15 %."""

DENSE_SHARE = 0.25
"""A feature with weights in this share of a panel becomes a dense row. Measured: 1/8 to 0.4 differ by 10 %."""

BLOCK = 512
"""Instances that a thread takes at a time."""


class _Panel(NamedTuple):
    first: int
    base: np.ndarray  # (m,) 0, or -inf where the label has no classifier
    postings: CSR  # (d, m)
    dense_row: np.ndarray  # (d,) position in dense, or -1
    dense: np.ndarray  # (h, m)


def predict_top_k(weights, trained, X, k, threads=1, panel=PANEL, quiet=False):
    """Score instances against all labels and keep the best k of each.

    The score of label j is <w_j, x>. Sums run in float32, in an order that
    depends on the model alone: the result is the same for any number of
    threads and for any set of instances scored together.

    Parameters
    ----------
    weights : CSR, shape (l, d)
        Bias feature included.
    trained : ndarray of bool, shape (l,)
        Labels without a classifier are never predicted.
    X : CSR, shape (n, d)
    k : int
    threads : int
    panel : int
        Labels scored at a time.
    quiet : bool
        Do not tell how far it is.

    Returns
    -------
    ids : ndarray of int32, shape (n, k)
        By falling score, ties by the smaller id; -1 where fewer than k labels
        have a classifier.
    scores : ndarray of float32, shape (n, k)
        -inf where the id is -1.

    Raises
    ------
    ValueError
        If X and the weights have different numbers of features.
    """
    if X.n_columns != weights.n_columns:
        raise ValueError(f"instances have {X.n_columns} features, the model has {weights.n_columns}")
    ids, scores = _no_labels(X.n_rows, k)
    starts = range(0, weights.n_rows, panel)
    blocks = [(low, min(low + BLOCK, X.n_rows)) for low in range(0, X.n_rows, BLOCK)]
    progress = Progress("predicting", X.n_rows * weights.n_rows, "scores", quiet=quiet)
    with progress, ThreadPoolExecutor(threads) as pool:

        def score(part, rows):
            _score_block(part, X, rows, ids, scores)
            return rows[1] - rows[0]

        upcoming = pool.submit(_panel, weights, trained, 0, panel)
        for start in starts:
            part = upcoming.result()
            upcoming = pool.submit(_panel, weights, trained, start + panel, panel)
            for n_scored in pool.map(score, [part] * len(blocks), blocks):
                progress.advance(n_scored * len(part.base))
    return ids, scores


def scores_of(weights, X, labels):
    """Scores of chosen labels, bit by bit those of :func:`predict_top_k`.

    Parameters
    ----------
    weights : CSR, shape (l, d)
    X : CSR, shape (n, d)
    labels : ndarray of int32, shape (m,)

    Returns
    -------
    ndarray of float32, shape (n, m)
    """
    out = np.zeros((X.n_rows, len(labels)), np.float32)
    _score_labels(*X.arrays, *weights.arrays, labels, out, np.zeros(X.n_columns, np.float32))
    return out


def load_kernels():
    """Load or compile the kernels, so that what is timed later is scoring alone."""
    weights = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), 1)
    _score_block(_panel(weights, np.ones(1, bool), 0, 1), weights, (0, 1), *_no_labels(1, 1))


def _no_labels(n, k):
    return np.full((n, k), NO_LABEL, np.int32), np.full((n, k), -np.inf, np.float32)


def _score_block(part, X, rows, ids, scores):
    postings = part.postings.arrays
    _score(*X.arrays, *rows, *postings, part.dense_row, part.dense, part.base, part.first, ids, scores)


def _panel(weights, trained, first, size):
    last = min(first + size, weights.n_rows)
    if last <= first:
        return None
    start, end = weights.indptr[first], weights.indptr[last]
    rows = CSR(
        weights.data[start:end],
        weights.indices[start:end],
        weights.indptr[first : last + 1] - start,
        weights.n_columns,
    )
    postings = transpose(rows)
    frequent = np.flatnonzero(np.diff(postings.indptr) >= DENSE_SHARE * (last - first))
    dense_row = np.full(weights.n_columns, -1, np.int32)
    dense_row[frequent] = np.arange(len(frequent))
    dense = np.zeros((len(frequent), last - first), np.float32)
    for row, feature in zip(dense, frequent, strict=True):
        entries = slice(postings.indptr[feature], postings.indptr[feature + 1])
        row[postings.indices[entries]] = postings.data[entries]
    base = np.where(trained[first:last], np.float32(0), np.float32(-np.inf))
    return _Panel(first, base, postings, dense_row, dense)


@strict_kernel
def _score(
    data, indices, indptr, low, high, list_data, list_labels, list_indptr, dense_row, dense, base, first, ids, best
):
    panel_scores = np.empty(len(base), np.float32)
    for i in range(low, high):
        panel_scores[:] = base
        for k in range(indptr[i], indptr[i + 1]):
            feature = indices[k]
            if dense_row[feature] >= 0:
                _add_dense(dense[dense_row[feature]], data[k], panel_scores)
            else:
                _add_postings(
                    list_data, list_labels, list_indptr[feature], list_indptr[feature + 1], data[k], panel_scores
                )
        _keep_best(panel_scores, first, ids[i], best[i])


@strict_kernel
def _score_labels(data, indices, indptr, w_data, w_indices, w_indptr, labels, out, x):
    """``x`` is 0 between uses. Features ascend, as they do when posting lists are added."""
    for i in range(len(out)):
        for k in range(indptr[i], indptr[i + 1]):
            x[indices[k]] = data[k]
        for c in range(len(labels)):
            total = np.float32(0)
            for k in range(np.uint64(w_indptr[labels[c]]), np.uint64(w_indptr[labels[c] + 1])):
                total += x[np.uint32(w_indices[k])] * w_data[k]
            out[i, c] = total
        for k in range(indptr[i], indptr[i + 1]):
            x[indices[k]] = 0


@strict_kernel
def _add_dense(row, factor, out):
    for j in range(len(out)):
        out[j] += factor * row[j]


@strict_kernel
def _add_postings(data, labels, start, end, factor, out):
    for k in range(start, end):
        # unsigned: no test for indices that count from the end
        out[np.uint32(labels[k])] += factor * data[k]


@strict_kernel
def _keep_best(scores, first, ids, best):
    """Insert scores above the last of the best; a whole run of labels is skipped when none is."""
    run = 64
    for start in range(0, len(scores), run):
        end = min(start + run, len(scores))
        above = False
        for j in range(start, end):
            above |= scores[j] > best[-1]
        if above:
            for j in range(start, end):
                if scores[j] > best[-1]:
                    insert_label(scores[j], first + j, ids, best)
