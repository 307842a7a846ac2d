"""The all-negative problem's solution, from which every label's sampled problem departs.

A rare label's solution differs little from that of a label without positives,
and its gradient there is known but for the positives' part. So the solution,
its gradient and a random sample of the instances are made once and shared.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import make_workspace
from ovaflow.sparse.csr import CSR, transpose

SAMPLE = 1024
"""Instances of the sample that stands for all."""

_SEED = 0


class Pivot(NamedTuple):
    """What the labels' sampled problems share; read by all threads.

    Attributes
    ----------
    weights : ndarray of float32, shape (d,)
        Solution of the problem with negatives only.
    gradient : ndarray of float32, shape (d,)
        Its gradient there.
    sample : ndarray of int32, shape (m,)
        Random instances, ascending.
    columns : CSR, shape (d, n)
        X transposed.
    """

    weights: np.ndarray
    gradient: np.ndarray
    sample: np.ndarray
    columns: CSR


def make_pivot(X, target, settings):
    """Solve the all-negative problem and draw the sample.

    Parameters
    ----------
    X : CSR, shape (n, d)
    target : float
        What its gradient's norm must reach; any value is right, a small one
        saves work later.
    settings : Settings

    Returns
    -------
    Pivot
    """
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    solve_label(X, np.empty(0, np.int32), target, work, settings)
    sample = np.random.default_rng(_SEED).choice(X.n_rows, min(SAMPLE, X.n_rows), replace=False)
    return Pivot(work.weights.copy(), work.gradient.copy(), np.sort(sample).astype(np.int32), transpose(X))
