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
from ovaflow.solver.problem import part_of
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel


@strict_kernel
def fit_separator(X, members, sides, costs, scratch, settings):
    """Separate the sides; returns how many ``features`` there are, with w and <w, x_i> in
    ``scratch.problem``.
    """
    indptr, violation, largest = _choose_features(X, members, sides, costs, scratch)
    columns = _gather_columns(X, members, indptr, scratch)
    count = len(indptr) - 1
    view = part_of(scratch.problem, len(members), count)
    for m in range(len(members)):
        view.signed_costs[m] = costs[1] if sides[m] == 1 else -costs[0]
    view.scores[:] = 0
    view.weights[:] = 0
    if violation > 0:
        minimise_l1(columns, settings.epsilon * violation, view, settings, largest)
    _score(columns, view)
    return count


@strict_kernel
def _choose_features(X, members, sides, costs, scratch):
    """Features whose weight may become nonzero: where their columns begin, sum and maximum of
    violations at w = 0.
    """
    reach = scratch.reach
    uses = scratch.uses
    features = scratch.features
    met = 0
    for m in range(len(members)):
        side = sides[m]
        cost = np.float32(costs[sides[m]])
        for k in range(np.uint64(X.indptr[members[m]]), np.uint64(X.indptr[members[m] + 1])):
            f = np.uint32(X.indices[k])
            x = X.data[k]
            if uses[f] == 0:
                features[met] = f
                met += 1
            uses[f] += 1
            reach[f, side if x > 0 else 1 - side] += cost * abs(x)
    count = 0
    violation = 0.0
    largest = 0.0
    for e in range(met):
        f = features[e]
        if reach[f, 0] > 1 or reach[f, 1] > 1:
            features[count] = f
            count += 1
            excess = max(0.0, 0.5 * abs(reach[f, 0] - reach[f, 1]) - 1.0)
            violation += excess
            largest = max(largest, excess)
        else:
            uses[f] = 0
        reach[f, 0] = reach[f, 1] = 0
    features[:count].sort()
    ends = np.zeros(count + 1, np.int64)
    for e in range(count):
        ends[e + 1] = ends[e] + uses[features[e]]
        uses[features[e]] = 0
    return ends, violation, largest


@strict_kernel
def _gather_columns(X, members, indptr, scratch):
    """The chosen features by column, instances renumbered."""
    slots = scratch.slots
    count = len(indptr) - 1
    for e in range(count):
        slots[scratch.features[e]] = indptr[e]
    data = np.empty(indptr[count], np.float32)
    indices = np.empty(indptr[count], np.int32)
    for m in range(len(members)):
        for k in range(np.uint64(X.indptr[members[m]]), np.uint64(X.indptr[members[m] + 1])):
            f = np.uint32(X.indices[k])
            slot = slots[f]
            if slot >= 0:
                data[np.uint64(slot)] = X.data[k]
                indices[np.uint64(slot)] = m
                slots[f] = slot + 1
    for e in range(count):
        slots[scratch.features[e]] = -1
    return CSR(data, indices, indptr, len(members), None)


@strict_kernel
def _score(columns, view) -> None:
    """<w, x_i>, features ascending: to the bit what prediction computes."""
    view.scores[:] = 0
    for e in range(len(view.weights)):
        weight = view.weights[e]
        if weight != 0:
            for k in range(columns.indptr[e], columns.indptr[e + 1]):
                view.scores[columns.indices[k]] += weight * columns.data[k]
