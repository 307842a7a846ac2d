"""The fast path of the squared hinge: many labels at a time, each solved on a working set.

A label is *admitted* with weights that rank the instances, *solved* from its
start on those ranked highest, and *checked*: the screen finds every instance
whose loss is curved under the label's weights, and those that are missing join
the working set. The label is finished when a complete check finds none, or so
small losses that the gradient stays below its target.

Why this is exact: under the squared hinge an instance with a margin of 1 or
more adds nothing to the objective, its gradient or its Hessian. After the last
check the working set holds all others, so the gradient over all n instances is
known, and the plain solver's stopping rule holds on them. Features that
no instance of the working set has can be left out, since the weight of such a
feature is zero at the optimum. The first working set, and which instances are
dropped, change only the work: the check finds what matters after all.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ovaflow.solver.objective import copy_vector, dot
from ovaflow.solver.problem import (
    OUTCOME_AT_START,
    Instances,
    LabelProblem,
    Outcome,
    Settings,
    add_round,
    allocate_separately,
)
from ovaflow.solver.screening import (
    STRIPE_INSTANCES,
    TRANSPOSED_INSTANCES,
    Screen,
    add_rare_features,
    bound_by_popular_features,
    collect_above,
    estimate_threshold,
)
from ovaflow.solver.working_set import (
    LocalProblem,
    collect_violators,
    make_local_problem,
    solve_rows,
)
from ovaflow.sparse.csr import CSR, clear_scattered, scatter
from ovaflow.sparse.jit import callee, inner_kernel, kernel, strict_callee, strict_kernel
from ovaflow.sparse.panel import PANEL_WIDTH

KEPT_MARGIN = 0.01
"""Distance below -1 up to which negatives stay after the first solution: they may come back."""

_NEGLIGIBLE_RANKING_WEIGHT = 1e-3
"""Size up to which weights are left out of a ranking, which is faster and ranks alike, except for
popular features.
"""

_HISTOGRAM_BINS = 1024
"""Bins from which thresholds of bounds and scores are estimated."""

SLOT_EMPTY = 0
SLOT_ADMITTED = 1
SLOT_SOLVED = 2
SLOT_DONE = 3
"""States of a slot of the batch."""


class FirstWeights(Protocol):
    """Source of weights, see :class:`ovaflow.initialization.start.Start`."""

    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
        """Write the weights of a label."""


class _Progress(NamedTuple):
    """Progress of a label in flight."""

    slot: int
    settings: Settings  # with the C of the label
    total: Outcome = OUTCOME_AT_START


class SolvedLabel(NamedTuple):
    """Solution of a label on a fast path; arrays are views."""

    features: np.ndarray  # unsorted
    weights: np.ndarray  # of these features
    outcome: Outcome


class BatchSolver:
    """Solver of one thread for up to :data:`~ovaflow.sparse.panel.PANEL_WIDTH` labels at a time.

    ``start`` gives the first weights of a label, and ``ranking`` those under which the instances of
    high scores make its first working set. Any weights are right, good ones save work.
    """

    def __init__(
        self,
        X: CSR,
        instances: Instances,
        screen: Screen,
        settings: Settings,
        start: FirstWeights,
        ranking: FirstWeights,
    ) -> None:
        self._X = X
        self._instances = instances
        self._screen = screen
        self._settings = settings
        self._start = start
        self._ranking = ranking
        self._batch = make_batch(X.n_rows, X.n_columns, len(screen.popular_features))
        self._local = make_local_problem(X, screen.popular_features)
        self._dense = np.empty(X.n_columns, np.float32)
        self._progress: dict[int, _Progress] = {}

    @property
    def has_free_slot(self) -> bool:
        """True while another label can be admitted."""
        return len(self._progress) < PANEL_WIDTH

    def admit(self, label: int, problem: LabelProblem) -> None:
        """Take a label."""
        batch = self._batch
        positives = problem.positives
        slot = int(np.flatnonzero(batch.state == SLOT_EMPTY)[0])
        batch.state[slot] = SLOT_ADMITTED
        batch.rounds[slot] = 0
        batch.exhaustive[slot] = False
        batch.target[slot] = problem.target
        batch.positive_cost[slot] = problem.positive_cost
        batch.n_positives[slot] = len(positives)
        batch.rows[slot, : len(positives)] = positives
        self._ranking.fill(label, self._X, positives, self._dense)
        _set_weights(slot, self._dense, _NEGLIGIBLE_RANKING_WEIGHT, self._screen, batch)
        self._progress[label] = _Progress(slot, self._settings._replace(C=problem.C))

    def screen(self) -> None:
        """Find the candidates of each label in flight in one pass over all instances."""
        screen_all(self._screen, self._batch)

    def advance(self, label: int) -> SolvedLabel | None:
        """Use the candidates of one label; return its solution if it is finished."""
        batch = self._batch
        progress = self._progress[label]
        slot = progress.slot
        settings = progress.settings
        if batch.state[slot] == SLOT_ADMITTED and self._start is not self._ranking:
            positives = batch.rows[slot, : batch.n_positives[slot]]
            self._start.fill(label, self._X, positives, self._dense)
            _set_weights(slot, self._dense, 0.0, self._screen, batch)
        total = _advance(
            slot, self._X, self._instances, progress.total, batch, self._local, settings
        )
        total = total._replace(full_passes=total.full_passes + 1)
        if batch.state[slot] != SLOT_DONE:
            self._progress[label] = _Progress(slot, settings, total)
            return None
        del self._progress[label]
        batch.state[slot] = SLOT_EMPTY
        size = batch.n_support[slot]
        return SolvedLabel(batch.support[slot, :size], batch.weights[slot, :size], total)


class Batch(NamedTuple):
    """Labels in flight of one thread, one in each slot c of PANEL_WIDTH."""

    popular_weights: np.ndarray  # weights of popular features: float32, shape (F, PANEL_WIDTH)
    block: np.ndarray  # scratch: float32, shape (TRANSPOSED_INSTANCES, PANEL_WIDTH)
    # upper bounds of the scores in a stripe: float32, shape (PANEL_WIDTH, min(n, STRIPE_INSTANCES))
    bounds: np.ndarray
    rows: np.ndarray  # working set, positives first: int32, shape (PANEL_WIDTH, n + 1)
    candidates: np.ndarray  # instances found by the screen: int32, shape (PANEL_WIDTH, n + 1)
    support: np.ndarray  # features of the sparse solution: int32, shape (PANEL_WIDTH, d)
    weights: np.ndarray  # weights of these features: float32, shape (PANEL_WIDTH, d)
    # the rest has shape (PANEL_WIDTH,)
    state: np.ndarray  # SLOT_EMPTY, SLOT_ADMITTED, SLOT_SOLVED or SLOT_DONE
    rounds: np.ndarray  # solutions on the working set so far
    n_positives: np.ndarray
    n_rows: np.ndarray  # entries of rows
    n_support: np.ndarray  # entries of support and weights
    n_candidates: np.ndarray  # entries of candidates
    cut: np.ndarray  # bool, true if candidates were left out
    exhaustive: np.ndarray  # bool, true if the next screen must leave out no candidate
    target: np.ndarray  # gradient norm to reach
    positive_cost: np.ndarray  # weight of the losses of positives
    histogram: np.ndarray  # scratch


def make_batch(n: int, d: int, n_popular: int) -> Batch:
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
    return Batch(
        **large,
        state=np.zeros(PANEL_WIDTH, np.int64),
        rounds=np.zeros(PANEL_WIDTH, np.int64),
        n_positives=np.zeros(PANEL_WIDTH, np.int64),
        n_rows=np.zeros(PANEL_WIDTH, np.int64),
        n_support=np.zeros(PANEL_WIDTH, np.int64),
        n_candidates=np.zeros(PANEL_WIDTH, np.int64),
        cut=np.zeros(PANEL_WIDTH, bool),
        exhaustive=np.zeros(PANEL_WIDTH, bool),
        target=np.zeros(PANEL_WIDTH),
        positive_cost=np.zeros(PANEL_WIDTH),
        histogram=np.zeros(_HISTOGRAM_BINS, np.int64),
    )


@strict_kernel
def count_first_rows(n: int, n_positives: int) -> float:
    """Count the negatives of the first working set: sqrt(n) (1 + sqrt(|P|)).

    These are a few times as many as are active at the optimum.
    """
    return np.sqrt(n) * (1 + np.sqrt(n_positives))


@strict_kernel
def _set_weights(
    c: int, dense: np.ndarray, negligible: float, screen: Screen, batch: Batch
) -> None:
    """Set the weights of a slot: those of popular features, and others above a negligible size."""
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
def screen_all(screen: Screen, batch: Batch) -> None:
    """Collect the candidates of each label: instances whose score may exceed -1.

    Before the first solution these are the instances of the highest bounds.
    """
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
                _collect_candidates(c, n, stripe, first, last, screen, batch)


@callee
def _collect_candidates(
    c: int, n: int, stripe: int, first: int, last: int, screen: Screen, batch: Batch
) -> None:
    """Collect candidates of one label among the instances first to last of a stripe.

    For an admitted label these are its share of the first working set, later all that may violate.
    Where too many may, the bias of a poor working set has risen; the highest bounds are then enough
    to bring it back, and the label is not finished.
    """
    bounds = batch.bounds[c]
    candidates = batch.candidates[c]
    before = batch.n_candidates[c]
    support = batch.support[c, : batch.n_support[c]]
    add_rare_features(screen, support, batch.weights[c], stripe, bounds)
    count = last - first
    if batch.state[c] == SLOT_ADMITTED:
        limit = count_first_rows(n, batch.n_positives[c])
    else:
        after = collect_above(bounds, count, np.float32(-1.0), first, candidates, before)
        batch.n_candidates[c] = after
        limit = 2 * _limit_joining_rows(c, n, batch)
        if batch.exhaustive[c] or after - before <= limit * count / n:
            return
        batch.cut[c] = True
    threshold = estimate_threshold(bounds, count, limit * count / n, batch.histogram)
    batch.n_candidates[c] = collect_above(bounds, count, threshold, first, candidates, before)


@callee
def _limit_joining_rows(c: int, n: int, batch: Batch) -> int:
    """Compute how many instances may join a working set at a time: as many as are in it."""
    return max(np.int64(count_first_rows(n, 1)), batch.n_rows[c])


@kernel
def _advance(
    c: int,
    X: CSR,
    instances: Instances,
    total: Outcome,
    batch: Batch,
    local: LocalProblem,
    settings: Settings,
) -> Outcome:
    """Enlarge the working set by the candidates, and solve again where they change it.

    Returns the outcome of all solutions so far, of which ``total`` is that of those before.
    """
    scatter(batch.support[c, : batch.n_support[c]], batch.weights[c], local.dense)
    is_complete = False
    if batch.state[c] == SLOT_ADMITTED:
        _make_first_rows(c, batch, local)
    else:
        n_before = batch.n_rows[c]
        is_complete = _add_violators(c, X, batch, local)
        checked = _include_violators(c, n_before, X, instances, total, batch, local, settings)
        is_close = batch.n_rows[c] == n_before or checked.gradient_norm <= batch.target[c]
        if is_complete and is_close:
            clear_scattered(batch.support[c, : batch.n_support[c]], local.dense)
            batch.state[c] = SLOT_DONE
            return checked
    newton_before = total.newton_steps
    solved = _solve_slot(c, X, instances, batch, local, settings)
    total = add_round(total, solved, batch.rounds[c])
    if batch.rounds[c] == 0:
        _drop_far_rows(c, local.work.scores, batch)
    batch.rounds[c] += 1
    is_done = is_complete and total.newton_steps == newton_before
    batch.state[c] = SLOT_DONE if is_done else SLOT_SOLVED
    return total


@callee
def _make_first_rows(c: int, batch: Batch, local: LocalProblem) -> None:
    """Make the first working set: the positives, then the candidates that are negatives."""
    count = batch.n_positives[c]
    for r in range(count):
        local.member[batch.rows[c, r]] = True
    for e in range(batch.n_candidates[c]):
        i = batch.candidates[c, e]
        batch.rows[c, count] = i
        if not local.member[i]:
            count += 1
    for r in range(batch.n_positives[c]):
        local.member[batch.rows[c, r]] = False
    batch.n_rows[c] = count


@inner_kernel
def _add_violators(c: int, X: CSR, batch: Batch, local: LocalProblem) -> bool:
    """Append missing instances with <w, x_i> > -1; returns true if these are all.

    A working set without enough negatives lets the bias rise until half of all instances violate.
    Then only as many join as it has already, the highest first, which is enough to bring the bias
    back.
    """
    n_rows = batch.n_rows[c]
    candidates = batch.candidates[c, : batch.n_candidates[c]]
    scores = local.work.scores
    new_rows = batch.rows[c, n_rows:]
    count = collect_violators(X, candidates, batch.rows[c, :n_rows], local, new_rows, scores)
    limit = _limit_joining_rows(c, len(X.indptr) - 1, batch)
    is_complete = count <= limit and not batch.cut[c]
    if count <= limit:
        # so few of the highest bounds violate that the bias is right again: leave out no candidate
        # from here on
        batch.exhaustive[c] = True
    else:
        count = _keep_highest(new_rows, scores, count, limit, batch.histogram)
    batch.n_rows[c] = n_rows + count
    return is_complete


@inner_kernel
def _include_violators(
    c: int,
    n_before: int,
    X: CSR,
    instances: Instances,
    total: Outcome,
    batch: Batch,
    local: LocalProblem,
    settings: Settings,
) -> Outcome:
    """Compute the outcome with the losses of violators, which are the rows from ``n_before`` on.

    Its gradient norm is the bound |g| + C sum_i v_i |phi'(m_i)| |x_i|, with |g| that without them.
    """
    objective = total.objective
    gradient_norm = total.gradient_norm
    for r in range(n_before, batch.n_rows[c]):
        i = batch.rows[c, r]
        slack = 1.0 + local.work.scores[r - n_before]
        cost = settings.C * instances.weights[i]
        row = X.data[X.indptr[i] : X.indptr[i + 1]]
        objective += cost * slack * slack
        gradient_norm += 2.0 * cost * slack * np.sqrt(dot(row, row))
    return Outcome(
        newton_steps=total.newton_steps,
        cg_steps=total.cg_steps,
        line_search_halvings=total.line_search_halvings,
        active_start=total.active_start,
        active_end=total.active_end + batch.n_rows[c] - n_before,
        objective=objective,
        gradient_norm=gradient_norm,
        gradient_target=total.gradient_target,
        status=total.status,
        full_passes=total.full_passes,
    )


@strict_callee
def _drop_far_rows(c: int, scores: np.ndarray, batch: Batch) -> None:
    """Drop negatives with <w, x_i> < -1 - margin; the check finds those that matter after all.

    ``scores`` are those of the rows.
    """
    count = batch.n_positives[c]
    for r in range(count, batch.n_rows[c]):
        batch.rows[c, count] = batch.rows[c, r]
        count += scores[r] > -1.0 - KEPT_MARGIN
    batch.n_rows[c] = count


@strict_callee
def _keep_highest(
    rows: np.ndarray, scores: np.ndarray, count: int, limit: int, histogram: np.ndarray
) -> int:
    """Keep about ``limit`` of the rows, those of the highest scores, and return their number."""
    threshold = estimate_threshold(scores, count, np.float64(limit), histogram)
    kept = 0
    for r in range(count):
        rows[kept] = rows[r]
        if scores[r] > threshold:
            kept += 1
    return kept


@inner_kernel
def _solve_slot(
    c: int,
    X: CSR,
    instances: Instances,
    batch: Batch,
    local: LocalProblem,
    settings: Settings,
) -> Outcome:
    """Minimize on the working set from ``local.dense``, which is cleared, and keep the weights."""
    rows = batch.rows[c, : batch.n_rows[c]]
    cost = batch.positive_cost[c]
    target = batch.target[c]
    n_positives = batch.n_positives[c]
    n_features, solved = solve_rows(X, instances, rows, n_positives, cost, target, local, settings)
    clear_scattered(batch.support[c, : batch.n_support[c]], local.dense)
    batch.n_support[c] = n_features
    copy_vector(local.features[:n_features], batch.support[c])
    copy_vector(local.work.weights[:n_features], batch.weights[c])
    for p in range(len(local.watched)):
        number = local.watched_numbers[p]
        batch.popular_weights[p, c] = batch.weights[c, number] if number >= 0 else np.float32(0.0)
    return solved
