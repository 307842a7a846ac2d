"""Dense products in blocks of rows and panels of 64 columns, the same for any number of threads.

BLAS divides sums among its own threads, and rounds differently for each number of them. So it runs
on one thread here, over blocks whose sizes depend on the data alone, and the contributions of the
blocks are added up in their order.

A matrix (n, s) in panels is an array float32 (ceil(s / 64), n, 64), filled up with zeros.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ovaflow.machine.pinning import pin_thread
from ovaflow.sparse.csr import CSR, omit_full_indices, transpose
from ovaflow.sparse.panel import PANEL_WIDTH, multiply_panel

_BLOCK_ROWS = 8192

Map = Callable[..., Iterable[Any]]
"""The built-in ``map``, or that of a pool of threads."""


@contextmanager
def parallel_map(threads: int) -> Iterator[Map]:
    """Provide ``map`` over threads that take blocks, each with BLAS on one thread."""
    with (
        threadpool_limits(1, user_api="blas"),
        ThreadPoolExecutor(threads, initializer=pin_thread) as pool,
    ):
        yield pool.map


def run_blocks(parallel: Map, function: Callable[..., None], blocks: Iterable[Any]) -> None:
    """Call a function for each block, and wait until all calls are finished."""
    for _ in parallel(function, blocks):
        pass


def make_row_blocks(n: int, size: int) -> list[slice]:
    """Divide n rows into blocks of a size."""
    return [slice(low, min(low + size, n)) for low in range(0, n, size)]


def count_panels(s: int) -> int:
    """Return the number of panels of s columns."""
    return -(-s // PANEL_WIDTH)


def zero_panels(n: int, s: int) -> np.ndarray:
    """Allocate panels of zeros for a matrix (n, s)."""
    return np.zeros((count_panels(s), n, PANEL_WIDTH), np.float32)


def to_panels(matrix: np.ndarray) -> np.ndarray:
    """Cut a matrix (n, s) into panels."""
    n, s = matrix.shape
    panels = zero_panels(n, s)
    for number, panel in enumerate(panels):
        columns = matrix[:, number * PANEL_WIDTH : (number + 1) * PANEL_WIDTH]
        panel[:, : columns.shape[1]] = columns
    return panels


def from_panels(panels: np.ndarray, s: int, dtype: type = np.float64) -> np.ndarray:
    """Join panels to a matrix (n, s)."""
    matrix: np.ndarray = np.empty((panels.shape[1], s), dtype)
    for number, panel in enumerate(panels):
        columns = matrix[:, number * PANEL_WIDTH : (number + 1) * PANEL_WIDTH]
        columns[:] = panel[:, : columns.shape[1]]
    return matrix


def multiply_panels(
    matrix: CSR, panels: np.ndarray, parallel: Map = map, out: np.ndarray | None = None
) -> np.ndarray:
    """Multiply a sparse matrix (n, d) by a matrix (d, s) in panels.

    Parameters
    ----------
    matrix : CSR, shape (n, d)
    panels : ndarray of float32, shape (p, d, 64)
    parallel : callable, default=map
        By :func:`parallel_map`.
    out : ndarray of float32, shape (p, n, 64), optional
        The array for the product.

    Returns
    -------
    ndarray of float32, shape (p, n, 64)
    """
    matrix = omit_full_indices(matrix)
    if out is None:
        out = np.empty((len(panels), matrix.n_rows, PANEL_WIDTH), np.float32)
    blocks = []
    for panel in range(len(panels)):
        for rows in make_row_blocks(matrix.n_rows, _BLOCK_ROWS):
            blocks.append((panel, rows))

    def fill(block: tuple[int, slice]) -> None:
        panel, rows = block
        indptr = matrix.indptr[rows.start : rows.stop + 1]
        multiply_panel(matrix.data, matrix.indices, indptr, panels[panel], out[panel, rows])

    run_blocks(parallel, fill, blocks)
    return out


def with_transpose(matrix: CSR) -> tuple[CSR, CSR]:
    """Return a matrix and its transpose, both ready for :func:`multiply_panels`."""
    matrix = omit_full_indices(matrix)
    return matrix, transpose(matrix)
