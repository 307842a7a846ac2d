"""What a trace tells: quantities by Newton iteration, over the labels of a sample."""

from dataclasses import dataclass

import numpy as np

from ovaflow.report.bands import FEWEST, Band, band, by_positives

SMALLEST_GAP = 1e-6
"""Rounding of the objective in float32; smaller gaps mean nothing."""

_STILL_SOLVED = 0.1
_DRAWN = 0.95
_BINS_PER_DECADE = 2


@dataclass(frozen=True)
class Curves:
    """How a run's sampled labels were solved.

    Attributes
    ----------
    n_labels : int
    iterations : int
        After so many, 95 % of the labels were solved.
    gap : Band
        Objective over that of the optimum, less 1, after 0, 1, 2, ...
        iterations; labels that are solved stay where they ended.
    multiplier : Band
        Step length that the line search found in iteration 1, 2, ...; the
        middle is the mean.
    active : Band
        Share of the instances that iteration 1, 2, ... looks at.
    milliseconds : Band
        Duration of iteration 1, 2, ...
    newton_by_positives, milliseconds_by_positives : Band
        Newton steps (middle: mean) and time of a label by its positives.
    """

    n_labels: int
    iterations: int
    gap: Band
    multiplier: Band
    active: Band
    milliseconds: Band
    newton_by_positives: Band
    milliseconds_by_positives: Band


def curves_of(trace):
    """Sum up a trace.

    Parameters
    ----------
    trace : ovaflow.model.trace_file.Trace

    Returns
    -------
    Curves or None
        None with too few labels to sum up.
    """
    n_labels = len(trace.starts) - 1
    if n_labels < FEWEST:
        return None
    steps = np.diff(trace.starts) - 1
    last = max(int(np.quantile(steps, _DRAWN, method="higher")), 1)
    gaps = trace.iterations["objective"] / np.repeat(trace.of_labels["optimum"], np.diff(trace.starts)) - 1
    milliseconds = 1000 * np.add.reduceat(trace.iterations["seconds"], trace.starts[:-1])
    positives = trace.of_labels["positives"]
    active = np.maximum(trace.iterations["active"], 1) / trace.n_instances
    return Curves(
        n_labels,
        last,
        band(range(last + 1), _carried_on(np.maximum(gaps, SMALLEST_GAP), trace.starts, last)),
        _by_iteration(trace.iterations["step_length"], trace.starts, np.mean),
        _by_iteration(active, trace.starts, before=1),
        _by_iteration(1000 * trace.iterations["seconds"], trace.starts),
        by_positives(positives, steps, np.mean, _BINS_PER_DECADE),
        by_positives(positives, milliseconds, bins_per_decade=_BINS_PER_DECADE),
    )


def _carried_on(values, starts, last):
    """Values after each iteration, those of solved labels as they were at the end."""
    return [values[np.minimum(starts[:-1] + step, starts[1:] - 1)] for step in range(last + 1)]


def _by_iteration(values, starts, middle=np.median, before=0):
    """Values of each iteration, over the labels that still need it."""
    steps = np.diff(starts) - 1
    enough = max(FEWEST, int(_STILL_SOLVED * len(steps)))
    places = [step for step in range(1, steps.max() + 1) if (steps >= step).sum() >= enough]
    return band(places, [values[starts[:-1][steps >= step] + step - before] for step in places], middle)
