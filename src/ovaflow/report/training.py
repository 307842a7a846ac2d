"""How the training of a run went, label by label, summed up."""

from dataclasses import dataclass

import numpy as np

from ovaflow.solver.problem import Status

TOLERANCE = 1e-6
"""Relative rounding allowed between the gradient norm and its target."""


PER_LABEL = ("positives", "newton_steps", "cg_steps", "seconds")
"""Statistics that are kept label by label."""


@dataclass(frozen=True)
class Training:
    """Training statistics of a run.

    Attributes
    ----------
    core_seconds : float
        Threads times wall seconds of the solver, all shards.
    shards : int
    peak_rss_bytes : int
        Largest resident memory of a shard job.
    trained, untrained : int
        Labels with and without a classifier.
    reached, above : int
        Trained labels whose final gradient norm is within the target, and the
        others (a norm that is not a number among them).
    endings : dict of str to int
        The others by what the solver says of them, in words.
    worst_ratio : float or None
        Largest gradient norm over its target; None without trained labels.
    positives, newton_steps, cg_steps : ndarray of int64, shape (trained,)
    seconds : ndarray of float64, shape (trained,)
    halvings_per_label : float or None
    """

    core_seconds: float
    shards: int
    peak_rss_bytes: int
    trained: int
    untrained: int
    reached: int
    above: int
    endings: dict
    worst_ratio: float | None
    positives: np.ndarray
    newton_steps: np.ndarray
    cg_steps: np.ndarray
    seconds: np.ndarray
    halvings_per_label: float | None

    @property
    def newton_per_label(self):
        """Mean Newton steps of a trained label."""
        return _mean(self.newton_steps)

    @property
    def cg_per_label(self):
        """Mean conjugate gradient steps of a trained label."""
        return _mean(self.cg_steps)


def summarise(recorded):
    """Sum up per-label statistics.

    Parameters
    ----------
    recorded : ovaflow.model.training_file.Training

    Returns
    -------
    Training
    """
    statistics = recorded.statistics
    trained = np.asarray(statistics["positives"]) > 0
    norm, target = (np.asarray(statistics[name])[trained] for name in ("gradient_norm", "gradient_target"))
    reached = norm <= target * (1 + TOLERANCE)
    return Training(
        core_seconds=recorded.core_seconds,
        shards=recorded.shards,
        peak_rss_bytes=recorded.peak_rss_bytes,
        trained=int(trained.sum()),
        untrained=int((~trained).sum()),
        reached=int(reached.sum()),
        above=int((~reached).sum()),
        endings=_endings(np.asarray(statistics["status"])[trained][~reached]),
        worst_ratio=_worst(norm, target),
        **{name: np.asarray(statistics[name])[trained] for name in PER_LABEL},
        halvings_per_label=_mean(np.asarray(statistics["line_search_halvings"])[trained]),
    )


def _endings(status):
    codes, amounts = np.unique(status, return_counts=True)
    known = {int(each): each.name.replace("_", " ").lower() for each in Status}
    return {known.get(int(code), f"status {code}"): int(amount) for code, amount in zip(codes, amounts, strict=True)}


def _mean(array):
    return float(np.mean(array)) if len(array) else None


def _worst(norm, target):
    ratios = norm[target > 0] / target[target > 0]
    return float(ratios.max()) if len(ratios) else None


def histogram(steps, last=30):
    """Share of labels by number of steps.

    Parameters
    ----------
    steps : ndarray of int, shape (m,)
    last : int
        Everything from here on is counted together.

    Returns
    -------
    ndarray of float64, shape (last + 1,)
        Sums to 1, or zeros when m is 0.
    """
    return np.bincount(np.minimum(steps, last), minlength=last + 1) / max(len(steps), 1)
