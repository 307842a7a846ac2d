"""L1-regularized problems on a working set of features, with all other instances as one.

At an L1 optimum a label has some tens of features with nonzero weight. The
problem is solved on a small working set of features, then the gradient of *all*
is computed, and those that violate the optimality conditions join the set, until
the violation over all features has reached its target. The first working set
changes only the work.

Working sets of instances, as for L2, would not be small here. With so few
nonzero weights most negatives have none of these features: their score is the
bias alone, and where that lies above -1 the loss of each of them is curved. But
they are all alike. In the problem on the working features they are one instance
that has nothing but the bias feature and counts as many times as there are; in
the gradient their equal slopes t give t times the column sums of X, corrected
on the other instances:

    g = C (t X^T 1 + sum_{i touched} (c_i phi'(m_i) y_i - t) x_i).

Both hold exactly and for either loss.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.coordinate_descent import minimize_l1, optimality_violation
from ovaflow.solver.losses import loss_curvature, loss_slope
from ovaflow.solver.newton import CONVERGED, ITERATION_LIMIT
from ovaflow.solver.problem import (
    OUTCOME_AT_START,
    Instances,
    LabelProblem,
    Outcome,
    Settings,
    Workspace,
    add_round,
    allocate_separately,
    make_workspace,
    slice_workspace,
)
from ovaflow.solver.screening import estimate_threshold
from ovaflow.sparse.csr import CSR, add_row, transpose
from ovaflow.sparse.jit import callee, kernel, strict_callee, strict_kernel

JOINING_FEATURES = 100
"""Features that may always join at a time: more than most labels have at the optimum."""

MOST_START_FEATURES = 1000
"""Weights of a start up to which their features are the first working set.

Of a start with more only the bias is used, to keep the set small.
"""

LARGEST_DENSITY = 0.2
"""Share of nonzeros in X beyond which a few features touch all instances, and nothing is saved."""

_INNER_SHARE = 0.5
"""Tolerance of the problem on the working features in units of the target, so that the other
features and rounding may add to the violation.
"""

_LOOSE_SHARE = 0.1
"""The same in units of the violation over all features, while features are missing and an exact
solution would be wasted.
"""

_MOST_ROUNDS = 200
"""Rounds after which a label ends without having reached its target."""

_HISTOGRAM_BINS = 1024
"""Bins from which the size of the features that join is estimated."""


class WorkingFeatures(NamedTuple):
    """X by features; read by all threads."""

    columns: CSR  # X transposed
    sums: np.ndarray  # column sums of X over documents by their weights, float64, shape (d,)
    bias: int  # the last feature if it has the same value in all instances, else -1
    instances: Instances
    total: float  # weight of all documents


class WorkingScratch(NamedTuple):
    """Arrays of one thread."""

    weights: np.ndarray  # w of all features, float32
    # of the losses; in float32 sums over many instances would lose the violation
    gradient: np.ndarray
    chosen: np.ndarray  # bool (d,), true for features in the working set; clean between uses
    features: np.ndarray  # the working set as a list, the bias feature last
    rows: np.ndarray  # instances that have working features, positives first
    local_row: np.ndarray  # the reverse, -1 for the others; clean between uses
    local: Workspace  # of the problem on the working features


class _LocalColumns(NamedTuple):
    """Columns of the working features, with renumbered instances."""

    part: CSR  # the columns; their last instance represents the documents without these features
    n_rows: int  # instances that have working features
    n_others: int  # documents that have none


def make_working_features(X: CSR, instances: Instances) -> WorkingFeatures:
    """Transpose a matrix, sum its columns and find its bias feature."""
    columns = transpose(X)
    sums = np.empty(X.n_columns)
    _sum_documents(columns, instances, sums)
    last_column = columns.data[columns.indptr[-2] :] if X.n_columns else columns.data
    has_bias = len(last_column) == X.n_rows > 0 and (last_column == last_column[0]).all()
    bias = X.n_columns - 1 if has_bias else -1
    return WorkingFeatures(columns, sums, bias, instances, instances.total)


@strict_kernel
def _sum_documents(columns: CSR, instances: Instances, out: np.ndarray) -> None:
    """Fill out_j = sum over documents i of v_i x_ij."""
    for j in range(len(out)):
        out[j] = 0.0
        for k in range(columns.indptr[j], columns.indptr[j + 1]):
            i = columns.indices[k]
            if i < instances.n_documents:
                out[j] += instances.weights[i] * columns.data[k]


def make_working_scratch(n: int, d: int) -> WorkingScratch:
    """Allocate the arrays of one thread, for n instances and d features."""
    arrays = allocate_separately(
        weights=(np.float32, d),
        features=(np.int32, d),
        rows=(np.int32, n),
        local_row=(np.int32, n),
    )
    arrays["local_row"][:] = -1
    return WorkingScratch(
        **arrays, gradient=np.empty(d), chosen=np.zeros(d, bool), local=make_workspace(n + 1, d)
    )


def solve_on_features(
    X: CSR,
    features: WorkingFeatures,
    problem: LabelProblem,
    scratch: WorkingScratch,
    settings: Settings,
) -> Outcome:
    """Minimize |w|_1 + C sum_i c_i phi(y_i <w, x_i>), from ``scratch.weights`` and into them.

    In the Outcome ``gradient_norm`` is the violation over all features, ``full_passes`` counts how
    often it was computed, and ``cg_steps`` passes over the working features.
    """
    settings = settings._replace(C=problem.C)
    positive_cost = np.float32(problem.positive_cost)
    return _minimize_on_features(
        X, features, problem.positives, positive_cost, problem.target, scratch, settings
    )


@kernel
def _minimize_on_features(
    X: CSR,
    features: WorkingFeatures,
    positives: np.ndarray,
    positive_cost: np.float32,
    target: float,
    scratch: WorkingScratch,
    settings: Settings,
) -> Outcome:
    """Solve on working features and add those that violate, until the target is reached."""
    count = _choose_first_features(features, scratch)
    total = OUTCOME_AT_START
    rounds = 0
    active_start = 0
    tolerance = _INNER_SHARE * target
    status = CONVERGED
    while True:
        gathered = _gather_columns(features, positives, count, scratch)
        n_rows = gathered.n_rows
        view = _set_up_working_problem(gathered, count, positives, positive_cost, features, scratch)
        first_score = view.scores[n_rows]
        solved = minimize_l1(gathered.part, tolerance, view, settings)
        last_score = view.scores[n_rows]
        if rounds == 0:
            active_start = solved.active_start + _count_active_others(
                gathered.n_others, first_score, settings.loss
            )
        total = add_round(total, solved, rounds)
        rounds += 1
        active = solved.active_end + _count_active_others(
            gathered.n_others, last_score, settings.loss
        )
        violation = _fill_full_gradient(X, features, n_rows, count, view, scratch, settings)
        for r in range(n_rows):
            scratch.local_row[scratch.rows[r]] = -1
        if violation <= target:
            break
        if rounds == _MOST_ROUNDS:
            status = ITERATION_LIMIT
            break
        added = _add_features(features.bias, count, scratch)
        # an inner problem that ends above its tolerance ends the label only where no feature is
        # missing
        if added == 0 and solved.status != CONVERGED:
            status = solved.status
            break
        if added:
            tolerance = max(_INNER_SHARE * target, _LOOSE_SHARE * violation)
        else:
            tolerance = _INNER_SHARE * min(tolerance, target)
        count += added
    for e in range(count):
        scratch.chosen[scratch.features[e]] = False
    return Outcome(
        newton_steps=total.newton_steps,
        cg_steps=total.cg_steps,
        line_search_halvings=total.line_search_halvings,
        active_start=active_start,
        active_end=active,
        objective=total.objective,
        gradient_norm=violation,
        gradient_target=target,
        status=status,
        full_passes=rounds,
    )


@callee
def _choose_first_features(features: WorkingFeatures, scratch: WorkingScratch) -> int:
    """Choose the features of the start, if they are few, and the bias; return their number.

    The weights of others become zero.
    """
    are_few = np.count_nonzero(scratch.weights) <= MOST_START_FEATURES
    count = 0
    for j in range(len(scratch.weights)):
        if j == features.bias or (are_few and scratch.weights[j] != 0):
            scratch.features[count] = j
            scratch.chosen[j] = True
            count += 1
        else:
            scratch.weights[j] = 0.0
    return count


@strict_callee
def _gather_columns(
    features: WorkingFeatures, positives: np.ndarray, count: int, scratch: WorkingScratch
) -> _LocalColumns:
    """Gather the columns of the first ``count`` working features, with renumbered instances.

    One more instance, with the bias feature alone, represents the documents without any of them.
    """
    columns = features.columns
    rows = scratch.rows
    local_row = scratch.local_row
    n_rows = 0
    for i in positives:
        rows[n_rows] = i
        local_row[i] = n_rows
        n_rows += 1
    has_bias = features.bias >= 0
    # the bias feature is the last one
    n_without_bias = count
    if has_bias:
        n_without_bias -= 1
    indptr = np.zeros(count + 1, np.int64)
    for e in range(n_without_bias):
        f = scratch.features[e]
        indptr[e + 1] = indptr[e] + columns.indptr[f + 1] - columns.indptr[f]
    size = indptr[n_without_bias]
    capacity = size
    if has_bias:
        capacity += min(size + len(positives), len(local_row)) + 1
    data = np.empty(capacity, np.float32)
    indices = np.empty(capacity, np.int32)
    for e in range(n_without_bias):
        start = columns.indptr[scratch.features[e]]
        for k in range(indptr[e + 1] - indptr[e]):
            i = columns.indices[start + k]
            if local_row[i] < 0:
                rows[n_rows] = i
                local_row[i] = n_rows
                n_rows += 1
            data[indptr[e] + k] = columns.data[start + k]
            indices[indptr[e] + k] = local_row[i]
    if has_bias:
        for r in range(n_rows + 1):
            data[size + r] = columns.data[columns.indptr[features.bias]]
            indices[size + r] = r
        indptr[count] = size + n_rows + 1
    n_others = features.instances.n_documents
    for r in range(n_rows):
        if rows[r] < features.instances.n_documents:
            n_others -= 1
    return _LocalColumns(CSR(data, indices, indptr, n_rows + 1, None), n_rows, n_others)


@callee
def _set_up_working_problem(
    gathered: _LocalColumns,
    count: int,
    positives: np.ndarray,
    positive_cost: np.float32,
    features: WorkingFeatures,
    scratch: WorkingScratch,
) -> Workspace:
    """Set costs, weights and scores of the problem on the working features in its workspace."""
    part = gathered.part
    n_rows = gathered.n_rows
    view = slice_workspace(scratch.local, n_rows + 1, count)
    others = np.float64(features.total)
    for r in range(n_rows):
        i = scratch.rows[r]
        cost = (
            features.instances.weights[i] if i < features.instances.n_documents else np.float32(0.0)
        )
        view.signed_costs[r] = -cost
        others -= cost
    for r, i in enumerate(positives):
        view.signed_costs[r] = features.instances.weights[i] * positive_cost
    view.signed_costs[n_rows] = -np.float32(max(others, 0.0))
    view.scores[:] = 0.0
    for e in range(count):
        view.weights[e] = scratch.weights[scratch.features[e]]
        add_row(
            part.data,
            part.indices,
            part.indptr[e],
            part.indptr[e + 1],
            view.weights[e],
            view.scores,
        )
    return view


@callee
def _count_active_others(n_others: int, score: float, loss: int) -> int:
    """Count the active instances that the last one represents, without that one."""
    if loss_curvature(loss, -score) > 0:
        return max(n_others - 1, 0)
    return 0


@callee
def _fill_full_gradient(
    X: CSR,
    features: WorkingFeatures,
    n_rows: int,
    count: int,
    view: Workspace,
    scratch: WorkingScratch,
    settings: Settings,
) -> float:
    """Fill the gradient of the losses in all features, and return the violation.

    The solution on the first ``count`` working features is copied to ``scratch.weights`` before.
    """
    common = np.float64(-loss_slope(settings.loss, -view.scores[n_rows]))
    gradient = scratch.gradient
    weights = scratch.weights
    for e in range(count):
        weights[scratch.features[e]] = view.weights[e]
    for j in range(len(gradient)):
        gradient[j] = settings.C * common * features.sums[j]
    for r in range(n_rows):
        i = scratch.rows[r]
        # names of labels are no negatives
        weight = features.instances.weights[i] if i < features.instances.n_documents else 0.0
        factor = settings.C * (np.float64(view.slopes[r]) - weight * common)
        if factor != 0:
            add_row(X.data, X.indices, X.indptr[i], X.indptr[i + 1], factor, gradient)
    total = 0.0
    for j in range(len(gradient)):
        total += optimality_violation(weights[j], gradient[j])
    return total


@callee
def _add_features(bias: int, count: int, scratch: WorkingScratch) -> int:
    """Add features of gradients above 1 to the working set, the largest first.

    At most about as many join as are in it, or :data:`JOINING_FEATURES`; returns how many.
    """
    candidates = np.empty(len(scratch.weights), np.int32)
    sizes = np.empty(len(scratch.weights), np.float32)
    n_candidates = 0
    for j in range(len(scratch.weights)):
        size = abs(scratch.gradient[j])
        if size > 1 and not scratch.chosen[j]:
            candidates[n_candidates] = j
            sizes[n_candidates] = size
            n_candidates += 1
    limit = max(JOINING_FEATURES, count)
    threshold = np.float64(0.0)
    if n_candidates > limit:
        histogram = np.zeros(_HISTOGRAM_BINS, np.int64)
        threshold = estimate_threshold(sizes, n_candidates, limit, histogram)
    # the bias feature stays the last one
    end = count
    if bias >= 0:
        end -= 1
    added = 0
    for e in range(n_candidates):
        if sizes[e] > threshold:
            scratch.chosen[candidates[e]] = True
            scratch.features[end + added] = candidates[e]
            added += 1
    if bias >= 0:
        scratch.features[end + added] = bias
    return added
