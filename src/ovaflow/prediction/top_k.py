"""The k best labels of each instance under a sparse one-vs-all model, exactly.

The score of label j is <w_j, x>, summed in float32 by ascending features
whatever the way by which the best are found: the same for any number of
threads, for any instances scored together, and for chosen labels. Ties go to
the smaller id.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.prediction.index import PANEL, build_panel, error_bound, panel_ranges, rounded_scores
from ovaflow.sparse.best import NO_LABEL, insert_label
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

BLOCK = 512
"""Instances that a thread takes at a time."""

_RUN = 64
"""Labels that are skipped together."""

FEW_INSTANCES = 4
"""Below, features are searched for in the weights of chosen labels; else weights are spread out."""

LONGEST_LIST = 1024
"""Up to this k, best labels are kept in order while labels are scored; beyond it, all scores are sorted."""


def predict_top_k(weights, trained, X, k, threads=1, panel=PANEL, quiet=False):
    """Best k labels, ids int32 and scores float32 (n, k), -1 and -inf where fewer are trained, panel by panel."""
    check_features(weights, X)
    if k > LONGEST_LIST:
        return sort_all(weights, trained, X, k)
    ids, scores = no_labels(X.n_rows, k)
    ranges, blocks = panel_ranges(weights.n_rows, panel), _blocks(X.n_rows)
    progress = Progress("predicting", X.n_rows * weights.n_rows, "scores", quiet=quiet)
    with progress, ThreadPoolExecutor(threads) as pool:

        def search(part, rows):
            search_panel(part, weights, X, *rows, ids, scores)
            return rows[1] - rows[0]

        upcoming = [pool.submit(build_panel, weights, trained, *labels) for labels in ranges[:1]]
        for labels in [*ranges[1:], None]:
            part = upcoming.pop().result() if upcoming else None
            if labels:
                upcoming.append(pool.submit(build_panel, weights, trained, *labels))
            if part:
                for n_scored in pool.map(search, [part] * len(blocks), blocks):
                    progress.advance(n_scored * len(part.base))
    return ids, scores


def search_index(panels, weights, X, k, threads=1):
    """The same by an index of the whole model; panels are shared out where there are fewer instances than threads."""
    ids, scores = no_labels(X.n_rows, k)
    if threads == 1 or (X.n_rows < threads and len(panels) == 1):
        for panel in panels:
            search_panel(panel, weights, X, 0, X.n_rows, ids, scores)
        return ids, scores
    if X.n_rows >= threads:

        def search_all(rows):
            for panel in panels:
                search_panel(panel, weights, X, *rows, ids, scores)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(search_all, _blocks(X.n_rows, min(BLOCK, -(-X.n_rows // threads)))))
        return ids, scores

    def search_one(panel):
        found = no_labels(X.n_rows, k)
        search_panel(panel, weights, X, 0, X.n_rows, *found)
        return found

    return _joined(search_one, panels, threads, ids, scores)


def scan(weights, trained, X, k, threads=1):
    """The same without an index, every label scored exactly."""

    def scan_labels(labels):
        found = no_labels(X.n_rows, k)
        _scan(*X.arrays, *weights.arrays, *labels, trained, *found)
        return found

    ranges = panel_ranges(weights.n_rows, max(-(-weights.n_rows // threads), 1))
    return _joined(scan_labels, ranges, threads, *no_labels(X.n_rows, k))


def sort_all(weights, trained, X, k):
    """The same by scoring all labels and sorting."""
    ids, scores = no_labels(X.n_rows, k)
    labels = np.flatnonzero(trained).astype(np.int32)
    best = min(k, len(labels))
    for i in range(X.n_rows):
        row = CSR(X.data, X.indices, X.indptr[i : i + 2], X.n_columns)
        every = scores_of(weights, row, labels)[0]
        order = np.argsort(-every, kind="stable")[:best]
        ids[i, :best], scores[i, :best] = labels[order], every[order]
    return ids, scores


def scores_of(weights, X, labels):
    """Scores of chosen labels, float32 (n, m), to the bit those of the best."""
    check_features(weights, X)
    out = np.zeros((X.n_rows, len(labels)), np.float32)
    if X.n_rows < FEW_INSTANCES:
        _score_labels(*X.arrays, *weights.arrays, labels, out)
    else:
        _score_spread_labels(*X.arrays, *weights.arrays, labels, np.zeros(weights.n_columns, np.float32), out)
    return out


def check_features(weights, X):
    if X.n_columns != weights.n_columns:
        raise ValueError(f"instances have {X.n_columns} features, the model has {weights.n_columns}")


def no_labels(n, k):
    """Empty lists of best labels: ids int32 and scores float32 (n, k)."""
    return np.full((n, k), NO_LABEL, np.int32), np.full((n, k), -np.inf, np.float32)


def load_kernels():
    """Load or compile the kernels, so that what is timed later is scoring alone."""
    weights, trained = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), 1), np.ones(1, bool)
    search_index([build_panel(weights, trained, 0, 1)], weights, weights, 1)
    scan(weights, trained, weights, 1)


def search_panel(panel, weights, X, low, high, ids, scores):
    """Insert a panel's best labels into the lists of instances low..high, which may hold smaller labels already."""
    _search(*X.arrays, low, high, panel, *weights.arrays, _scratch.take(len(panel.base)), ids, scores)


def _blocks(n, size=None):
    size = size or BLOCK
    return [(low, min(low + size, n)) for low in range(0, n, size)]


def _joined(search, parts, threads, ids, scores):
    """Best of the best of several ranges of labels, which ascend."""
    if threads == 1 or len(parts) < 2:
        found = [search(part) for part in parts]
    else:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(search, parts))
    for part in found:
        _join(*part, ids, scores)
    return ids, scores


class _Scratch(threading.local):
    """An array that a thread uses again: a fresh one costs more in page faults than it takes to fill."""

    def __init__(self):
        self._scores = np.zeros(0, np.float32)

    def take(self, size):
        if len(self._scores) < size:
            self._scores = np.empty(size, np.float32)
        return self._scores[:size]


_scratch = _Scratch()


@strict_kernel
def _search(data, indices, indptr, low, high, panel, w_data, w_indices, w_indptr, rounded, ids, best):
    near, near_ids = np.empty(ids.shape[1], np.float32), np.empty(ids.shape[1], np.int32)
    for i in range(low, high):
        start, end = indptr[i], indptr[i + 1]
        error = error_bound(data, indices, start, end, panel)
        rounded_scores(data, indices, start, end, panel, rounded)
        near[:] = -np.inf
        _keep_near(rounded, near, near_ids)
        # k labels of this panel have exact scores of near[-1] - error or more
        floor = np.float32(max(near[-1] - 2 * error, best[i, -1] - error))
        _keep_exact(
            rounded, floor, error, panel, w_data, w_indices, w_indptr, data, indices, start, end, ids[i], best[i]
        )


@strict_kernel
def _keep_near(scores, near, ids):
    """The best rounded scores, best first; a whole run of labels is skipped when none is among them."""
    for start in range(0, len(scores), _RUN):
        end = min(start + _RUN, len(scores))
        above = False
        for j in range(start, end):
            above |= scores[j] > near[-1]
        if above:
            for j in range(start, end):
                if scores[j] > near[-1]:
                    insert_label(scores[j], j, ids, near)


@strict_kernel
def _keep_exact(rounded, floor, error, panel, w_data, w_indices, w_indptr, data, indices, start, end, ids, best):
    """Score exactly what is not below the floor; so is everything where the floor is nan, by overflow."""
    for low in range(0, len(rounded), _RUN):
        high = min(low + _RUN, len(rounded))
        above = False
        for j in range(low, high):
            above |= not rounded[j] < floor
        if above:
            for j in range(low, high):
                if panel.trained[j] and not (rounded[j] < floor or rounded[j] + error <= best[-1]):
                    label = panel.first + j
                    score = _dot(w_data, w_indices, w_indptr[label], w_indptr[label + 1], data, indices, start, end)
                    if score > best[-1]:
                        insert_label(score, label, ids, best)


@strict_kernel
def _scan(data, indices, indptr, w_data, w_indices, w_indptr, first, last, trained, ids, best):
    for i in range(len(ids)):
        start, end = indptr[i], indptr[i + 1]
        for label in range(first, last):
            if trained[label]:
                score = _dot(w_data, w_indices, w_indptr[label], w_indptr[label + 1], data, indices, start, end)
                if score > best[i, -1]:
                    insert_label(score, label, ids[i], best[i])


@strict_kernel
def _score_labels(data, indices, indptr, w_data, w_indices, w_indptr, labels, out):
    for i in range(len(out)):
        start, end = indptr[i], indptr[i + 1]
        for c in range(len(labels)):
            label = labels[c]
            out[i, c] = _dot(w_data, w_indices, w_indptr[label], w_indptr[label + 1], data, indices, start, end)


@strict_kernel
def _score_spread_labels(data, indices, indptr, w_data, w_indices, w_indptr, labels, spread, out):
    """As above, bit by bit: each label's weights are spread out once for all instances, and zeros add nothing."""
    for c in range(len(labels)):
        start, end = w_indptr[labels[c]], w_indptr[labels[c] + 1]
        for j in range(start, end):
            spread[np.uint32(w_indices[j])] = w_data[j]
        for i in range(len(out)):
            total = np.float32(0)
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                total += data[k] * spread[np.uint32(indices[k])]
            out[i, c] = total
        for j in range(start, end):
            spread[np.uint32(w_indices[j])] = 0


@strict_kernel
def _join(part_ids, part_best, ids, best):
    """Labels of a part are larger than those that stand there already."""
    for i in range(len(ids)):
        for place in range(ids.shape[1]):
            if part_best[i, place] > best[i, -1]:
                insert_label(part_best[i, place], part_ids[i, place], ids[i], best[i])


@strict_kernel
def _dot(w_data, w_indices, w_start, w_end, data, indices, start, end):
    """<w_j, x> over the features of x, ascending; each is searched for in what is left of w, by doubled steps."""
    total, one = np.float32(0), np.uint64(1)
    low, last = np.uint64(w_start), np.uint64(w_end)
    for k in range(np.uint64(start), np.uint64(end)):
        feature, step = np.uint32(indices[k]), one
        while low + step < last and np.uint32(w_indices[low + step]) <= feature:
            low += step
            step += step
        left = min(step, last - low)
        while left > one:
            half = left >> one
            low = low + half if np.uint32(w_indices[low + half]) <= feature else low
            left -= half
        if low < last and np.uint32(w_indices[low]) == feature:
            total += data[k] * w_data[low]
    return total
