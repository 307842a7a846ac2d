"""The best run of a dataset, for the report and for the output of ``ovaflow run``."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

COMPARISON_METRICS = ("nDCG@5", "P@1")
"""Metrics by which runs are compared: the first that all of them have."""


class HasMetrics(Protocol):
    """A run, or anything else with metrics by name."""

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The metrics by name; empty where nothing was measured."""


AnyRun = TypeVar("AnyRun", bound=HasMetrics)


def choose_comparison_metric(runs: Sequence[HasMetrics]) -> str | None:
    """Return the first of :data:`COMPARISON_METRICS` that all runs have; None without one."""
    for name in COMPARISON_METRICS:
        if runs and all(run.metrics.get(name) is not None for run in runs):
            return name
    return None


def find_best_run(runs: Sequence[AnyRun]) -> AnyRun | None:
    """Find the run with the highest nDCG@5, or P@1 where a run lacks nDCG@5.

    Parameters
    ----------
    runs : sequence
        Runs in the order of the config. Those without metrics do not count.

    Returns
    -------
    run or None
        The first of equally good runs. The first run with metrics where the runs have neither
        metric in common; None where no run has metrics.
    """
    measured = [run for run in runs if run.metrics]
    if not measured:
        return None
    name = choose_comparison_metric(measured)
    if name is None:
        return measured[0]
    return max(measured, key=lambda run: run.metrics[name])
