"""The third step of a node: the sparse separator, by l1-regularised logistic regression (eq. 14).

Newton steps of coordinate descent as in LIBLINEAR's ``-s 6``, see
:mod:`ovaflow.solver.coordinate_descent`, at the paper's caps. The gradient of
the losses in feature j is sum_i C_i t_i (-y_i x_ij) with t_i in (0, 1), so it
never leaves the interval from minus ``sum_{y_i x_ij > 0} C_i |x_ij|`` to
``sum_{y_i x_ij < 0} C_i |x_ij|``. Where neither bound exceeds 1 the weight is 0
whatever the others are, and the feature is left out: in small nodes nearly all
are.
"""

import numpy as np

from ovaflow.solver.coordinate_descent import minimise_l1
from ovaflow.solver.problem import Workspace
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel


@strict_kernel
def fit_separator(X, members, sides, costs, scratch, settings):
    """Separate the sides; returns how many features ``scratch.features`` names, with their weights and scores.

    Weights and <w, x_i> are in the beginnings of ``scratch.problem.weights`` and ``.scores``.
    """
    count, violation = _choose_features(X, members, sides, costs, scratch)
    columns = _gather_columns(X, members, count, scratch)
    view = _pose(len(members), count, sides, costs, scratch.problem)
    if violation > 0:
        minimise_l1(columns, settings.epsilon * violation, view, settings)
    _score(columns, view)
    return count


@strict_kernel
def _choose_features(X, members, sides, costs, scratch):
    """Features whose weight may become nonzero, ascending; returns how many, and the violation at w = 0."""
    reach, features = scratch.reach, scratch.features
    met = 0
    for m in range(len(members)):
        cost = np.float32(costs[sides[m]])
        for k in range(X.indptr[members[m]], X.indptr[members[m] + 1]):
            f, x = np.uint32(X.indices[k]), X.data[k]
            if scratch.feature_number[f] < 0:
                scratch.feature_number[f] = 0
                features[met] = f
                met += 1
            reach[f, sides[m] if x > 0 else 1 - sides[m]] += cost * abs(x)
    count, violation = 0, 0.0
    for e in range(met):
        f = features[e]
        if reach[f, 0] > 1 or reach[f, 1] > 1:
            features[count] = f
            count += 1
            violation += max(0.0, 0.5 * abs(reach[f, 0] - reach[f, 1]) - 1.0)
        reach[f, 0] = reach[f, 1] = 0
        scratch.feature_number[f] = -1
    features[:count].sort()
    return count, violation


@strict_kernel
def _gather_columns(X, members, count, scratch):
    """The chosen features by column, instances renumbered."""
    number, counts, features = scratch.feature_number, scratch.counts[: count + 1], scratch.features
    counts[:] = 0
    for e in range(count):
        number[features[e]] = e
    for i in members:
        for k in range(X.indptr[i], X.indptr[i + 1]):
            e = number[np.uint32(X.indices[k])]
            if e >= 0:
                counts[e + 1] += 1
    indptr = np.cumsum(counts)
    data, indices = np.empty(indptr[count], np.float32), np.empty(indptr[count], np.int32)
    counts[:] = indptr
    for m in range(len(members)):
        for k in range(X.indptr[members[m]], X.indptr[members[m] + 1]):
            e = number[np.uint32(X.indices[k])]
            if e >= 0:
                data[counts[e]] = X.data[k]
                indices[counts[e]] = m
                counts[e] += 1
    for e in range(count):
        number[features[e]] = -1
    return CSR(data, indices, indptr, len(members))


@strict_kernel
def _pose(m, count, sides, costs, problem):
    """The problem at w = 0, in a view of the workspace."""
    view = Workspace(
        problem.signed_costs[:m],
        problem.scores[:m],
        problem.score_steps[:m],
        problem.active[:m],
        problem.slopes[:m],
        problem.curvatures[:m],
        problem.weights[:count],
        problem.gradient[:count],
        problem.step[:count],
        problem.residual[:count],
        problem.direction[:count],
        problem.curved[:count],
        problem.preconditioner[:count],
    )
    for i in range(m):
        view.signed_costs[i] = costs[1] if sides[i] == 1 else -costs[0]
    view.scores[:] = 0
    view.weights[:] = 0
    return view


@strict_kernel
def _score(columns, view):
    """<w, x_i>, features ascending: to the bit what prediction computes."""
    view.scores[:] = 0
    for e in range(len(view.weights)):
        weight = view.weights[e]
        if weight != 0:
            for k in range(columns.indptr[e], columns.indptr[e + 1]):
                view.scores[columns.indices[k]] += weight * columns.data[k]
