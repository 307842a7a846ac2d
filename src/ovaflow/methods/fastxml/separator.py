"""Fit the sparse separator of a node, the third step of FastXML, by l1-regularized logistic
regression.

The problem is eq. 14 of the paper. Its Newton steps by coordinate descent are those of LIBLINEAR's
``-s 6``, see :mod:`ovaflow.solver.coordinate_descent`, with the paper's limits on iterations.

The gradient of the losses in feature j is sum_i C_i t_i (-y_i x_ij) with t_i in (0, 1), so it stays
in the interval from minus ``sum_{y_i x_ij > 0} C_i |x_ij|`` to ``sum_{y_i x_ij < 0} C_i |x_ij|``.
Where neither bound exceeds 1, the weight is 0 whatever the others are, and the feature is left out.
In small nodes that holds for nearly all features.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.methods.fastxml.scratch import TreeScratch
from ovaflow.solver.coordinate_descent import minimize_l1
from ovaflow.solver.problem import Settings, Workspace, slice_workspace
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_callee, strict_kernel


class SeparatorSettings(NamedTuple):
    """Constants of the separators of nodes."""

    tolerance: float  # violation at which a separator is done, as a share of that at w = 0
    solver: Settings


@strict_kernel
def fit_separator(
    X: CSR,
    members: np.ndarray,
    sides: np.ndarray,
    costs: tuple[float, float],
    scratch: TreeScratch,
    settings: SeparatorSettings,
) -> int:
    """Separate the two sides of a node; return the number of features of the problem.

    These are ``scratch.features``; their weights w and the scores <w, x_i> of the members are in
    ``scratch.problem``.
    """
    indptr, violation, largest = _choose_features(X, members, sides, costs, scratch)
    columns = _gather_columns(X, members, indptr, scratch)
    n_features = len(indptr) - 1
    view = slice_workspace(scratch.problem, len(members), n_features)
    for m in range(len(members)):
        view.signed_costs[m] = costs[1] if sides[m] == 1 else -costs[0]
    view.scores[:] = 0
    view.weights[:] = 0
    if violation > 0:
        minimize_l1(columns, settings.tolerance * violation, view, settings.solver, largest)
    _compute_scores(columns, view)
    return n_features


@strict_callee
def _choose_features(
    X: CSR,
    members: np.ndarray,
    sides: np.ndarray,
    costs: tuple[float, float],
    scratch: TreeScratch,
) -> tuple[np.ndarray, float, float]:
    """Choose the features whose weight may become nonzero.

    Returns indptr of their columns, and sum and maximum of the violations of optimality at w = 0.
    """
    bounds = scratch.gradient_bounds
    entry_counts = scratch.entry_counts
    features = scratch.features
    n_occurring = 0
    for m in range(len(members)):
        side = sides[m]
        cost = np.float32(costs[sides[m]])
        for k in range(np.uint64(X.indptr[members[m]]), np.uint64(X.indptr[members[m] + 1])):
            f = np.uint32(X.indices[k])
            x = X.data[k]
            if entry_counts[f] == 0:
                features[n_occurring] = f
                n_occurring += 1
            entry_counts[f] += 1
            bounds[f, side if x > 0 else 1 - side] += cost * abs(x)
    n_features = 0
    violation = 0.0
    largest = 0.0
    for e in range(n_occurring):
        f = features[e]
        if bounds[f, 0] > 1 or bounds[f, 1] > 1:
            features[n_features] = f
            n_features += 1
            excess = max(0.0, 0.5 * abs(bounds[f, 0] - bounds[f, 1]) - 1.0)
            violation += excess
            largest = max(largest, excess)
        else:
            entry_counts[f] = 0
        bounds[f, 0] = 0
        bounds[f, 1] = 0
    features[:n_features].sort()
    indptr = np.zeros(n_features + 1, np.int64)
    for e in range(n_features):
        indptr[e + 1] = indptr[e] + entry_counts[features[e]]
        entry_counts[features[e]] = 0
    return indptr, violation, largest


@strict_callee
def _gather_columns(X: CSR, members: np.ndarray, indptr: np.ndarray, scratch: TreeScratch) -> CSR:
    """Copy the chosen features by column, with the members' numbers as instances."""
    slots = scratch.slots
    n_features = len(indptr) - 1
    for e in range(n_features):
        slots[scratch.features[e]] = indptr[e]
    data = np.empty(indptr[n_features], np.float32)
    indices = np.empty(indptr[n_features], np.int32)
    for m in range(len(members)):
        for k in range(np.uint64(X.indptr[members[m]]), np.uint64(X.indptr[members[m] + 1])):
            f = np.uint32(X.indices[k])
            slot = slots[f]
            if slot >= 0:
                data[np.uint64(slot)] = X.data[k]
                indices[np.uint64(slot)] = m
                slots[f] = slot + 1
    for e in range(n_features):
        slots[scratch.features[e]] = -1
    return CSR(data, indices, indptr, len(members), None)


@strict_callee
def _compute_scores(columns: CSR, view: Workspace) -> None:
    """Compute <w, x_i>, features ascending: the same bits as prediction computes."""
    view.scores[:] = 0
    for e in range(len(view.weights)):
        weight = view.weights[e]
        if weight != 0:
            for k in range(columns.indptr[e], columns.indptr[e + 1]):
                view.scores[columns.indices[k]] += weight * columns.data[k]
