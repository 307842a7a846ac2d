"""The k best labels of each instance under a sparse one-vs-all model, exactly.

The score of label j is <w_j, x>, summed in float32 by ascending features
whatever the way by which the best are found: the same for any number of
threads, for any instances scored together, and for chosen labels. The sum is
over rounded weights where these are stored, and multiplied by their step. Ties
go to the smaller id.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.model.index import (
    IndexPanel,
    build_index,
    build_panel,
    error_bound,
    open_index,
    upper_bounds,
)
from ovaflow.sparse.csr import CSR, clear_scattered, scatter
from ovaflow.sparse.jit import strict_callee, strict_kernel
from ovaflow.sparse.weight_rows import (
    BLOCK_BITS,
    Segments,
    WeightRows,
    label_step,
    make_segments,
    round_weights,
)

if TYPE_CHECKING:
    from ovaflow.model.model_file import LabelWeights

Ranking = tuple[np.ndarray, np.ndarray]
"""Ids int32 and scores float32 of best labels, both (n, k)."""

NO_LABEL = -1
"""Fills the places of labels where fewer have a score than were asked for; its score is -inf."""

INSTANCES_PER_BLOCK = 512
"""Instances that a thread takes at a time."""

_SKIPPED_LABELS = 64
"""Labels that are skipped together where none of their scores is high enough."""

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


_Result = TypeVar("_Result")


class _Rows(NamedTuple):
    """A range of instances."""

    low: int
    high: int


class LazyIndex:
    """The index of a model: the one next to its file, or one that is built once it pays."""

    def __init__(self, model: "LabelWeights") -> None:
        self._model = model
        self._panels = open_index(model)
        self._n_asked = 0

    def build(self) -> None:
        """Build the index if there is none."""
        if self._panels is None:
            self._panels = list(build_index(self._model.weights, self._model.trained))

    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        allowed: np.ndarray | None = None,
    ) -> Ranking:
        """Find the best k labels, see :meth:`ovaflow.model.model_file.Model.top_k`."""
        weights = self._model.weights
        trained = self._model.trained
        if k <= LONGEST_LIST and self._is_scan_faster(X.n_rows, allowed):
            return score_every_label(weights, select_labels(trained, allowed), X, k, threads)
        return predict_top_k(
            weights, trained, X, k, threads, quiet=quiet, panels=self._panels, allowed=allowed
        )

    def _is_scan_faster(self, n: int, allowed: np.ndarray | None) -> bool:
        """Check if scoring every label of n further instances is faster than an index."""
        if allowed is not None:
            n_allowed = np.count_nonzero(self._model.trained & allowed)
            if n_allowed <= FEW_ALLOWED_SHARE * len(allowed):
                return True
        n_asked_before = self._n_asked
        self._n_asked += n
        if self._panels is None and self._n_asked > SCANS_BEFORE_INDEX and n_asked_before:
            # a caller that asks for all instances at once needs no panel twice
            self.build()
        return self._panels is None and self._n_asked <= SCANS_BEFORE_INDEX


def select_labels(trained: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    """Select the labels that can be predicted, of those that are allowed: bool (l,)."""
    return trained if allowed is None else trained & allowed


def keep_first_allowed(ids: np.ndarray, scores: np.ndarray, allowed: np.ndarray, k: int) -> Ranking:
    """Keep the first k allowed ones of the best labels (n, m).

    Lists with fewer end with -1 and -inf.
    """
    kept = (ids != NO_LABEL) & allowed[ids]
    empty_ids, empty_scores = make_empty_ranking(len(ids), k)
    ids = np.hstack([np.where(kept, ids, NO_LABEL), empty_ids])
    scores = np.hstack([np.where(kept, scores, np.float32(-np.inf)), empty_scores])
    order = np.argsort(ids == NO_LABEL, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)


def restrict_panels(
    panels: Iterable[IndexPanel], allowed: np.ndarray | None
) -> Iterator[IndexPanel]:
    """Restrict panels to the labels that are allowed."""
    for panel in panels:
        if allowed is None:
            yield panel
        else:
            end = panel.first + len(panel.trained)
            yield panel._replace(trained=panel.trained & allowed[panel.first : end])


def make_empty_ranking(*shape: int) -> Ranking:
    """Make lists of best labels without any: ids int32 and scores float32."""
    return np.full(shape, NO_LABEL, np.int32), np.full(shape, -np.inf, np.float32)


def predict_top_k(
    weights: WeightRows | CSR,
    trained: np.ndarray,
    X: CSR,
    k: int,
    threads: int = 1,
    *,
    quiet: bool = False,
    panels: Iterable[IndexPanel] | None = None,
    allowed: np.ndarray | None = None,
) -> Ranking:
    """Find the best k labels, see :meth:`ovaflow.model.model_file.Model.top_k`.

    Without ``panels`` of an index they are built in turn.
    """
    if k > LONGEST_LIST:
        return sort_every_score(weights, select_labels(trained, allowed), X, k)
    panels = restrict_panels(panels or build_index(weights, trained), allowed)
    with Progress("predicting", X.n_rows * weights.n_rows, "scores", quiet=quiet) as progress:
        return search_index(panels, weights, X, k, threads, progress.advance)


def search_index(
    panels: Iterable[IndexPanel],
    weights: WeightRows | CSR,
    X: CSR,
    k: int,
    threads: int = 1,
    report: Callable[[int], object] | None = None,
) -> Ranking:
    """Find the best k labels by panels of all labels.

    ``report`` is called with the number of scores that were done since its last call.
    """
    ids, scores = make_empty_ranking(X.n_rows, k)
    segments = make_segments(weights)
    for panel in panels:
        n_labels = len(panel.base)

        def search(rows: _Rows, panel: IndexPanel = panel, n_labels: int = n_labels) -> int:
            bounds, spread = _scratch.take(n_labels, X.n_columns)
            _search(
                X.data,
                X.indices,
                X.indptr,
                rows.low,
                rows.high,
                panel,
                segments,
                bounds,
                spread,
                ids,
                scores,
            )
            return (rows.high - rows.low) * n_labels

        for n_scores in _search_blocks(search, X.n_rows, threads):
            if report is not None:
                report(n_scores)
    return ids, scores


def search_rounded(panels: Iterable[IndexPanel], X: CSR, k: int, threads: int = 1) -> Ranking:
    """Find the best k labels by the sums of rounded weights alone, which are the scores."""
    ids, scores = make_empty_ranking(X.n_rows, k)
    for panel in panels:

        def search(rows: _Rows, panel: IndexPanel = panel) -> None:
            sums, _ = _scratch.take(len(panel.base), 0)
            _search_rounded(
                X.data, X.indices, X.indptr, rows.low, rows.high, panel, sums, ids, scores
            )

        for _ in _search_blocks(search, X.n_rows, threads):
            pass
    return ids, scores


def score_every_label(
    weights: WeightRows | CSR, trained: np.ndarray, X: CSR, k: int, threads: int = 1
) -> Ranking:
    """Find the best k labels without an index: every label is scored exactly."""
    ids, scores = make_empty_ranking(X.n_rows, k)
    segments = make_segments(weights)

    def search(rows: _Rows) -> None:
        _, spread = _scratch.take(0, X.n_columns)
        _scan(
            X.data,
            X.indices,
            X.indptr,
            rows.low,
            rows.high,
            segments,
            trained,
            spread,
            ids,
            scores,
        )

    for _ in _search_blocks(search, X.n_rows, threads):
        pass
    return ids, scores


def _search_blocks(search: Callable[[_Rows], _Result], n: int, threads: int) -> Iterator[_Result]:
    """Search blocks of n instances, which threads share, and yield the results."""
    size = max(1, min(INSTANCES_PER_BLOCK, -(-n // threads)))
    blocks = [_Rows(low, min(low + size, n)) for low in range(0, n, size)]
    if len(blocks) < 2 or threads == 1:
        # to start a thread takes longer than to score an instance
        for block in blocks:
            yield search(block)
    else:
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(search, blocks)


class _Scratch(threading.local):
    """Arrays that a thread reuses: fresh ones cost more in page faults than they take to fill."""

    scores = np.zeros(0, np.float32)
    zeros = np.zeros(0, np.float32)

    def take(self, n_labels: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
        """Take an array of labels, with any values, and one of features, zero between uses."""
        if len(self.scores) < n_labels:
            self.scores = np.empty(n_labels, np.float32)
        if len(self.zeros) < n_features:
            self.zeros = np.zeros(n_features, np.float32)
        return self.scores[:n_labels], self.zeros[:n_features]


_scratch = _Scratch()


def sort_every_score(weights: WeightRows | CSR, trained: np.ndarray, X: CSR, k: int) -> Ranking:
    """Find the best k labels by scoring all labels and sorting."""
    ids, scores = make_empty_ranking(X.n_rows, k)
    labels = np.flatnonzero(trained).astype(np.int32)
    best = slice(min(k, len(labels)))
    for i in range(X.n_rows):
        every_score = score_labels(weights, X.part(i, i + 1), labels)[0]
        order = np.argsort(-every_score, kind="stable")[best]
        ids[i, best] = labels[order]
        scores[i, best] = every_score[order]
    return ids, scores


def score_labels(weights: WeightRows | CSR, X: CSR, labels: np.ndarray) -> np.ndarray:
    """Score chosen labels, to the bit as the best are: float32 (n, m)."""
    out = np.zeros((X.n_rows, len(labels)), np.float32)
    spread = np.zeros(weights.n_columns, np.float32)
    _score_labels(X.data, X.indices, X.indptr, make_segments(weights), labels, spread, out)
    return out


def score_labels_of_each(
    weights: WeightRows | CSR, X: CSR, ids: np.ndarray, threads: int = 1
) -> np.ndarray:
    """Score labels (n, k), other ones for each instance: float32 (n, k).

    Scores are to the bit those of the best labels.
    """
    out = np.empty(ids.shape, np.float32)
    segments = make_segments(weights)

    def score(rows: _Rows) -> None:
        _score_each(X.data, X.indices, X.indptr, rows.low, rows.high, segments, ids, out)

    for _ in _search_blocks(score, X.n_rows, threads):
        pass
    return out


def load_kernels(weights: WeightRows | CSR) -> None:
    """Load or compile the kernels for such weights, so that timings later are scoring alone."""
    x = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), 1)
    trained = np.ones(1, bool)
    one = x if weights.data.dtype == np.float32 else round_weights(x)
    search_index([build_panel(one, trained, 0, 1)], one, x, 1)
    score_every_label(one, trained, x, 1)


# Kernels. Lists ``ids`` and ``best`` of one instance have shape (k,), of all (n, k). ``spread``,
# float32 (d,), holds an instance or a label as a dense vector, and is zero between uses.


class _Row(NamedTuple):
    """An instance."""

    values: np.ndarray
    features: np.ndarray  # ascending
    spread: np.ndarray  # the values as a dense vector


@strict_callee
def insert_label(score: float, label: int, ids: np.ndarray, best: np.ndarray) -> None:
    """Insert a label into the list of best ones; the last one falls out.

    The list is ordered by falling score, ties by the smaller id.
    """
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
def _search(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    low: int,
    high: int,
    panel: IndexPanel,
    weights: Segments,
    bounds: np.ndarray,
    spread: np.ndarray,
    ids: np.ndarray,
    best: np.ndarray,
) -> None:
    """Insert a panel's best labels into the lists of instances low..high.

    The lists may hold labels of panels before. ``bounds`` (m,) is scratch.
    """
    near = np.empty(ids.shape[1], np.float32)
    near_ids = np.empty(ids.shape[1], np.int32)
    for i in range(low, high):
        error = error_bound(data, indices, indptr[i], indptr[i + 1], panel)
        upper_bounds(data, indices, indptr[i], indptr[i + 1], panel, bounds)
        row = _make_row(data, indices, indptr, i, spread)
        if best[i, -1] == -np.inf:
            # score the labels of the highest bounds first, so that most others need no exact score
            near[:] = -np.inf
            # of one type in all calls, so that it is compiled once
            _keep_best(bounds, np.int64(0), near, near_ids)
            for place in range(len(near)):
                j = near_ids[place]
                if near[place] > -np.inf:
                    bounds[j] = -np.inf
                    _score_and_insert(panel.first + j, weights, row, ids[i], best[i])
        _score_possible_labels(bounds, error, panel.first, weights, row, ids[i], best[i])
        clear_scattered(row.features, spread)


@strict_kernel
def _search_rounded(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    low: int,
    high: int,
    panel: IndexPanel,
    sums: np.ndarray,
    ids: np.ndarray,
    best: np.ndarray,
) -> None:
    """Insert a panel's best labels by the rounded weights alone; ``sums`` (m,) is scratch."""
    for i in range(low, high):
        upper_bounds(data, indices, indptr[i], indptr[i + 1], panel, sums)
        _keep_best(sums, panel.first, best[i], ids[i])


@strict_callee
def _keep_best(scores: np.ndarray, first: int, best: np.ndarray, ids: np.ndarray) -> None:
    """Insert the best scores of labels from ``first`` on into a list.

    A run of labels is skipped at once if none of them is good enough.
    """
    for start in range(0, len(scores), _SKIPPED_LABELS):
        end = min(start + _SKIPPED_LABELS, len(scores))
        above = False
        # without a sign, places need no check, and the loop becomes vector code
        for j in range(np.uint64(start), np.uint64(end)):
            above |= scores[j] > best[-1]
        if above:
            for j in range(start, end):
                if scores[j] > best[-1]:
                    insert_label(scores[j], first + j, ids, best)


@strict_callee
def _score_possible_labels(
    bounds: np.ndarray,
    error: float,
    first: int,
    weights: Segments,
    row: _Row,
    ids: np.ndarray,
    best: np.ndarray,
) -> None:
    """Score exactly the labels that may be among the best.

    A bound of -inf excludes a label; one of nan, by overflow, does not.
    """
    for start in range(0, len(bounds), _SKIPPED_LABELS):
        end = min(start + _SKIPPED_LABELS, len(bounds))
        smallest = np.float32(best[-1] - error)
        above = False
        for j in range(np.uint64(start), np.uint64(end)):
            above |= not bounds[j] < smallest
        if above:
            for j in range(start, end):
                if bounds[j] != -np.inf and not bounds[j] + error < best[-1]:
                    _score_and_insert(first + j, weights, row, ids, best)


@strict_kernel
def _scan(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    low: int,
    high: int,
    weights: Segments,
    trained: np.ndarray,
    spread: np.ndarray,
    ids: np.ndarray,
    best: np.ndarray,
) -> None:
    """Score every trained label of instances low..high."""
    for i in range(low, high):
        row = _make_row(data, indices, indptr, i, spread)
        for label in range(len(trained)):
            if trained[label]:
                _score_and_insert(label, weights, row, ids[i], best[i])
        clear_scattered(row.features, spread)


@strict_callee
def _make_row(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, i: int, spread: np.ndarray
) -> _Row:
    """Take an instance, and spread it out."""
    values = data[indptr[i] : indptr[i + 1]]
    features = indices[indptr[i] : indptr[i + 1]]
    scatter(features, values, spread)
    return _Row(values, features, spread)


@strict_callee
def _score_and_insert(
    label: int, weights: Segments, row: _Row, ids: np.ndarray, best: np.ndarray
) -> None:
    """Score a label exactly, and insert it if it is among the best."""
    first = label * weights.blocks
    n_weights = weights.indptr[first + weights.blocks] - weights.indptr[first]
    if n_weights < LONG_LABEL_RATIO * len(row.features):
        score = _dot_spread(weights, label, row.spread)
    else:
        score = _dot_searched(weights, label, row.values, row.features)
    if score > best[-1] or (score == best[-1] and label < ids[-1]):
        insert_label(score, label, ids, best)


@strict_kernel
def _score_labels(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    weights: Segments,
    labels: np.ndarray,
    spread: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill the scores of labels (m,) in out (n, m).

    Each label's weights are spread out once for all instances.
    """
    instances = Segments(data, indices, indptr, None, 1)
    for c in range(len(labels)):
        _spread_label(weights, labels[c], np.float32(1), spread)
        for i in range(len(out)):
            total = _dot_spread(instances, i, spread)
            out[i, c] = total * label_step(weights.steps, labels[c])
        _spread_label(weights, labels[c], np.float32(0), spread)


@strict_callee
def _spread_label(weights: Segments, label: int, factor: np.float32, spread: np.ndarray) -> None:
    """Set v_f = factor * q_f for every weight of a label."""
    for block in range(weights.blocks):
        segment = label * weights.blocks + block
        part = spread[block << BLOCK_BITS :]
        for k in range(weights.indptr[segment], weights.indptr[segment + 1]):
            part[np.uint32(weights.indices[k])] = factor * np.float32(weights.data[k])


@strict_kernel
def _score_each(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    low: int,
    high: int,
    weights: Segments,
    ids: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill out_ic = <w_j, x_i> for the label j at (i, c) of ids (n, k)."""
    for i in range(low, high):
        values = data[indptr[i] : indptr[i + 1]]
        features = indices[indptr[i] : indptr[i + 1]]
        for c in range(ids.shape[1]):
            out[i, c] = _dot_searched(weights, ids[i, c], values, features)


@strict_callee
def _dot_spread(weights: Segments, label: int, spread: np.ndarray) -> np.float32:
    """Compute <w_j, x> like :func:`_dot_searched`, bit by bit: zeros add nothing."""
    total = np.float32(0)
    for block in range(weights.blocks):
        segment = label * weights.blocks + block
        part = spread[block << BLOCK_BITS :]
        start = np.uint64(weights.indptr[segment])
        end = np.uint64(weights.indptr[segment + 1])
        for k in range(start, end):
            total += np.float32(weights.data[k]) * part[np.uint32(weights.indices[k])]
    return total * label_step(weights.steps, label)


@strict_callee
def _dot_searched(
    weights: Segments, label: int, values: np.ndarray, features: np.ndarray
) -> np.float32:
    """Compute <w_j, x> over the features of x, ascending.

    Each feature is searched for in what is left of w, by doubled steps, then by halved ones.
    """
    data = weights.data
    indices = weights.indices
    total = np.float32(0)
    one = np.uint64(1)
    block = -1
    low = np.uint64(0)
    last = np.uint64(0)
    for k in range(np.uint64(len(values))):
        feature_block = min(features[k] >> BLOCK_BITS, weights.blocks - 1)
        if feature_block != block:
            block = feature_block
            segment = label * weights.blocks + block
            low = np.uint64(weights.indptr[segment])
            last = np.uint64(weights.indptr[segment + 1])
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
    return total * label_step(weights.steps, label)
