"""The best run of a dataset: one rule for the page and for the last lines of a run."""

from collections.abc import Sequence
from typing import Any

BEST_BY = ("nDCG@5", "P@1")
"""Metrics by which runs are compared: the first that all of them have."""


def metric_of_comparison(runs: Sequence[Any]) -> str | None:
    """Name of the metric by which runs are compared; None where they share none of :data:`BEST_BY`."""
    for name in BEST_BY:
        if runs and all(run.metrics.get(name) is not None for run in runs):
            return name
    return None


def best_run(runs: Sequence[Any]) -> Any:
    """Find the run of the highest nDCG@5, or P@1 where one lacks it; of equal ones the first.

    Runs are anything with ``metrics`` by name, in the order of the config. Runs without metrics do
    not count. None where no run has metrics; the first of those with metrics where they share no
    metric.
    """
    measured = [run for run in runs if run.metrics]
    if not measured:
        return None
    name = metric_of_comparison(measured)
    if name is None:
        return measured[0]
    return max(measured, key=lambda run: run.metrics[name])
