"""The problem of a label on a working set: the instances that matter, in features of their own.

The reference solver runs unchanged on the matrix of the chosen rows, whose
features are renumbered so that every vector has the length of their support.
Outside of that support the exact solution is zero: w = -C sum_i phi'(m_i) y_i x_i.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ovaflow.solver.newton import minimize, set_up_problem
from ovaflow.solver.objective import dot, signed_margin
from ovaflow.solver.problem import (
    Instances,
    Outcome,
    Settings,
    Workspace,
    allocate_separately,
    make_workspace,
    slice_workspace,
)
from ovaflow.sparse.csr import CSR, row_dot
from ovaflow.sparse.jit import callee, inner_kernel, strict_callee

_SCALING_STEPS = 8
"""Steps towards the best factor of a start."""


class LocalProblem(NamedTuple):
    """Memory of one thread for chosen rows with renumbered features; most is never touched."""

    data: np.ndarray
    indices: np.ndarray  # None where X has none
    indptr: np.ndarray
    features: np.ndarray  # feature of each local number, with one entry to spare: int32
    local_id: np.ndarray  # the reverse, -1 for features not met; clean between uses
    watched: np.ndarray  # features of which the caller needs the local numbers: int32
    watched_numbers: np.ndarray  # these numbers, -1 for features not met
    dense: np.ndarray  # weights of one label by feature, shape (d,); zero between uses
    member: np.ndarray  # bool (n,), true for rows in the working set; clean between uses
    first: np.ndarray  # 0, 1, 2, ...: the positives come first
    work: Workspace


def make_local_problem(X: CSR, watched: Sequence[int] | np.ndarray = ()) -> LocalProblem:
    """Allocate the memory of one thread for local problems."""
    n = X.n_rows
    d = X.n_columns
    n_entries = len(X.data)
    is_full = X.indices is None
    arrays: dict = allocate_separately(
        data=(np.float32, n_entries),
        indices=(np.int32, 0 if is_full else n_entries),
        features=(np.int32, d if is_full else d + 1),
        local_id=(np.int32, d),
        dense=(np.float32, d),
    )
    arrays["dense"][:] = 0
    arrays["local_id"][:] = -1
    if is_full:
        arrays["features"][:] = np.arange(d)
        arrays["indices"] = None
    watched = np.array(watched, np.int32)
    return LocalProblem(
        **arrays,
        indptr=np.zeros(n + 1, np.int64),
        watched=watched,
        watched_numbers=watched.copy(),
        member=np.zeros(n, bool),
        first=np.arange(n, dtype=np.int32),
        work=make_workspace(n, d),
    )


@inner_kernel
def solve_rows(
    X: CSR,
    instances: Instances,
    rows: np.ndarray,
    n_positives: int,
    positive_cost: float,
    target: float,
    local: LocalProblem,
    settings: Settings,
) -> tuple[int, Outcome]:
    """Minimize over chosen rows, from ``local.dense`` into ``local.work.weights``.

    The positives are the first of the rows. Returns the number of local features, and the outcome.
    """
    part, work = gather_local_problem(X, rows, local)
    for e in range(part.n_columns):
        work.weights[e] = local.dense[local.features[e]]
    chosen = Instances(instances.weights[rows], len(rows))
    set_up_problem(part, chosen, local.first[:n_positives], np.float32(positive_cost), work)
    _scale_start(work, settings)
    return part.n_columns, minimize(part, target, work, settings)


@callee
def _scale_start(work: Workspace, settings: Settings) -> None:
    """Multiply the start by the factor of the least objective under the squared hinge.

    At factor a it is 1/2 a^2 |w|^2 + C sum_i c_i max(0, 1 - a m_i)^2, so while the same instances
    are active, a = C' sum_i c_i m_i / (|w|^2 + C' sum_i c_i m_i^2) with C' = 2 C.
    """
    squared_norm = dot(work.weights, work.weights)
    if squared_norm == 0:
        return
    factor = 1.0
    for _ in range(_SCALING_STEPS):
        pull = 0.0
        curvature = squared_norm
        for i in range(len(work.scores)):
            margin = np.float64(signed_margin(work.signed_costs[i], work.scores[i]))
            if factor * margin < 1:
                cost = 2.0 * settings.C * abs(work.signed_costs[i])
                pull += cost * margin
                curvature += cost * margin * margin
        factor = pull / curvature
    for j in range(len(work.weights)):
        work.weights[j] *= np.float32(factor)
    for i in range(len(work.scores)):
        work.scores[i] *= np.float32(factor)


@inner_kernel
def gather_local_problem(X: CSR, rows: np.ndarray, local: LocalProblem) -> tuple[CSR, Workspace]:
    """Copy chosen rows into a matrix of their own features, and take vectors of its sizes."""
    n_features = _gather_rows(X, rows, local)
    part = CSR(local.data, local.indices, local.indptr[: len(rows) + 1], n_features, None)
    return part, slice_workspace(local.work, len(rows), n_features)


@strict_callee
def _gather_rows(X: CSR, rows: np.ndarray, local: LocalProblem) -> int:
    """Copy rows with renumbered features, and return the number of features."""
    filled = _copy_rows(X.data, X.indices, X.indptr, rows, local.data, local.indices, local.indptr)
    return _renumber_features(local.indices, filled, local)


@strict_callee
def _copy_rows(
    data: np.ndarray,
    indices: np.ndarray | None,
    indptr: np.ndarray,
    rows: np.ndarray,
    local_data: np.ndarray,
    local_indices: np.ndarray,
    local_indptr: np.ndarray,
) -> np.uint64:
    """Copy rows next to each other, and return the number of their entries.

    Rows lie far apart in memory: copying them first lets the processor fetch ahead.
    """
    filled = np.uint64(0)
    for r in range(len(rows)):
        start = np.uint64(indptr[rows[r]])
        length = np.uint64(indptr[rows[r] + 1]) - start
        for k in range(length):
            if indices is not None:
                local_indices[filled + k] = indices[start + k]
            local_data[filled + k] = data[start + k]
        filled += length
        local_indptr[r + 1] = filled
    return filled


@strict_callee
def _renumber_features(indices: np.ndarray | None, filled: np.uint64, local: LocalProblem) -> int:
    """Assign numbers to features in their order of appearance; return their count.

    Features of full rows keep their numbers.
    """
    if indices is None:
        return len(local.features)
    n_features = 0
    # without a branch: every third feature is new by chance, and wrong guesses of the processor
    # cost twice the loop
    for k in range(np.uint64(filled)):
        feature = np.uint32(indices[k])
        number = local.local_id[feature]
        is_new = number < 0
        number = n_features if is_new else number
        local.local_id[feature] = number
        local.features[n_features] = feature
        n_features += is_new
        indices[k] = number
    for p in range(len(local.watched)):
        local.watched_numbers[p] = local.local_id[local.watched[p]]
    for e in range(n_features):
        local.local_id[local.features[e]] = -1
    return n_features


@callee
def collect_violators(
    X: CSR,
    candidates: np.ndarray,
    rows: np.ndarray,
    local: LocalProblem,
    instances: np.ndarray,
    scores: np.ndarray,
) -> int:
    """Collect candidates outside of the working set with <w, x_i> > -1.

    ``rows`` are those of the working set, and w is ``local.dense``. The candidates found and their
    scores go to ``instances`` and ``scores``; returns their number.
    """
    for i in rows:
        local.member[i] = True
    count = 0
    for i in candidates:
        if not local.member[i]:
            instances[count] = i
            scores[count] = row_dot(X.data, X.indices, X.indptr[i], X.indptr[i + 1], local.dense)
            if scores[count] > -1.0:
                count += 1
    for i in rows:
        local.member[i] = False
    return count
