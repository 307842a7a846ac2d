"""Labels in flight: the state of each and the kernels that move it on.

Every label has a column of the batch. What its steps mean and why the result
is exact is said in :mod:`ovaflow.solver.batch`.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.problem import Outcome, separate_arrays
from ovaflow.solver.screening import (
    BLOCK,
    STRIPE,
    add_rare,
    bound_by_popular,
    collect_above,
    threshold_for,
)
from ovaflow.solver.working_set import clear, scatter, solve_rows, violators
from ovaflow.sparse.csr import row_dot
from ovaflow.sparse.jit import kernel, strict_kernel
from ovaflow.sparse.panel import WIDTH

KEPT_MARGIN = 0.01
"""How far below -1 the score of a negative may lie for it to stay after the first solution."""

EMPTY, ADMITTED, SOLVED, DONE = 0, 1, 2, 3
"""States of a column."""


@strict_kernel
def first_rows(n, n_positives):
    """Negatives in the first working set, sqrt(n) (1 + sqrt(|P|)): a few times what is curved at the optimum.

    Parameters
    ----------
    n, n_positives : int

    Returns
    -------
    float
    """
    return np.sqrt(n) * (1 + np.sqrt(n_positives))


class Batch(NamedTuple):
    """Labels in flight of one thread, one a column c.

    Attributes
    ----------
    popular_weights : ndarray of float32, shape (F, WIDTH)
        Weights of the popular features, as the screen multiplies them.
    block : ndarray of float32, shape (BLOCK, WIDTH)
    bounds : ndarray of float32, shape (WIDTH, min(n, STRIPE))
        Upper bounds of the scores.
    rows, candidates : ndarray of int32, shape (WIDTH, n + 1)
        Working set, positives first; instances found by the screen.
    support : ndarray of int32, shape (WIDTH, d)
    weights : ndarray of float32, shape (WIDTH, d)
        Sparse weights.
    state, rounds, n_positives, n_rows, n_support, n_candidates : ndarray of int64, shape (WIDTH,)
        ``rounds`` counts solutions on the working set.
    cut, exhaustive : ndarray of bool, shape (WIDTH,)
        Whether candidates were left out, and whether the next screen must leave out none.
    target, positive_cost : ndarray of float64, shape (WIDTH,)
        What the gradient's norm must reach, and what losses of positives weigh.
    outcome : ndarray of float64, shape (WIDTH, 10)
        Fields of :class:`~ovaflow.solver.problem.Outcome`.
    histogram : ndarray of int64
        Scratch.
    """

    popular_weights: np.ndarray
    block: np.ndarray
    bounds: np.ndarray
    rows: np.ndarray
    candidates: np.ndarray
    support: np.ndarray
    weights: np.ndarray
    state: np.ndarray
    rounds: np.ndarray
    n_positives: np.ndarray
    n_rows: np.ndarray
    n_support: np.ndarray
    n_candidates: np.ndarray
    cut: np.ndarray
    exhaustive: np.ndarray
    target: np.ndarray
    positive_cost: np.ndarray
    outcome: np.ndarray
    histogram: np.ndarray


def make_batch(n, d, n_popular):
    """Allocate the columns of one thread.

    Parameters
    ----------
    n, d, n_popular : int
        Instances, features, popular features.

    Returns
    -------
    Batch
    """
    shapes = [(n_popular, WIDTH), (BLOCK, WIDTH), (WIDTH, min(n, STRIPE)), (WIDTH, n + 1), (WIDTH, n + 1)]
    shapes += [(WIDTH, d), (WIDTH, d)]
    flat = separate_arrays([rows * columns for rows, columns in shapes])
    arrays = dict(zip(Batch._fields, (a.reshape(shape) for a, shape in zip(flat, shapes, strict=True)), strict=False))
    for name in ("rows", "candidates", "support"):
        arrays[name] = arrays[name].view(np.int32)
    counters = {name: np.zeros(WIDTH, np.int64) for name in Batch._fields[7:13]}
    arrays["popular_weights"][:] = 0.0
    outcome = np.zeros((WIDTH, len(Outcome._fields)))
    flags = {name: np.zeros(WIDTH, bool) for name in ("cut", "exhaustive")}
    numbers = {name: np.zeros(WIDTH) for name in ("target", "positive_cost")}
    return Batch(**arrays, **counters, **flags, **numbers, outcome=outcome, histogram=np.zeros(1024, np.int64))


@strict_kernel
def admit(c, positives, positive_cost, target, batch):
    """Take a label into a column."""
    batch.state[c] = ADMITTED
    batch.rounds[c] = 0
    batch.exhaustive[c] = False
    batch.target[c] = target
    batch.positive_cost[c] = positive_cost
    batch.n_positives[c] = len(positives)
    batch.rows[c, : len(positives)] = positives
    batch.outcome[c] = 0.0


@strict_kernel
def set_weights(c, dense, negligible, screen, batch):
    """Keep the popular ones of some weights, and the others of more than a negligible size."""
    count = len(screen.popular_features)
    for p in range(count):
        batch.support[c, p] = screen.popular_features[p]
        batch.weights[c, p] = dense[screen.popular_features[p]]
    for f in range(len(dense)):
        if abs(dense[f]) > negligible and screen.popular_id[f] < 0:
            batch.support[c, count] = f
            batch.weights[c, count] = dense[f]
            count += 1
    batch.n_support[c] = count
    _show(c, screen, batch)


@strict_kernel
def _show(c, screen, batch):
    """Put the popular weights of a column where the screen multiplies them."""
    for p in range(len(screen.popular_features)):
        batch.popular_weights[p, c] = 0.0
    for e in range(batch.n_support[c]):
        number = screen.popular_id[batch.support[c, e]]
        if number >= 0:
            batch.popular_weights[number, c] = batch.weights[c, e]


@kernel
def screen_columns(n, screen, batch):
    """Collect for each column the instances whose score may exceed -1; at first the highest bounds."""
    batch.n_candidates[:] = 0
    batch.cut[:] = False
    for first in range(0, n, STRIPE):
        last = min(first + STRIPE, n)
        bound_by_popular(screen, batch.popular_weights, first, last, batch.block, batch.bounds)
        for c in range(WIDTH):
            if batch.state[c] == ADMITTED or batch.state[c] == SOLVED:
                _collect(c, n, first, last, screen, batch)


@kernel
def _collect(c, n, first, last, screen, batch):
    """Candidates of one column in one stripe: as many as are wanted at first, later all that may violate.

    Where too many may, the bias of a poor working set has risen; the highest
    bounds are then enough to bring it back, and the label is not finished.
    """
    bounds, found, have = batch.bounds[c], batch.candidates[c], batch.n_candidates[c]
    add_rare(screen, batch.support[c, : batch.n_support[c]], batch.weights[c], first, last, bounds)
    count = last - first
    if batch.state[c] == ADMITTED:
        wanted = first_rows(n, batch.n_positives[c])
    else:
        batch.n_candidates[c] = collect_above(bounds, count, np.float32(-1.0), first, found, have)
        wanted = 2 * _limit(c, n, batch)
        if batch.exhaustive[c] or batch.n_candidates[c] - have <= wanted * count / n:
            return
        batch.cut[c] = True
    threshold = threshold_for(bounds, count, wanted * count / n, batch.histogram)
    batch.n_candidates[c] = collect_above(bounds, count, threshold, first, found, have)


@kernel
def _limit(c, n, batch):
    """How many instances may join a working set at a time: as many as are there."""
    return max(np.int64(first_rows(n, 1)), batch.n_rows[c])


@kernel
def advance(c, X, screen, batch, local, settings):
    """Enlarge the working set by what the screen found, and solve again where that matters."""
    batch.outcome[c, 9] += 1
    if batch.state[c] == ADMITTED:
        _first_rows(c, batch, local)
        _solve(c, X, screen, batch, local, settings)
        batch.state[c] = SOLVED
        return
    if batch.rounds[c] == 1:
        _drop_far_rows(c, X, batch, local)
    newton_before = batch.outcome[c, 0]
    added, complete = _add_violators(c, X, batch, local)
    if added:
        _solve(c, X, screen, batch, local, settings)
    if complete and batch.outcome[c, 0] == newton_before:
        batch.state[c] = DONE


@kernel
def _first_rows(c, batch, local):
    """Positives, then the candidates that are none."""
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


@kernel
def _add_violators(c, X, batch, local):
    """Append missing instances with <w, x_i> > -1; returns their number and whether these are all.

    A working set without enough negatives lets the bias rise until half of all
    instances violate. Then only as many join as it has already, the highest
    first, which is enough to bring the bias back.
    """
    support = batch.support[c, : batch.n_support[c]]
    scatter(support, batch.weights[c], local.dense)
    have = batch.n_rows[c]
    candidates = batch.candidates[c, : batch.n_candidates[c]]
    scores = local.work.scores
    found = batch.rows[c, have:]
    count = violators(X, candidates, batch.rows[c, :have], local, found, scores)
    clear(support, local.dense)
    limit = _limit(c, len(X.indptr) - 1, batch)
    complete = count <= limit and not batch.cut[c]
    # so few of the highest bounds violate that the bias is right again: leave out no candidate from here on
    batch.exhaustive[c] |= count <= limit
    if count > limit:
        count = _keep_highest(found, scores, count, limit, batch.histogram)
    batch.n_rows[c] = have + count
    return count, complete


@kernel
def _drop_far_rows(c, X, batch, local):
    """Leave out negatives with <w, x_i> < -1 - margin; the check finds those that matter after all."""
    support = batch.support[c, : batch.n_support[c]]
    scatter(support, batch.weights[c], local.dense)
    kept = batch.n_positives[c]
    for r in range(kept, batch.n_rows[c]):
        i = batch.rows[c, r]
        batch.rows[c, kept] = i
        kept += row_dot(X.data, X.indices, X.indptr[i], X.indptr[i + 1], local.dense) > -1.0 - KEPT_MARGIN
    batch.n_rows[c] = kept
    clear(support, local.dense)


@strict_kernel
def _keep_highest(found, scores, count, limit, histogram):
    """Keep about ``limit`` of the found, those of the highest scores; returns their number."""
    threshold = threshold_for(scores, count, limit, histogram)
    kept = 0
    for e in range(count):
        found[kept] = found[e]
        kept += scores[e] > threshold
    return kept


@kernel
def _solve(c, X, screen, batch, local, settings):
    """Minimise on the working set and keep the weights and what the steps cost."""
    support = batch.support[c, : batch.n_support[c]]
    scatter(support, batch.weights[c], local.dense)
    rows = batch.rows[c, : batch.n_rows[c]]
    cost, target = batch.positive_cost[c], batch.target[c]
    n_features, figures = solve_rows(X, rows, batch.n_positives[c], cost, target, local, settings)
    clear(support, local.dense)
    batch.n_support[c] = n_features
    batch.support[c, :n_features] = local.features[:n_features]
    batch.weights[c, :n_features] = local.work.weights[:n_features]
    newton, cg, halvings, first_active, active, objective, norm, target, status, _ = figures
    batch.outcome[c, 0] += newton
    batch.outcome[c, 1] += cg
    batch.outcome[c, 2] += halvings
    if batch.rounds[c] == 0:
        batch.outcome[c, 3] = first_active
    batch.outcome[c, 4] = active
    batch.outcome[c, 5] = objective
    batch.outcome[c, 6] = norm
    batch.outcome[c, 7] = target
    batch.outcome[c, 8] = status
    batch.rounds[c] += 1
    _show(c, screen, batch)
