"""Truncated, preconditioned conjugate gradient for H p = -g."""

import numpy as np

from ovaflow.solver.objective import dot, fill_curved
from ovaflow.sparse.jit import kernel

FLAT = 1e-16
"""<d, H d> under which a direction is exhausted: with no active instance H = I and one step is exact."""


@kernel
def solve_newton_system(X, work, n_active, settings):
    """Fill the step p = -H^-1 g, until k (Q_k - Q_{k-1}) >= tol Q_k; returns the steps taken.

    Q_k is the quadratic model after k steps and tol = min(1/2, sqrt(|g|_{M^-1}))
    (LIBLINEAR 2.40; MSI sec. 5).
    """
    energy = _start(work)
    tolerance = min(0.5, np.sqrt(np.sqrt(energy)))
    model = 0.0
    for k in range(1, settings.max_cg + 1):
        fill_curved(X, work, n_active, settings.C)
        curvature = dot(work.direction, work.curved)
        if curvature <= FLAT:
            return k
        new_model, new_energy = _move(work, np.float32(energy / curvature))
        if k * (new_model - model) >= tolerance * new_model:
            return k
        _turn(work, np.float32(new_energy / energy))
        model, energy = new_model, new_energy
    return settings.max_cg


@kernel
def _start(work):
    """Set p = 0, r = -g, d = M^-1 r; returns <r, M^-1 r>."""
    energy = np.float32(0.0)
    for j in range(len(work.gradient)):
        residual = -work.gradient[j]
        scaled = residual / work.preconditioner[j]
        work.step[j] = 0.0
        work.residual[j] = residual
        work.direction[j] = scaled
        energy += residual * scaled
    return np.float64(energy)


@kernel
def _move(work, length):
    """Step p += a d, r -= a H d; returns Q = 1/2 <p, g - r> and <r, M^-1 r>."""
    model = np.float32(0.0)
    energy = np.float32(0.0)
    for j in range(len(work.step)):
        step = work.step[j] + length * work.direction[j]
        residual = work.residual[j] - length * work.curved[j]
        work.step[j] = step
        work.residual[j] = residual
        model += step * (work.gradient[j] - residual)
        energy += residual * residual / work.preconditioner[j]
    return 0.5 * np.float64(model), np.float64(energy)


@kernel
def _turn(work, ratio):
    """Next direction d = M^-1 r + b d."""
    for j in range(len(work.direction)):
        work.direction[j] = work.residual[j] / work.preconditioner[j] + ratio * work.direction[j]
