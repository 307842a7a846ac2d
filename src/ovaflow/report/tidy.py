"""All numbers of all runs as one table with one in each row, for pandas and the like."""

from collections.abc import Iterator, Sequence
from numbers import Number
from typing import Any, NamedTuple

from ovaflow.evaluation.resampling import interval
from ovaflow.report.costs import COST_COLUMNS
from ovaflow.report.frequency import describe_range
from ovaflow.report.gather import DatasetResults
from ovaflow.report.tables import format_csv
from ovaflow.results.run import Run

TIDY_COLUMNS = ("dataset", "run", "method", "initialization", "figure", "value", "low", "high")


class _Number(NamedTuple):
    """A number of a run; ``low`` and ``high`` end its 95 % interval, where it has one."""

    name: str
    value: Any
    low: float | None = None
    high: float | None = None


def format_tidy_csv(all_results: Sequence[DatasetResults]) -> str:
    """Format every number of the runs as a CSV file.

    Numbers with samples or folds have a 95 % interval.
    """
    rows = []
    for results in all_results:
        for run in results.runs:
            method = run.settings.get("method")
            initialization = run.settings.get("initialization")
            for number in _list_numbers(run):
                rows.append((results.data.name, run.name, method, initialization, *number))
    return format_csv(TIDY_COLUMNS, rows)


def _list_numbers(run: Run) -> Iterator[_Number]:
    for name, value in run.metrics.items():
        if _is_number(value):
            low = high = None
            if run.samples.get(name) is not None:
                low, high = interval(run.samples[name])
            yield _Number(name, value, low, high)
    yield from _list_entries("first stage", run.metrics.get("first_stage", {}))
    yield from _list_entries("without near twins", run.metrics.get("without_near_twins", {}))
    yield from _list_dev_numbers(run.metrics.get("dev", {}))
    for name, number in run.folds.get("metrics", {}).items():
        low, high = number["interval"]
        yield _Number(f"cross-validated {name}", number["mean"], low, high)
        yield from _list_entries(f"cross-validated {name}", {"deviation": number["deviation"]})
    for cost in COST_COLUMNS:
        value = cost.value(run)
        if value is not None:
            yield _Number(f"cost: {cost.title}", value)
    for group in run.analysis.get("bins", ()):
        yield from _list_entries(f"labels of {describe_range(group)} training positives:", group)
    yield from _list_numbers_of_second_stage(run.reliability)


def _list_dev_numbers(dev: dict[str, Any]) -> Iterator[_Number]:
    intervals = dev.get("intervals", {})
    for name, value in dev.items():
        if _is_number(value):
            low, high = intervals.get(name, (None, None))
            yield _Number(f"dev {name}", value, low, high)


def _list_numbers_of_second_stage(reliability: dict[str, Any]) -> Iterator[_Number]:
    for row in reliability.get("automatic", ()):
        yield from _list_entries(f"labels of at least {row['probability']:g}:", row)
    for row in reliability.get("sure", ()):
        yield from _list_entries(f"texts of expected precision {row['level']:g}:", row)
    for row in reliability.get("suggested", ()):
        if row["name"] == "fit":
            yield from _list_entries("labels that fit:", row)
        else:
            yield from _list_entries(f"first {row['name']}:", row)
    check = reliability.get("fitted", {}).get("check", {})
    yield from _list_entries("evidence lost:", check.get("lost", {}))
    for name in ("probabilities", "likely"):
        yield from _list_entries(f"{name}:", reliability.get(name) or {})


def _list_entries(prefix: str, entries: dict[str, Any]) -> Iterator[_Number]:
    """List the numbers among some entries, with a prefix of their names."""
    for name, value in entries.items():
        if _is_number(value):
            yield _Number(f"{prefix} {name}", value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)
