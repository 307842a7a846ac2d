"""A label's problem on a working set: the instances that matter, in features of their own.

The reference solver runs unchanged on the matrix of the chosen rows, whose
features are renumbered so that every vector has the length of their support.
Outside of that support the exact solution is zero: w = -C sum_i phi'(m_i) y_i x_i.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.newton import minimise, pose
from ovaflow.solver.problem import Workspace, make_workspace, separate_arrays
from ovaflow.sparse.csr import CSR, row_dot
from ovaflow.sparse.jit import kernel, strict_kernel


class Local(NamedTuple):
    """Scratch of a thread for one local problem; most of it is never touched.

    Attributes
    ----------
    data, indices, indptr : ndarray
        Chosen rows with renumbered features; ``indices`` is None where X has none.
    features : ndarray of int32, shape (d,)
        Feature of each local number.
    local_id : ndarray of int32, shape (d,)
        The reverse, -1 for features not met; clean between uses.
    dense : ndarray of float32, shape (d,)
        Weights of one label by feature; zero between uses.
    member : ndarray of bool, shape (n,)
        Rows of the working set; clean between uses.
    first : ndarray of int32, shape (n,)
        0, 1, 2, ...: the positives come first.
    work : Workspace
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    features: np.ndarray
    local_id: np.ndarray
    dense: np.ndarray
    member: np.ndarray
    first: np.ndarray
    work: Workspace


def make_local(X):
    """Allocate the scratch of one thread.

    Parameters
    ----------
    X : CSR, shape (n, d)

    Returns
    -------
    Local
    """
    n, d, nnz = X.n_rows, X.n_columns, len(X.data)
    full = X.indices is None
    data, indices, features, local_id, dense = separate_arrays([nnz, 0 if full else nnz, d, d, d])
    dense[:] = 0
    local_id = local_id.view(np.int32)
    local_id[:] = -1
    features = features.view(np.int32)
    if full:
        features[:] = np.arange(d)
    return Local(
        data,
        None if full else indices.view(np.int32),
        np.zeros(n + 1, np.int64),
        features,
        local_id,
        dense,
        np.zeros(n, bool),
        np.arange(n, dtype=np.int32),
        make_workspace(n, d),
    )


@strict_kernel
def scatter(features, weights, dense):
    """w_f for every feature of a support."""
    for e in range(len(features)):
        dense[features[e]] = weights[e]


@strict_kernel
def clear(features, dense):
    """Undo :func:`scatter`."""
    for e in range(len(features)):
        dense[features[e]] = 0


@strict_kernel
def gather_rows(X, rows, local):
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
    """Number features in the order in which they are met; full rows keep theirs. Returns how many there are."""
    if indices is None:
        return len(local.features)
    n_features = 0
    for k in range(np.uint64(filled)):
        feature = np.uint32(indices[k])
        number = local.local_id[feature]
        if number < 0:
            number = n_features
            local.local_id[feature] = number
            local.features[n_features] = feature
            n_features += 1
        indices[k] = number
    for e in range(n_features):
        local.local_id[local.features[e]] = -1
    return n_features


@kernel
def solve_rows(X, rows, n_positives, positive_cost, target, local, settings):
    """Minimise over chosen rows, from ``local.dense``; the result stands in ``local.work.weights``."""
    part, work = local_problem(X, rows, local)
    for e in range(part.n_columns):
        work.weights[e] = local.dense[local.features[e]]
    pose(part, local.first[:n_positives], np.float32(positive_cost), work)
    return part.n_columns, minimise(part, target, work, settings)


@kernel
def local_problem(X, rows, local):
    """The chosen rows as a matrix of their own features, and vectors of its sizes."""
    m = len(rows)
    n_features = gather_rows(X, rows, local)
    work = local.work
    part = CSR(local.data, local.indices, local.indptr[: m + 1], n_features)
    view = Workspace(
        work.signed_costs[:m],
        work.scores[:m],
        work.score_steps[:m],
        work.active[:m],
        work.slopes[:m],
        work.curvatures[:m],
        work.weights[:n_features],
        work.gradient[:n_features],
        work.step[:n_features],
        work.residual[:n_features],
        work.direction[:n_features],
        work.curved[:n_features],
        work.preconditioner[:n_features],
    )
    return part, view


@kernel
def violators(X, candidates, rows, local, found, scores):
    """{i in candidates, not in the working set : <w, x_i> > -1} and their scores; returns their number."""
    for i in rows:
        local.member[i] = True
    count = 0
    for i in candidates:
        if not local.member[i]:
            found[count] = i
            scores[count] = row_dot(X.data, X.indices, X.indptr[i], X.indptr[i + 1], local.dense)
            count += scores[count] > -1.0
    for i in rows:
        local.member[i] = False
    return count
