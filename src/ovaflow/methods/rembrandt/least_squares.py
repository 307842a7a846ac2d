"""Least squares with many right-hand sides: min_Z |T - X Z|^2 + ridge |Z|^2.

Few features: the Gram matrix is factored once, in double precision. Many: a
panel of 64 right-hand sides at a time by conjugate gradients on the normal
equations (CGLS; Bjorck 1996, algorithm 7.4.1), each with its own step lengths,
preconditioned by the diagonal. The columns share every pass over X. A block
method that shares directions as well would save iterations but cost O(d s^2)
each: more than the sparse products on texts.
"""

from functools import cached_property

import numpy as np
import scipy.linalg

from ovaflow.methods.rembrandt.panels import make_row_blocks, with_transpose
from ovaflow.sparse.panel import multiply_panel

MAX_DIRECT_FEATURES = 1024
"""Features up to which the Gram matrix is factored."""

MAX_CGLS_ITERATIONS = 200

CGLS_TOLERANCE = 1e-3
"""Norm of a column's gradient, as a share of that at Z = 0, at which it is left alone."""

_BLOCK_ROWS = 4096
_TINY = np.float32(1e-30)


class LeastSquares:
    """Least-squares problems on one matrix X (n, d); ridge 0 gives the solution of least norm."""

    def __init__(self, X, ridge=0.0, each=map, tolerance=CGLS_TOLERANCE) -> None:
        self.X = X
        self._ridge = float(ridge)
        self._each = each
        self._tolerance = tolerance
        self.iterations = 0

    def solve(self, targets):
        """Fit all columns of T, panels (p, n, 64): Z in panels, float32 (p, d, 64)."""
        if self.X.n_columns <= MAX_DIRECT_FEATURES:
            return self._solve_directly(targets)
        solutions = list(self._each(self._descend, targets))
        self.iterations = max(iterations for _, iterations in solutions)
        return np.stack([Z for Z, _ in solutions])

    @cached_property
    def _both(self):
        return with_transpose(self.X)

    @cached_property
    def _scaling(self):
        """1 / (|column|^2 + ridge), float32 of shape (d, 1)."""
        _, columns = self._both
        squares = np.add.reduceat(
            np.append(np.square(columns.data), np.float32(0)), columns.indptr[:-1]
        )
        squares[np.diff(columns.indptr) == 0] = 0
        return (1 / np.maximum(squares + np.float32(self._ridge), _TINY)).astype(np.float32)[
            :, None
        ]

    def _descend(self, T):
        """Solve for one panel of right-hand sides by preconditioned CGLS; returns Z and the
        iterations.
        """
        X, columns = self._both
        Z = np.zeros((X.n_columns, T.shape[1]), np.float32)
        R = T.copy()
        S = np.empty_like(Z)
        Q = np.empty_like(T)
        multiply_panel(*columns.arrays, R, S)
        P = self._scaling * S
        gamma = _dots(S, P)
        goal = self._tolerance**2 * gamma
        iteration = 0
        while (gamma > goal).any() and iteration < MAX_CGLS_ITERATIONS:
            iteration += 1
            multiply_panel(*X.arrays, P, Q)
            curvature = _dots(Q, Q) + self._ridge * _dots(P, P)
            length = np.where(gamma > goal, gamma / np.maximum(curvature, 1e-300), 0).astype(
                np.float32
            )
            Z += length * P
            R -= length * Q
            multiply_panel(*columns.arrays, R, S)
            S -= np.float32(self._ridge) * Z
            U = self._scaling * S
            before = gamma
            gamma = np.where(gamma > goal, _dots(S, U), gamma)
            P *= np.where(before > goal, gamma / np.maximum(before, 1e-300), 0).astype(np.float32)
            P += U
        return Z, iteration

    def _solve_directly(self, targets):
        values, vectors = self._spectrum
        d = self.X.n_columns

        def moment(rows):
            return np.matmul(self._dense(rows).T, targets[:, rows].astype(np.float64))

        moments = sum(self._each(moment, make_row_blocks(self.X.n_rows, _BLOCK_ROWS)))
        kept = values > d * np.finfo(np.float64).eps * values.max(initial=0)
        inverse = np.where(kept, 1 / np.where(kept, values + self._ridge, 1), 0)
        return (vectors @ (inverse[:, None] * (vectors.T @ moments))).astype(np.float32)

    @cached_property
    def _spectrum(self):
        def product(rows):
            part = self._dense(rows)
            return part.T @ part

        return scipy.linalg.eigh(
            sum(self._each(product, make_row_blocks(self.X.n_rows, _BLOCK_ROWS)))
        )

    def _dense(self, rows):
        return self.X.part(rows.start, rows.stop).to_scipy().toarray().astype(np.float64)


def _dots(left, right):
    """<a_c, b_c> of each column, float64 of shape (64,)."""
    return np.einsum("ic,ic->c", left, right, dtype=np.float64)
