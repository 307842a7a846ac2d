"""Threads of libraries: none but ours, so that a job has as many as it was told."""

import os

ONE_THREAD = dict.fromkeys(
    [
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "ARROW_IO_THREADS",
    ],
    "1",
)  # fmt: skip
"""Environment that keeps libraries from starting threads of their own."""


def hold_libraries():
    """Keep libraries that are loaded from now on, and in processes started from here, to one thread.

    Otherwise each process would start a thread of BLAS on every CPU of the
    machine as soon as it imports NumPy, whatever a scheduler gave it.
    """
    os.environ.update(ONE_THREAD)
