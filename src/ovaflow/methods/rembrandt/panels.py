"""Dense work in blocks of rows and panels of 64 columns, so that the number of threads changes no
bit of a result.

BLAS divides sums among its own threads, and rounds differently for each number
of them. So it runs on one thread here, over blocks whose sizes depend on the
data alone, and what blocks contribute is added up in their order.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from threadpoolctl import threadpool_limits

from ovaflow.machine.pinning import pin_thread
from ovaflow.sparse.csr import omit_full_indices, transpose
from ovaflow.sparse.panel import PANEL_WIDTH, multiply_panel

_ROWS = 8192


@contextmanager
def parallel_map(threads):
    """``map`` over threads that take blocks, with BLAS held to one thread in each."""
    with (
        threadpool_limits(1, user_api="blas"),
        ThreadPoolExecutor(threads, initializer=pin_thread) as pool,
    ):
        yield pool.map


def make_row_blocks(n, size):
    return [slice(low, min(low + size, n)) for low in range(0, n, size)]


def zero_panels(n, s):
    """Panels for a matrix (n, s): float32 (ceil(s / 64), n, 64)."""
    return np.zeros((-(-s // PANEL_WIDTH), n, PANEL_WIDTH), np.float32)


def to_panels(matrix):
    """Cut a matrix (n, s) into panels, filled with zeros."""
    panels = zero_panels(*matrix.shape)
    for number, panel in enumerate(panels):
        columns = matrix[:, number * PANEL_WIDTH : (number + 1) * PANEL_WIDTH]
        panel[:, : columns.shape[1]] = columns
    return panels


def from_panels(panels, s, dtype=np.float64):
    """Join panels (p, n, 64) to a matrix (n, s)."""
    matrix = np.empty((panels.shape[1], s), dtype)
    for number, panel in enumerate(panels):
        columns = matrix[:, number * PANEL_WIDTH : (number + 1) * PANEL_WIDTH]
        columns[:] = panel[:, : columns.shape[1]]
    return matrix


def multiply_panels(matrix, panels, each=map, out=None):
    """X P of a CSR (n, d) and panels (p, d, 64): float32 (p, n, 64)."""
    matrix = omit_full_indices(matrix)
    if out is None:
        out = np.empty((len(panels), matrix.n_rows, PANEL_WIDTH), np.float32)
    blocks = [
        (panel, rows)
        for panel in range(len(panels))
        for rows in make_row_blocks(matrix.n_rows, _ROWS)
    ]

    def fill(block) -> None:
        panel, rows = block
        indptr = matrix.indptr[rows.start : rows.stop + 1]
        multiply_panel(matrix.data, matrix.indices, indptr, panels[panel], out[panel, rows])

    for _ in each(fill, blocks):
        pass
    return out


def with_transpose(matrix):
    """A matrix and its transpose, as :func:`multiply_panels` takes them."""
    matrix = omit_full_indices(matrix)
    return matrix, transpose(matrix)
