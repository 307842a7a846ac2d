"""The best run of a dataset: one rule for the page and for the last lines of a run."""

from collections.abc import Sequence
from typing import Any

COMPARISON_METRICS = ("nDCG@5", "P@1")
"""Metrics by which runs are compared: the first that all of them have."""


def choose_comparison_metric(runs: Sequence[Any]) -> str | None:
    """Name of the metric by which runs are compared; None where they share none of :data:`BEST_BY`."""
    for name in COMPARISON_METRICS:
        if runs and all(run.metrics.get(name) is not None for run in runs):
            return name
    return None


def find_best_run(runs: Sequence[Any]) -> Any:
    """Find the run of the highest nDCG@5, or P@1 where one lacks it; of equal ones the first.

    Runs are anything with ``metrics`` by name, in the order of the config. Runs without metrics do
    not count. None where no run has metrics; the first of those with metrics where they share no
    metric.
    """
    measured = [run for run in runs if run.metrics]
    if not measured:
        return None
    name = choose_comparison_metric(measured)
    if name is None:
        return measured[0]
    return max(measured, key=lambda run: run.metrics[name])
