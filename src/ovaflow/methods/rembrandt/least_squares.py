"""Least squares with many right-hand sides: min_Z |T - X Z|^2 + ridge |Z|^2.

With few features the Gram matrix is factored once, in double precision. With many, a panel of 64
right-hand sides at a time is solved by conjugate gradients on the normal equations (CGLS; Bjorck
1996, algorithm 7.4.1), each with its own step lengths, preconditioned by the diagonal. The columns
share every pass over X. A block method that shares directions as well would save iterations but
cost O(d s^2) each: more than the sparse products on texts.
"""

from functools import cached_property

import numpy as np
import scipy

from ovaflow.methods.rembrandt.panels import Map, make_row_blocks, with_transpose
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.panel import multiply_panel

MAX_DIRECT_FEATURES = 1024
"""Features up to which the Gram matrix is factored."""

MAX_CGLS_ITERATIONS = 200
"""Iterations after which CGLS stops, converged or not."""

CGLS_TOLERANCE = 1e-3
"""Norm of a column's gradient, relative to that at Z = 0, at which the column has converged."""

_BLOCK_ROWS = 4096
_MIN_DIAGONAL = np.float32(1e-30)
_MIN_DENOMINATOR = 1e-300


class LeastSquares:
    """Least-squares problems on one matrix X (n, d); ridge 0 gives the solution of least norm.

    After :meth:`solve`, ``iterations`` is the number of iterations of CGLS, 0 for direct solutions.
    """

    def __init__(
        self,
        X: CSR,
        ridge: float = 0.0,
        parallel: Map = map,
        tolerance: float = CGLS_TOLERANCE,
    ) -> None:
        self.X = X
        self._ridge = float(ridge)
        self._parallel = parallel
        self._tolerance = tolerance
        self.iterations = 0

    def solve(self, targets: np.ndarray) -> np.ndarray:
        """Fit all columns of T, panels (p, n, 64): Z in panels, float32 (p, d, 64)."""
        if self.X.n_columns <= MAX_DIRECT_FEATURES:
            return self._solve_directly(targets)
        solutions = list(self._parallel(self._solve_by_cgls, targets))
        self.iterations = max(iterations for _, iterations in solutions)
        return np.stack([Z for Z, _ in solutions])

    @cached_property
    def _with_transpose(self) -> tuple[CSR, CSR]:
        return with_transpose(self.X)

    @cached_property
    def _preconditioner(self) -> np.ndarray:
        """1 / (|column|^2 + ridge), float32 of shape (d, 1)."""
        _, columns = self._with_transpose
        # a last zero, since trailing empty columns begin behind the data
        squared = np.append(np.square(columns.data), np.float32(0))
        squares = np.add.reduceat(squared, columns.indptr[:-1])
        squares[np.diff(columns.indptr) == 0] = 0
        diagonal = np.maximum(squares + np.float32(self._ridge), _MIN_DIAGONAL)
        return (1 / diagonal).astype(np.float32)[:, None]

    def _solve_by_cgls(self, T: np.ndarray) -> tuple[np.ndarray, int]:
        """Solve for one panel of right-hand sides; return Z and the number of iterations."""
        X, columns = self._with_transpose
        Z = np.zeros((X.n_columns, T.shape[1]), np.float32)
        R = T.copy()
        S = np.empty_like(Z)
        Q = np.empty_like(T)
        _multiply(columns, R, S)
        P = self._preconditioner * S
        gamma = _dot_columns(S, P)
        goal = self._tolerance**2 * gamma
        iteration = 0
        while (gamma > goal).any() and iteration < MAX_CGLS_ITERATIONS:
            iteration += 1
            _multiply(X, P, Q)
            curvature = _dot_columns(Q, Q) + self._ridge * _dot_columns(P, P)
            steps = np.where(gamma > goal, gamma / np.maximum(curvature, _MIN_DENOMINATOR), 0)
            steps = steps.astype(np.float32)
            Z += steps * P
            R -= steps * Q
            _multiply(columns, R, S)
            S -= np.float32(self._ridge) * Z
            U = self._preconditioner * S
            previous = gamma
            gamma = np.where(gamma > goal, _dot_columns(S, U), gamma)
            factors = np.where(previous > goal, gamma / np.maximum(previous, _MIN_DENOMINATOR), 0)
            P *= factors.astype(np.float32)
            P += U
        return Z, iteration

    def _solve_directly(self, targets: np.ndarray) -> np.ndarray:
        """Solve by the eigendecomposition of the Gram matrix."""
        values, vectors = self._spectrum
        d = self.X.n_columns

        def compute_moment(rows: slice) -> np.ndarray:
            return np.matmul(self._make_dense(rows).T, targets[:, rows].astype(np.float64))

        blocks = make_row_blocks(self.X.n_rows, _BLOCK_ROWS)
        moments = sum(self._parallel(compute_moment, blocks))
        kept = values > d * np.finfo(np.float64).eps * values.max(initial=0)
        inverse = np.where(kept, 1 / np.where(kept, values + self._ridge, 1), 0)
        return (vectors @ (inverse[:, None] * (vectors.T @ moments))).astype(np.float32)

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of X^T X."""

        def compute_gram(rows: slice) -> np.ndarray:
            part = self._make_dense(rows)
            return part.T @ part

        blocks = make_row_blocks(self.X.n_rows, _BLOCK_ROWS)
        return scipy.linalg.eigh(sum(self._parallel(compute_gram, blocks)))

    def _make_dense(self, rows: slice) -> np.ndarray:
        return self.X.part(rows.start, rows.stop).to_scipy().toarray().astype(np.float64)


def _multiply(matrix: CSR, panel: np.ndarray, out: np.ndarray) -> None:
    """Multiply a sparse matrix by one panel."""
    multiply_panel(matrix.data, matrix.indices, matrix.indptr, panel, out)


def _dot_columns(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Compute <a_c, b_c> of each column, float64 of shape (64,)."""
    return np.einsum("ic,ic->c", left, right, dtype=np.float64)
