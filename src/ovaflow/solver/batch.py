"""The fast path of the squared hinge: many labels in flight, each solved on a working set and
checked on all instances.

A label is *admitted* with weights that rank the instances, *solved* from its
start on those ranked highest, and *checked*: the screen finds every instance
whose loss is curved under the label's weights, and those that are missing join
the working set. The label is finished when they leave its gradient below the
target without another step.

Why this is exact: under the squared hinge an instance with a margin of 1 or
more adds nothing to the objective, its gradient or its Hessian. After the last
check the working set holds all others, so its gradient is the gradient over all
n instances, and the plain solver's stopping rule holds on them. Features that
no instance of the working set has can be left out, since the weight of such a
feature is zero at the optimum. Which instances begin, or are dropped, changes
only the work: the check finds what matters after all.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.objective import copy_vector
from ovaflow.solver.problem import OUTCOME_DTYPE, Outcome, allocate_separately
from ovaflow.solver.screening import (
    STRIPE_INSTANCES,
    TRANSPOSED_INSTANCES,
    add_rare_features,
    bound_by_popular_features,
    collect_above,
    estimate_threshold,
)
from ovaflow.solver.working_set import collect_violators, make_local_problem, solve_rows
from ovaflow.sparse.csr import clear_scattered, row_dot, scatter
from ovaflow.sparse.jit import inner_kernel, kernel, strict_kernel
from ovaflow.sparse.panel import PANEL_WIDTH

KEPT_MARGIN = 0.01
"""How far below -1 the score of a negative may lie for it to stay after the first solution."""

_NEGLIGIBLE = 1e-3
"""Size below which weights are left out of a ranking, except for popular features."""

SLOT_EMPTY = 0
SLOT_ADMITTED = 1
SLOT_SOLVED = 2
SLOT_DONE = 3
"""States of a slot of the batch."""


class BatchSolver:
    """Solves labels for one thread, up to :data:`~ovaflow.sparse.panel.WIDTH` at a time.

    ``start`` and ``ranking`` have ``fill(label, X, positives, weights)``: the first weights of a
    label, and those under which the instances of high scores make its first working set. Any
    weights are right, good ones save work.
    """

    def __init__(self, X, instances, screen, settings, start, ranking) -> None:
        self._X = X
        self._instances = instances
        self._screen = screen
        self._settings = settings
        self._start = start
        self._ranking = ranking
        self._batch = make_batch(X.n_rows, X.n_columns, len(screen.popular_features))
        self._local = make_local_problem(X, screen.popular_features)
        self._dense = np.empty(X.n_columns, np.float32)
        self._slots = {}

    @property
    def has_free_slot(self):
        """Whether another label can be admitted."""
        return len(self._slots) < PANEL_WIDTH

    def admit(self, label, positives, target, positive_cost, C) -> None:
        """Take a label: its positives, the gradient's norm to reach, the weight of its positives'
        losses, and its C.
        """
        batch = self._batch
        slot = int(np.flatnonzero(batch.state == SLOT_EMPTY)[0])
        batch.state[slot] = SLOT_ADMITTED
        batch.rounds[slot] = 0
        batch.exhaustive[slot] = False
        batch.target[slot] = target
        batch.positive_cost[slot] = positive_cost
        batch.n_positives[slot] = len(positives)
        batch.rows[slot, : len(positives)] = positives
        batch.outcome[slot] = 0
        self._ranking.fill(label, self._X, positives, self._dense)
        _set_weights(slot, self._dense, _NEGLIGIBLE, self._screen, batch)
        self._slots[label] = slot, self._settings._replace(C=C)

    def screen(self) -> None:
        """Find what each label in flight must look at next."""
        screen_all(self._screen, self._batch)

    def advance(self, label):
        """Use what the screen found for one label.

        Returns its features, weights and Outcome if it has reached its target, or else None. The
        arrays are views, features unsorted.
        """
        (slot, settings) = self._slots[label]
        batch = self._batch
        if batch.state[slot] == SLOT_ADMITTED and self._start is not self._ranking:
            positives = batch.rows[slot, : batch.n_positives[slot]]
            self._start.fill(label, self._X, positives, self._dense)
            _set_weights(slot, self._dense, 0.0, self._screen, batch)
        _advance(slot, self._X, self._instances, batch, self._local, settings)
        if batch.state[slot] != SLOT_DONE:
            return None
        del self._slots[label]
        batch.state[slot] = SLOT_EMPTY
        size = batch.n_support[slot]
        return (
            batch.support[slot, :size],
            batch.weights[slot, :size],
            Outcome(*batch.outcome[slot].item()),
        )


class Batch(NamedTuple):
    """Labels in flight of one thread, one in each slot c of WIDTH."""

    popular_weights: np.ndarray  # as the screen multiplies them: float32, shape (F, WIDTH)
    block: np.ndarray  # float32, shape (BLOCK, WIDTH)
    bounds: (
        np.ndarray
    )  # upper bounds of the scores in a stripe: float32, shape (WIDTH, min(n, STRIPE))
    rows: np.ndarray  # working set, positives first: int32, shape (WIDTH, n + 1)
    candidates: np.ndarray  # instances found by the screen: int32, shape (WIDTH, n + 1)
    support: (
        np.ndarray
    )  # features and weights of the sparse solution: int32 and float32, shape (WIDTH, d)
    weights: np.ndarray
    state: np.ndarray
    rounds: np.ndarray  # solutions on the working set so far
    n_positives: np.ndarray
    n_rows: np.ndarray
    n_support: np.ndarray
    n_candidates: np.ndarray
    cut: np.ndarray  # whether candidates were left out
    exhaustive: np.ndarray  # whether the next screen must leave out none
    target: np.ndarray
    positive_cost: np.ndarray
    outcome: np.ndarray  # dtype OUTCOME
    histogram: np.ndarray  # scratch


def make_batch(n, d, n_popular):
    """Allocate the slots of one thread, for n instances and d features."""
    large = allocate_separately(
        popular_weights=(np.float32, n_popular, PANEL_WIDTH),
        block=(np.float32, TRANSPOSED_INSTANCES, PANEL_WIDTH),
        bounds=(np.float32, PANEL_WIDTH, min(n, STRIPE_INSTANCES)),
        rows=(np.int32, PANEL_WIDTH, n + 1),
        candidates=(np.int32, PANEL_WIDTH, n + 1),
        support=(np.int32, PANEL_WIDTH, d),
        weights=(np.float32, PANEL_WIDTH, d),
    )
    large["popular_weights"][:] = 0.0
    counters = ("state", "rounds", "n_positives", "n_rows", "n_support", "n_candidates")
    return Batch(
        **large,
        **{name: np.zeros(PANEL_WIDTH, np.int64) for name in counters},
        cut=np.zeros(PANEL_WIDTH, bool),
        exhaustive=np.zeros(PANEL_WIDTH, bool),
        target=np.zeros(PANEL_WIDTH),
        positive_cost=np.zeros(PANEL_WIDTH),
        outcome=np.zeros(PANEL_WIDTH, OUTCOME_DTYPE),
        histogram=np.zeros(1024, np.int64),
    )


@strict_kernel
def count_first_rows(n, n_positives):
    """Negatives in the first working set, sqrt(n) (1 + sqrt(|P|)): a few times what is curved at
    the optimum.
    """
    return np.sqrt(n) * (1 + np.sqrt(n_positives))


@strict_kernel
def _set_weights(c, dense, negligible, screen, batch) -> None:
    """Keep the popular ones of some weights, and the others of more than a negligible size."""
    count = len(screen.popular_features)
    for p in range(count):
        batch.support[c, p] = screen.popular_features[p]
        batch.weights[c, p] = dense[screen.popular_features[p]]
        batch.popular_weights[p, c] = batch.weights[c, p]
    for f in range(len(dense)):
        if abs(dense[f]) > negligible and screen.popular_id[f] < 0:
            batch.support[c, count] = f
            batch.weights[c, count] = dense[f]
            count += 1
    batch.n_support[c] = count


@kernel
def screen_all(screen, batch) -> None:
    """Collect for each label the instances whose score may exceed -1; at first the highest bounds."""
    n = len(screen.slack)
    batch.n_candidates[:] = 0
    batch.cut[:] = False
    for stripe, first in enumerate(range(0, n, STRIPE_INSTANCES)):
        last = min(first + STRIPE_INSTANCES, n)
        bound_by_popular_features(
            screen, batch.popular_weights, first, last, batch.block, batch.bounds
        )
        for c in range(PANEL_WIDTH):
            if batch.state[c] == SLOT_ADMITTED or batch.state[c] == SLOT_SOLVED:
                _collect(c, n, stripe, first, last, screen, batch)


@kernel
def _collect(c, n, stripe, first, last, screen, batch) -> None:
    """Candidates of one label in one stripe: a first working set's worth, later all that may
    violate.

    Where too many may, the bias of a poor working set has risen; the highest
    bounds are then enough to bring it back, and the label is not finished.
    """
    bounds = batch.bounds[c]
    candidates = batch.candidates[c]
    before = batch.n_candidates[c]
    add_rare_features(
        screen, batch.support[c, : batch.n_support[c]], batch.weights[c], stripe, bounds
    )
    count = last - first
    if batch.state[c] == SLOT_ADMITTED:
        limit = count_first_rows(n, batch.n_positives[c])
    else:
        after = collect_above(bounds, count, np.float32(-1.0), first, candidates, before)
        batch.n_candidates[c] = after
        limit = 2 * _limit(c, n, batch)
        if batch.exhaustive[c] or after - before <= limit * count / n:
            return
        batch.cut[c] = True
    threshold = estimate_threshold(bounds, count, limit * count / n, batch.histogram)
    batch.n_candidates[c] = collect_above(bounds, count, threshold, first, candidates, before)


@kernel
def _limit(c, n, batch):
    """How many instances may join a working set at a time: as many as are in it."""
    return max(np.int64(count_first_rows(n, 1)), batch.n_rows[c])


@kernel
def _advance(c, X, instances, batch, local, settings) -> None:
    """Enlarge the working set by what the screen found, and solve again where that matters."""
    batch.outcome[c].full_passes += 1
    scatter(batch.support[c, : batch.n_support[c]], batch.weights[c], local.dense)
    newton_before = batch.outcome[c].newton_steps
    if batch.state[c] == SLOT_ADMITTED:
        _first_rows(c, batch, local)
        added = batch.n_rows[c]
        complete = False
    else:
        if batch.rounds[c] == 1:
            _drop_far_rows(c, X, batch, local)
        added, complete = _add_violators(c, X, batch, local)
    # called in one place, since its code, which is that of Newton's method, is compiled for each
    if added:
        _solve(c, X, instances, batch, local, settings)
    else:
        clear_scattered(batch.support[c, : batch.n_support[c]], local.dense)
    is_done = complete and batch.outcome[c].newton_steps == newton_before
    batch.state[c] = SLOT_DONE if is_done else SLOT_SOLVED


@kernel
def _first_rows(c, batch, local) -> None:
    """Positives, then the candidates that are not."""
    count = batch.n_positives[c]
    for r in range(count):
        local.member[batch.rows[c, r]] = True
    for e in range(batch.n_candidates[c]):
        i = batch.candidates[c, e]
        batch.rows[c, count] = i
        count += not local.member[i]
    for r in range(batch.n_positives[c]):
        local.member[batch.rows[c, r]] = False
    batch.n_rows[c] = count


@inner_kernel
def _add_violators(c, X, batch, local):
    """Append missing instances with <w, x_i> > -1; returns their number and whether these are all.

    A working set without enough negatives lets the bias rise until half of all
    instances violate. Then only as many join as it has already, the highest
    first, which is enough to bring the bias back.
    """
    have = batch.n_rows[c]
    candidates = batch.candidates[c, : batch.n_candidates[c]]
    scores = local.work.scores
    rows = batch.rows[c, have:]
    count = collect_violators(X, candidates, batch.rows[c, :have], local, rows, scores)
    limit = _limit(c, len(X.indptr) - 1, batch)
    complete = count <= limit and not batch.cut[c]
    # so few of the highest bounds violate that the bias is right again: leave out no candidate from
    # here on
    batch.exhaustive[c] |= count <= limit
    if count > limit:
        count = _keep_highest(rows, scores, count, limit, batch.histogram)
    batch.n_rows[c] = have + count
    return count, complete


@inner_kernel
def _drop_far_rows(c, X, batch, local) -> None:
    """Leave out negatives with <w, x_i> < -1 - margin; the check finds those that matter after all."""
    n_rows = batch.n_positives[c]
    for r in range(n_rows, batch.n_rows[c]):
        i = batch.rows[c, r]
        batch.rows[c, n_rows] = i
        score = row_dot(X.data, X.indices, X.indptr[i], X.indptr[i + 1], local.dense)
        n_rows += score > -1.0 - KEPT_MARGIN
    batch.n_rows[c] = n_rows


@strict_kernel
def _keep_highest(rows, scores, count, limit, histogram):
    """Keep about ``limit`` of the rows, those of the highest scores; returns their number."""
    threshold = estimate_threshold(scores, count, np.float64(limit), histogram)
    kept = 0
    for r in range(count):
        rows[kept] = rows[r]
        kept += scores[r] > threshold
    return kept


@inner_kernel
def _solve(c, X, instances, batch, local, settings) -> None:
    """Minimise on the working set, from ``local.dense``, which is cleared; keep the weights and
    what the steps cost.
    """
    rows = batch.rows[c, : batch.n_rows[c]]
    cost = batch.positive_cost[c]
    target = batch.target[c]
    n_positives = batch.n_positives[c]
    n_features, solved = solve_rows(X, instances, rows, n_positives, cost, target, local, settings)
    clear_scattered(batch.support[c, : batch.n_support[c]], local.dense)
    batch.n_support[c] = n_features
    copy_vector(local.features[:n_features], batch.support[c])
    copy_vector(local.work.weights[:n_features], batch.weights[c])
    outcome = batch.outcome[c]
    outcome.newton_steps += solved.newton_steps
    outcome.cg_steps += solved.cg_steps
    outcome.line_search_halvings += solved.line_search_halvings
    if batch.rounds[c] == 0:
        outcome.active_start = solved.active_start
    outcome.active_end = solved.active_end
    outcome.objective = solved.objective
    outcome.gradient_norm = solved.gradient_norm
    outcome.gradient_target = solved.gradient_target
    outcome.status = solved.status
    batch.rounds[c] += 1
    for p in range(len(local.watched)):
        number = local.watched_numbers[p]
        batch.popular_weights[p, c] = batch.weights[c, number] if number >= 0 else np.float32(0.0)
