"""All figures of all runs as one table, a figure in each row, for pandas and the like."""

from numbers import Number

from ovaflow.evaluation.resampling import interval
from ovaflow.report.costs import COST_COLUMNS
from ovaflow.report.frequency import describe_range
from ovaflow.report.tables import format_csv

TIDY_COLUMNS = ("dataset", "run", "method", "initialization", "figure", "value", "low", "high")


def format_tidy_csv(all_results):
    """CSV of every figure of the runs; low and high end the 95 % interval of those that have
    samples or folds.
    """
    rows = []
    for results in all_results:
        for run in results.runs:
            about = [
                results.card.name,
                run.name,
                *(run.settings.get(name) for name in ("method", "initialization")),
            ]
            rows += [[*about, *figure] for figure in _figures_of(run)]
    return format_csv(TIDY_COLUMNS, rows)


def _figures_of(run):
    for name, value in run.metrics.items():
        if _is_figure(value):
            sampled = run.samples.get(name)
            yield name, value, *((None, None) if sampled is None else interval(sampled))
    for part in ("first_stage", "without_near_twins"):
        yield from _named(part.replace("_", " "), run.metrics.get(part, {}))
    dev = run.metrics.get("dev", {})
    intervals = dev.get("intervals", {})
    for name, value in dev.items():
        if _is_figure(value):
            yield f"dev {name}", value, *intervals.get(name, (None, None))
    for name, figure in run.folds.get("metrics", {}).items():
        yield f"cross-validated {name}", figure["mean"], *figure["interval"]
        yield from _named(f"cross-validated {name}", {"deviation": figure["deviation"]})
    for cost in COST_COLUMNS:
        value = cost.value(run)
        if value is not None:
            yield f"cost: {cost.title}", value, None, None
    for group in run.analysis.get("bins", ()):
        yield from _named(f"labels of {describe_range(group)} training positives:", group)
    yield from _figures_of_second_stage(run.reliability)


def _figures_of_second_stage(measured):
    for row in measured.get("automatic", ()):
        yield from _named(f"labels of at least {row['probability']:g}:", row)
    for row in measured.get("sure", ()):
        yield from _named(f"texts of expected precision {row['level']:g}:", row)
    for row in measured.get("suggested", ()):
        yield from _named(
            f"first {row['name']}:" if row["name"] != "fit" else "labels that fit:", row
        )
    yield from _named("evidence lost:", measured.get("fitted", {}).get("check", {}).get("lost", {}))
    for name in ("probabilities", "likely"):
        yield from _named(f"{name}:", measured.get(name) or {})


def _named(prefix, figures):
    for name, value in figures.items():
        if _is_figure(value):
            yield f"{prefix} {name}", value, None, None


def _is_figure(value):
    return isinstance(value, Number) and not isinstance(value, bool)
