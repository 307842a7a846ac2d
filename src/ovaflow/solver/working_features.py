"""L1-regularised problems on the features that matter, in the compressed form that they allow.

At an L1 optimum a label has some tens of features with nonzero weight. The
problem is solved on a small working set of features, then the gradient of *all*
is computed, and those that violate the optimality conditions join the set, until
the violation over all features has reached its target. Which features begin
changes only the work.

Working sets of instances, as L2 has them, would not be small here. With so few
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
    Instances,
    Outcome,
    Workspace,
    allocate_separately,
    make_workspace,
    slice_workspace,
)
from ovaflow.solver.screening import estimate_threshold
from ovaflow.sparse.csr import CSR, add_row, transpose
from ovaflow.sparse.jit import kernel, strict_kernel

JOINING_FEATURES = 100
"""Features that may always join at a time."""

MOST_START_FEATURES = 1000
"""Features up to which a start brings all; of one with more only the bias is used, to keep the set
small.
"""

LARGEST_DENSITY = 0.2
"""Share of nonzeros in X beyond which a few features touch all instances, and nothing is saved."""

_INSIDE = 0.5
_LOOSER = 0.1
_MOST_ROUNDS = 200


class WorkingFeatures(NamedTuple):
    """X by features; read by all threads."""

    columns: CSR  # X transposed
    sums: np.ndarray  # column sums of X over documents by their weights, float64, shape (d,)
    # the feature that has the same value in all instances, the last one; -1 where there is none
    bias: int
    instances: Instances
    total: float  # weight of all documents


class WorkingScratch(NamedTuple):
    """What one thread works in."""

    weights: np.ndarray  # w of all features, float32
    gradient: (
        np.ndarray
    )  # of the losses; in float32, sums over many instances and the violation would drown
    chosen: np.ndarray  # whether a feature is in the working set; clean between uses
    features: np.ndarray  # the working set as a list, the bias feature last
    rows: np.ndarray  # instances that have working features, positives first
    local_row: np.ndarray  # the reverse, -1 for the others; clean between uses
    local: Workspace  # of the problem on the working features


def make_working_features(X, instances):
    """Transpose a matrix."""
    columns = transpose(X)
    sums = np.empty(X.n_columns)
    _sum_rows(columns, instances, sums)
    last = columns.data[columns.indptr[-2] :] if X.n_columns else columns.data
    has_bias = len(last) == X.n_rows > 0 and (last == last[0]).all()
    bias = X.n_columns - 1 if has_bias else -1
    return WorkingFeatures(columns, sums, bias, instances, instances.total)


@strict_kernel
def _sum_rows(columns, instances, out) -> None:
    """out_j = sum over documents i of v_i x_ij."""
    for j in range(len(out)):
        out[j] = 0.0
        for k in range(columns.indptr[j], columns.indptr[j + 1]):
            i = columns.indices[k]
            if i < instances.n_documents:
                out[j] += instances.weights[i] * columns.data[k]


def make_working_scratch(n, d):
    """Allocate what one thread works in, for n instances and d features."""
    arrays = allocate_separately(
        weights=(np.float32, d), features=(np.int32, d), rows=(np.int32, n), local_row=(np.int32, n)
    )
    arrays["local_row"][:] = -1
    return WorkingScratch(
        **arrays, gradient=np.empty(d), chosen=np.zeros(d, bool), local=make_workspace(n + 1, d)
    )


def solve_on_features(
    X, features, positives, violation_target, scratch, settings, positive_cost=1.0
):
    """Minimise |w|_1 + C sum_i c_i phi(y_i <w, x_i>) for one label, from ``scratch.weights`` and
    into them.

    In the Outcome ``gradient_norm`` is the violation over all features, ``full_passes`` counts how
    often it was computed, and ``cg_steps`` passes over the working features.
    """
    return _minimise(
        X, features, positives, np.float32(positive_cost), violation_target, scratch, settings
    )


@kernel
def _minimise(X, features, positives, positive_cost, target, scratch, settings):
    count = _first_features(features, scratch)
    newton = passes = halvings = rounds = first_active = 0
    inside = _INSIDE * target
    status = CONVERGED
    while True:
        part, n_rows, others = _gather(features, positives, count, scratch)
        view = _set_up_problem(part, n_rows, count, positives, positive_cost, features, scratch)
        background = view.scores[n_rows]
        solved = minimize_l1(part, inside, view, settings)
        if rounds == 0:
            first_active = solved.active_start + _alike(others, background, settings.loss)
        newton += solved.newton_steps
        passes += solved.cg_steps
        halvings += solved.line_search_halvings
        rounds += 1
        active = solved.active_end + _alike(others, view.scores[n_rows], settings.loss)
        violation = _fill_gradient(X, features, n_rows, count, view, scratch, settings)
        for r in range(n_rows):
            scratch.local_row[scratch.rows[r]] = -1
        if violation <= target:
            break
        added = _add_features(features.bias, count, scratch)
        # a step that single precision cuts short ends the label only where no feature is missing
        if rounds == _MOST_ROUNDS or (added == 0 and solved.status != CONVERGED):
            status = ITERATION_LIMIT if rounds == _MOST_ROUNDS else solved.status
            break
        inside = (
            max(_INSIDE * target, _LOOSER * violation) if added else _INSIDE * min(inside, target)
        )
        count += added
    for e in range(count):
        scratch.chosen[scratch.features[e]] = False
    return Outcome(
        newton,
        passes,
        halvings,
        first_active,
        active,
        solved.objective,
        violation,
        target,
        status,
        rounds,
    )


@kernel
def _first_features(features, scratch):
    """Features of the start, if they are few, and the bias; the weights of others become zero.
    Returns how many.
    """
    few = np.count_nonzero(scratch.weights) <= MOST_START_FEATURES
    count = 0
    for j in range(len(scratch.weights)):
        if j == features.bias or (few and scratch.weights[j] != 0):
            scratch.features[count] = j
            scratch.chosen[j] = True
            count += 1
        else:
            scratch.weights[j] = 0.0
    return count


@strict_kernel
def _gather(features, positives, count, scratch):
    """Columns of the working features with renumbered instances; how many instances they touch; how
    many documents not.

    One more instance stands for these documents, with the bias feature alone.
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
    indptr = np.zeros(count + 1, np.int64)
    for e in range(count - has_bias):
        f = scratch.features[e]
        indptr[e + 1] = indptr[e] + columns.indptr[f + 1] - columns.indptr[f]
    size = indptr[count - has_bias]
    most = size + has_bias * (min(size + len(positives), len(local_row)) + 1)
    data = np.empty(most, np.float32)
    indices = np.empty(most, np.int32)
    for e in range(count - has_bias):
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
    others = features.instances.n_documents
    for r in range(n_rows):
        others -= rows[r] < features.instances.n_documents
    return CSR(data, indices, indptr, n_rows + 1, None), n_rows, others


@kernel
def _set_up_problem(part, n_rows, count, positives, positive_cost, features, scratch):
    """Costs, weights and scores of the problem on the working features, in a part of the workspace."""
    view = slice_workspace(scratch.local, n_rows + 1, count)
    others = features.total
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


@kernel
def _alike(others, score, loss):
    """Curved instances that the last one stands for, without that one."""
    return max(others - 1, 0) * (loss_curvature(loss, -score) > 0)


@kernel
def _fill_gradient(X, features, n_rows, count, view, scratch, settings):
    """Gradient of the losses in all features; copies the weights back and returns the violation."""
    common = np.float64(-loss_slope(settings.loss, -view.scores[n_rows]))
    gradient = scratch.gradient
    weights = scratch.weights
    for e in range(count):
        weights[scratch.features[e]] = view.weights[e]
    for j in range(len(gradient)):
        gradient[j] = settings.C * common * features.sums[j]
    for r in range(n_rows):
        i = scratch.rows[r]
        weight = features.instances.weights[i] if i < features.instances.n_documents else 0.0
        factor = settings.C * (np.float64(view.slopes[r]) - weight * common)
        if factor != 0:
            add_row(X.data, X.indices, X.indptr[i], X.indptr[i + 1], factor, gradient)
    total = 0.0
    for j in range(len(gradient)):
        total += optimality_violation(weights[j], gradient[j])
    return total


@kernel
def _add_features(bias, count, scratch):
    """Take in features, those of the largest gradients above 1 first; returns how many."""
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
    added = 0
    if n_candidates > limit:
        threshold = estimate_threshold(sizes, n_candidates, limit, np.zeros(1024, np.int64))
    has_bias = bias >= 0
    for e in range(n_candidates):
        if sizes[e] > threshold:
            scratch.chosen[candidates[e]] = True
            scratch.features[count - has_bias + added] = candidates[e]
            added += 1
    if has_bias:
        scratch.features[count + added - 1] = bias
    return added
