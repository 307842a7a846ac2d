"""A label's problem on a working set: the instances that matter, in features of their own.

The reference solver runs unchanged on the matrix of the chosen rows, whose
features are renumbered so that every vector has the length of their support.
Outside of that support the exact solution is zero: w = -C sum_i phi'(m_i) y_i x_i.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.newton import minimize, set_up_problem
from ovaflow.solver.problem import (
    Instances,
    Workspace,
    allocate_separately,
    make_workspace,
    slice_workspace,
)
from ovaflow.sparse.csr import CSR, row_dot
from ovaflow.sparse.jit import inner_kernel, kernel, strict_kernel


class LocalProblem(NamedTuple):
    """One thread's local problem: chosen rows with renumbered features; most of it is never
    touched.
    """

    data: np.ndarray
    indices: np.ndarray  # None where X has none
    indptr: np.ndarray
    features: np.ndarray  # feature of each local number, with a place to spare: int32
    local_id: np.ndarray  # the reverse, -1 for features not met; clean between uses
    watched: np.ndarray  # features of which the caller needs the numbers: int32
    watched_numbers: np.ndarray
    dense: np.ndarray  # weights of one label by feature, shape (d,); zero between uses
    member: np.ndarray  # whether a row is in the working set; clean between uses
    first: np.ndarray  # 0, 1, 2, ...: the positives come first
    work: Workspace


def make_local_problem(X, watched=()):
    """Allocate what one thread needs for local problems."""
    n = X.n_rows
    d = X.n_columns
    nnz = len(X.data)
    full = X.indices is None
    arrays = allocate_separately(
        data=(np.float32, nnz),
        indices=(np.int32, 0 if full else nnz),
        features=(np.int32, d if full else d + 1),
        local_id=(np.int32, d),
        dense=(np.float32, d),
    )
    arrays["dense"][:] = 0
    arrays["local_id"][:] = -1
    if full:
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
def solve_rows(X, instances, rows, n_positives, positive_cost, target, local, settings):
    """Minimise over chosen rows, from ``local.dense`` into ``local.work.weights``; returns their
    number and Outcome.
    """
    part, work = gather_local_problem(X, rows, local)
    for e in range(part.n_columns):
        work.weights[e] = local.dense[local.features[e]]
    chosen = Instances(instances.weights[rows], len(rows))
    set_up_problem(part, chosen, local.first[:n_positives], np.float32(positive_cost), work)
    return part.n_columns, minimize(part, target, work, settings)


@inner_kernel
def gather_local_problem(X, rows, local):
    """The chosen rows as a matrix of their own features, and vectors of its sizes."""
    n_features = _gather_rows(X, rows, local)
    part = CSR(local.data, local.indices, local.indptr[: len(rows) + 1], n_features, None)
    return part, slice_workspace(local.work, len(rows), n_features)


@strict_kernel
def _gather_rows(X, rows, local):
    """Copy rows with renumbered features; returns the number of features."""
    filled = _copy_rows(X.data, X.indices, X.indptr, rows, local.data, local.indices, local.indptr)
    return _renumber(local.indices, filled, local)


@strict_kernel
def _copy_rows(data, indices, indptr, rows, local_data, local_indices, local_indptr):
    """Rows lie far apart in memory: copying them first lets the processor fetch ahead."""
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


@strict_kernel
def _renumber(indices, filled, local):
    """Number features in the order in which they are met; full rows keep theirs. Returns how many
    there are.
    """
    if indices is None:
        return len(local.features)
    n_features = 0
    # without a branch: every third feature is new by chance, and wrong guesses of the processor
    # cost twice the loop
    for k in range(np.uint64(filled)):
        feature = np.uint32(indices[k])
        number = local.local_id[feature]
        new = number < 0
        number = n_features if new else number
        local.local_id[feature] = number
        local.features[n_features] = feature
        n_features += new
        indices[k] = number
    for p in range(len(local.watched)):
        local.watched_numbers[p] = local.local_id[local.watched[p]]
    for e in range(n_features):
        local.local_id[local.features[e]] = -1
    return n_features


@kernel
def collect_violators(X, candidates, rows, local, instances, scores):
    """{i in candidates, not in the working set : <w, x_i> > -1} and their scores; returns their
    number.
    """
    for i in rows:
        local.member[i] = True
    count = 0
    for i in candidates:
        if not local.member[i]:
            instances[count] = i
            scores[count] = row_dot(X.data, X.indices, X.indptr[i], X.indptr[i + 1], local.dense)
            count += scores[count] > -1.0
    for i in rows:
        local.member[i] = False
    return count
