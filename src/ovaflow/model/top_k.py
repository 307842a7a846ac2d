"""The k best labels of each instance under a sparse one-vs-all model, exactly.

The score of label j is <w_j, x>, summed in float32 by ascending features
whatever the way by which the best are found: the same for any number of
threads, for any instances scored together, and for chosen labels. The sum is
over rounded weights where these are stored, and multiplied by their step. Ties
go to the smaller id.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.model.index import build_index, build_panel, error_bound, open_index, upper_bounds
from ovaflow.sparse.csr import CSR, clear_scattered, scatter
from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.weight_rows import BLOCK_BITS, label_step, make_segments, round_weights

NO_LABEL = -1
"""Fills the places of labels where fewer have a score than were asked for; its score is -inf."""

INSTANCES_PER_BLOCK = 512
"""Instances that a thread takes at a time."""

_RUN = 64
"""Labels that are skipped together."""

LONG_LABEL_RATIO = 32
"""A label of this many weights for each feature of an instance is searched for the features; a
shorter one is read.
"""

LONGEST_LIST = 1024
"""Up to this k, best labels are kept in order while labels are scored; beyond it, all scores are
sorted.
"""

FEW_ALLOWED_SHARE = 0.005
"""Share of allowed labels up to which to score each takes no longer than an index. Measured with
4,000 and 35,000.
"""

SCANS_BEFORE_INDEX = 16
"""Instances that are scored without an index before one is built, which takes as long as 20 to 30
of them.
"""


class LazyIndex:
    """The index of a model: the one next to its file, or one that is built once it pays."""

    def __init__(self, model) -> None:
        self._model = model
        self._panels = open_index(model)
        self._asked = 0

    def build(self) -> None:
        if self._panels is None:
            self._panels = list(build_index(self._model.weights, self._model.trained))

    def top_k(self, X, k, threads=1, quiet=True, allowed=None):
        """Best k labels, as :meth:`Model.top_k` has them."""
        weights = self._model.weights
        trained = self._model.trained
        if k <= LONGEST_LIST and self._scans(X.n_rows, allowed):
            return score_every_label(weights, select_labels(trained, allowed), X, k, threads)
        return predict_top_k(weights, trained, X, k, threads, quiet, self._panels, allowed)

    def _scans(self, n, allowed):
        """Whether to score every label of n further instances takes less time than an index does."""
        if allowed is not None and np.count_nonzero(
            self._model.trained & allowed
        ) <= FEW_ALLOWED_SHARE * len(allowed):
            return True
        asked_before = self._asked
        self._asked = self._asked + n
        if self._panels is None and self._asked > SCANS_BEFORE_INDEX and asked_before:
            # whoever asks for all at once needs no panel twice
            self.build()
        return self._panels is None and self._asked <= SCANS_BEFORE_INDEX


def select_labels(trained, allowed):
    """Labels that can be predicted, of those that are allowed: bool (l,)."""
    return trained if allowed is None else trained & allowed


def keep_first_allowed(ids, scores, allowed, k):
    """Keep the first k allowed ones of the best labels (n, m); -1 and -inf where there are fewer."""
    kept = (ids != NO_LABEL) & allowed[ids]
    found = np.where(kept, ids, NO_LABEL), np.where(kept, scores, np.float32(-np.inf))
    ids, scores = map(np.hstack, zip(found, make_empty_ranking(len(ids), k), strict=True))
    order = np.argsort(ids == NO_LABEL, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)


def restrict_panels(panels, allowed):
    """Panels that find only the labels that are allowed."""
    for panel in panels:
        if allowed is not None:
            end = panel.first + len(panel.trained)
            panel = panel._replace(trained=panel.trained & allowed[panel.first : end])
        yield panel


def make_empty_ranking(*shape):
    """Lists of best labels without any: ids int32 and scores float32."""
    return np.full(shape, NO_LABEL, np.int32), np.full(shape, -np.inf, np.float32)


def predict_top_k(weights, trained, X, k, threads=1, quiet=False, panels=None, allowed=None):
    """Best k labels, as :meth:`Model.top_k` has them; without ``panels`` of an index they are built
    in turn.
    """
    if k > LONGEST_LIST:
        return sort_every_score(weights, select_labels(trained, allowed), X, k)
    panels = restrict_panels(panels or build_index(weights, trained), allowed)
    with Progress("predicting", X.n_rows * weights.n_rows, "scores", quiet=quiet) as progress:
        return search_index(panels, weights, X, k, threads, progress.advance)


def search_index(panels, weights, X, k, threads=1, tell=lambda n_scores: None):
    """Find them by panels of the whole model; ``tell`` is called with numbers of scores that are
    done.
    """
    ids, scores = make_empty_ranking(X.n_rows, k)

    def search(panel, rows):
        _search(
            *X.arrays,
            *rows,
            panel,
            make_segments(weights),
            *_scratch.take(len(panel.base), X.n_columns),
            ids,
            scores,
        )
        return (rows[1] - rows[0]) * len(panel.base)

    for panel in panels:
        for n_scores in _in_blocks(partial(search, panel), X.n_rows, threads):
            tell(n_scores)
    return ids, scores


def search_rounded(panels, X, k, threads=1):
    """Find them by the sums of rounded weights alone, which are the scores."""
    ids, scores = make_empty_ranking(X.n_rows, k)

    def search(panel, rows) -> None:
        _search_rounded(*X.arrays, *rows, panel, _scratch.take(len(panel.base), 0)[0], ids, scores)

    for panel in panels:
        for _ in _in_blocks(partial(search, panel), X.n_rows, threads):
            pass
    return ids, scores


def score_every_label(weights, trained, X, k, threads=1):
    """Find them without an index: every label is scored exactly."""
    ids, scores = make_empty_ranking(X.n_rows, k)

    def search(rows) -> None:
        _scan(
            *X.arrays,
            *rows,
            make_segments(weights),
            trained,
            _scratch.take(0, X.n_columns)[1],
            ids,
            scores,
        )

    for _ in _in_blocks(search, X.n_rows, threads):
        pass
    return ids, scores


def _in_blocks(search, n, threads):
    """Results of searching the best labels of all instances, which threads share."""
    size = max(1, min(INSTANCES_PER_BLOCK, -(-n // threads)))
    blocks = [(low, min(low + size, n)) for low in range(0, n, size)]
    if len(blocks) < 2 or threads == 1:
        # to start a thread takes longer than to score an instance
        yield from map(search, blocks)
    else:
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(search, blocks)


class _Scratch(threading.local):
    """Arrays that a thread uses again: fresh ones cost more in page faults than they take to fill."""

    scores = np.zeros(0, np.float32)
    zeros = np.zeros(0, np.float32)

    def take(self, n_labels, n_features):
        if len(self.scores) < n_labels:
            self.scores = np.empty(n_labels, np.float32)
        if len(self.zeros) < n_features:
            self.zeros = np.zeros(n_features, np.float32)
        return self.scores[:n_labels], self.zeros[:n_features]


_scratch = _Scratch()


def sort_every_score(weights, trained, X, k):
    """Find them by scoring all labels and sorting."""
    ids, scores = make_empty_ranking(X.n_rows, k)
    labels = np.flatnonzero(trained).astype(np.int32)
    best = slice(min(k, len(labels)))
    for i in range(X.n_rows):
        every = score_labels(weights, X.part(i, i + 1), labels)[0]
        order = np.argsort(-every, kind="stable")[best]
        ids[i, best] = labels[order]
        scores[i, best] = every[order]
    return ids, scores


def score_labels(weights, X, labels):
    """Scores of chosen labels, float32 (n, m), to the bit those of the best."""
    out = np.zeros((X.n_rows, len(labels)), np.float32)
    _score_labels(
        *X.arrays, make_segments(weights), labels, np.zeros(weights.n_columns, np.float32), out
    )
    return out


def score_labels_of_each(weights, X, ids, threads=1):
    """Scores of labels (n, k), other ones for each instance: float32 (n, k), to the bit those of
    the best.
    """
    out = np.empty(ids.shape, np.float32)

    def score(rows) -> None:
        _score_each(*X.arrays, *rows, make_segments(weights), ids, out)

    for _ in _in_blocks(score, X.n_rows, threads):
        pass
    return out


def load_kernels(weights) -> None:
    """Load or compile the kernels for such weights, so that what is timed later is scoring alone."""
    x = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), 1)
    trained = np.ones(1, bool)
    one = x if weights.data.dtype == np.float32 else round_weights(x)
    search_index([build_panel(one, trained, 0, 1)], one, x, 1)
    score_every_label(one, trained, x, 1)


@strict_kernel
def insert_label(score, label, ids, best) -> None:
    """Put a label in its place: by falling score, ties by the smaller id; the last falls out."""
    place = len(best) - 1
    while place > 0 and (
        best[place - 1] < score or (best[place - 1] == score and ids[place - 1] > label)
    ):
        best[place] = best[place - 1]
        ids[place] = ids[place - 1]
        place -= 1
    best[place] = score
    ids[place] = label


@strict_kernel
def _search(data, indices, indptr, low, high, panel, weights, bounds, spread, ids, best) -> None:
    """Insert a panel's best labels into the lists of instances low..high, which may hold smaller
    labels already.
    """
    near = np.empty(ids.shape[1], np.float32)
    near_ids = np.empty(ids.shape[1], np.int32)
    for i in range(low, high):
        error = error_bound(data, indices, indptr[i], indptr[i + 1], panel)
        upper_bounds(data, indices, indptr[i], indptr[i + 1], panel, bounds)
        row = _row(data, indices, indptr, i, spread)
        if best[i, -1] == -np.inf:
            near[:] = -np.inf
            _keep_near(bounds, 0, near, near_ids)
            for place in range(len(near)):
                j = near_ids[place]
                if near[place] > -np.inf:
                    bounds[j] = -np.inf
                    _score_and_insert(panel.first + j, weights, row, ids[i], best[i])
        _keep_exact(bounds, error, panel.first, weights, row, ids[i], best[i])
        clear_scattered(row[1], spread)


@strict_kernel
def _search_rounded(data, indices, indptr, low, high, panel, sums, ids, best) -> None:
    """As :func:`_search`, by the rounded weights alone."""
    for i in range(low, high):
        upper_bounds(data, indices, indptr[i], indptr[i + 1], panel, sums)
        _keep_near(sums, panel.first, best[i], ids[i])


@strict_kernel
def _keep_near(scores, first, near, ids) -> None:
    """The best scores of labels from ``first`` on, best first; a whole run is skipped when none is
    among them.
    """
    for start in range(0, len(scores), _RUN):
        end = min(start + _RUN, len(scores))
        above = False
        # without a sign, places need no check, and the loop becomes vector code
        for j in range(np.uint64(start), np.uint64(end)):
            above |= scores[j] > near[-1]
        if above:
            for j in range(start, end):
                if scores[j] > near[-1]:
                    insert_label(scores[j], first + j, ids, near)


@strict_kernel
def _keep_exact(bounds, error, first, weights, row, ids, best) -> None:
    """Score exactly what may be among the best: what is -inf is not, what is nan, by overflow, may
    be.
    """
    for start in range(0, len(bounds), _RUN):
        end = min(start + _RUN, len(bounds))
        floor = np.float32(best[-1] - error)
        above = False
        for j in range(np.uint64(start), np.uint64(end)):
            above |= not bounds[j] < floor
        if above:
            for j in range(start, end):
                if bounds[j] != -np.inf and not bounds[j] + error < best[-1]:
                    _score_and_insert(first + j, weights, row, ids, best)


@strict_kernel
def _scan(data, indices, indptr, low, high, weights, trained, spread, ids, best) -> None:
    for i in range(low, high):
        row = _row(data, indices, indptr, i, spread)
        for label in range(len(trained)):
            if trained[label]:
                _score_and_insert(label, weights, row, ids[i], best[i])
        clear_scattered(row[1], spread)


@strict_kernel
def _row(data, indices, indptr, i, spread):
    """An instance: its values, their features, and the same spread out."""
    values = data[indptr[i] : indptr[i + 1]]
    features = indices[indptr[i] : indptr[i + 1]]
    scatter(features, values, spread)
    return values, features, spread


@strict_kernel
def _score_and_insert(label, weights, row, ids, best) -> None:
    """Score a label exactly, and insert it if it is among the best."""
    _, _, indptr, _, blocks = weights
    values, features, spread = row
    if indptr[(label + 1) * blocks] - indptr[label * blocks] < LONG_LABEL_RATIO * len(features):
        score = _sum(weights, label, spread)
    else:
        score = _dot(weights, label, values, features)
    if score > best[-1] or (score == best[-1] and label < ids[-1]):
        insert_label(score, label, ids, best)


@strict_kernel
def _score_labels(data, indices, indptr, weights, labels, spread, out) -> None:
    """Each label's weights are spread out once for all instances."""
    for c in range(len(labels)):
        _spread_out(weights, labels[c], np.float32(1), spread)
        for i in range(len(out)):
            out[i, c] = _sum((data, indices, indptr, None, 1), i, spread) * label_step(
                weights[3], labels[c]
            )
        _spread_out(weights, labels[c], np.float32(0), spread)


@strict_kernel
def _spread_out(weights, label, factor, spread) -> None:
    """v_f = factor * q_f for every weight of a label."""
    data, indices, indptr, _, blocks = weights
    for block in range(blocks):
        segment = label * blocks + block
        part = spread[block << BLOCK_BITS :]
        for k in range(indptr[segment], indptr[segment + 1]):
            part[np.uint32(indices[k])] = factor * np.float32(data[k])


@strict_kernel
def _score_each(data, indices, indptr, low, high, weights, ids, out) -> None:
    """out_ic = <w_j, x_i> for the label j that stands at (i, c)."""
    for i in range(low, high):
        values = data[indptr[i] : indptr[i + 1]]
        features = indices[indptr[i] : indptr[i + 1]]
        for c in range(ids.shape[1]):
            out[i, c] = _dot(weights, ids[i, c], values, features)


@strict_kernel
def _sum(weights, label, spread):
    """Like :func:`_dot`, bit by bit: zeros add nothing."""
    data, indices, indptr, steps, blocks = weights
    total = np.float32(0)
    for block in range(blocks):
        segment = label * blocks + block
        part = spread[block << BLOCK_BITS :]
        for k in range(np.uint64(indptr[segment]), np.uint64(indptr[segment + 1])):
            total += np.float32(data[k]) * part[np.uint32(indices[k])]
    return total * label_step(steps, label)


@strict_kernel
def _dot(weights, label, values, features):
    """<w_j, x> over the features of x, ascending; each is searched for in what is left of w, by
    doubled steps.
    """
    data, indices, indptr, steps, blocks = weights
    total = np.float32(0)
    one = np.uint64(1)
    block = -1
    low = last = np.uint64(0)
    for k in range(np.uint64(len(values))):
        here = min(features[k] >> BLOCK_BITS, blocks - 1)
        if here != block:
            block = here
            segment = label * blocks + here
            low = np.uint64(indptr[segment])
            last = np.uint64(indptr[segment + 1])
        feature = np.uint32(features[k] - (block << BLOCK_BITS))
        step = one
        while low + step < last and np.uint32(indices[low + step]) <= feature:
            low += step
            step += step
        left = min(step, last - low)
        while left > one:
            half = left >> one
            low = low + half if np.uint32(indices[low + half]) <= feature else low
            left -= half
        if low < last and np.uint32(indices[low]) == feature:
            total += values[k] * np.float32(data[low])
    return total * label_step(steps, label)
