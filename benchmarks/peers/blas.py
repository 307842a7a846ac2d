"""The same Newton method on a dense array, with every product left to BLAS (sgemv).

It shows the cost of dense data.
"""

import math

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.mean_separating import compute_coefficients
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import Settings
from ovaflow.solver.stopping import Tolerance, compute_gradient_norm_at_zero, scale_tolerance
from peers.interface import OneByOne

MOST_ENTRIES = 1 << 29
"""Entries of the largest array, 2 GiB: sparse data would take thousands of times their size."""


class Newton(OneByOne):
    """Squared hinge from the mean-separating start, one label at a time, in float32."""

    def __init__(self, problem) -> None:
        super().__init__(problem)
        entries = math.prod(problem.X.shape)
        if entries > MOST_ENTRIES:
            raise InputError(
                f"an array of {entries:,} entries is too large", remedy="leave blas out of --peers"
            )
        self._settings = Settings(problem.C, LOSSES["squared-hinge"])
        self._tolerance = Tolerance(problem.epsilon)
        self._X = problem.X.toarray()
        self._x_mean = self._X.mean(axis=0, dtype=np.float64)

    def train_label(self, y) -> np.ndarray:
        X = self._X
        settings = self._settings
        y = y.astype(np.float32)
        w, target = self._start(np.flatnonzero(y > 0))
        scores = X @ w
        for _ in range(settings.max_newton):
            active = np.flatnonzero(y * scores < 1)
            rows = X[active]
            gradient = w + np.float32(2 * settings.C) * ((scores[active] - y[active]) @ rows)
            if np.linalg.norm(gradient) <= target:
                break
            step = _newton_step(rows, gradient, settings)
            score_step = X @ step
            length = _line_search(w, step, gradient @ step, y * scores, y * score_step, settings)
            if length == 0:
                break
            w += length * step
            scores += length * score_step
        return w

    def _start(self, positives) -> tuple[np.ndarray, float]:
        """Return the weights of the start, and the norm of the gradient to reach."""
        n = len(self._X)
        count = len(positives)
        x_mean = self._x_mean
        p_mean = self._X[positives].mean(axis=0, dtype=np.float64)
        pp = p_mean @ p_mean
        xp = x_mean @ p_mean
        xx = x_mean @ x_mean
        u, v = compute_coefficients(pp, xp, xx, count / n, 1.0, -2.0)
        at_zero = compute_gradient_norm_at_zero(self._settings.C, -2.0, n, count, pp, xp, xx)
        target = scale_tolerance(self._tolerance, count, n) * at_zero
        return (u * p_mean + v * x_mean).astype(np.float32), target


def _newton_step(rows, gradient, settings) -> np.ndarray:
    """Solve for the step by conjugate gradients as in :mod:`ovaflow.solver.newton`.

    H d = d + 2 C X_A^T (X_A d), with the rows X_A of active instances.
    """
    scale = np.float32(2 * settings.C)
    share = np.float32(settings.preconditioning)
    preconditioner = 1 + share * scale * np.einsum("ij,ij->j", rows, rows)
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = residual / preconditioner
    energy = residual @ direction
    model = np.float32(0)
    tolerance = min(0.5, np.sqrt(np.sqrt(energy)))
    for k in range(1, settings.max_cg + 1):
        Hd = direction + scale * ((rows @ direction) @ rows)
        length = energy / (direction @ Hd)
        step += length * direction
        residual -= length * Hd
        new_model = (step @ (gradient - residual)) / 2
        if k * (new_model - model) >= tolerance * new_model:
            break
        scaled = residual / preconditioner
        new_energy = residual @ scaled
        direction = scaled + (new_energy / energy) * direction
        model = new_model
        energy = new_energy
    return step


def _line_search(w, step, slope, margins, margin_steps, settings) -> np.float32:
    """Try step lengths 1, 1/2, 1/4, ... until the decrease suffices; return 0 if none does."""
    loss = np.square(np.maximum(1 - margins, 0)).sum(dtype=np.float64)
    for halvings in range(settings.max_line_search_halvings + 1):
        length = np.float32(0.5**halvings)
        moved = np.square(np.maximum(1 - margins - length * margin_steps, 0)).sum(dtype=np.float64)
        change = length * (w @ step) + length**2 / 2 * (step @ step) + settings.C * (moved - loss)
        if change <= settings.sufficient_decrease * length * slope:
            return length
    return np.float32(0)
