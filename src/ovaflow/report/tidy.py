"""All figures of all runs as one table, a figure in each row, for pandas and the like."""

from numbers import Number

from ovaflow.evaluation.resampling import interval
from ovaflow.report.tables import csv_of

COLUMNS = ("dataset", "run", "method", "initialization", "figure", "value", "low", "high")


def tidy_csv(all_results):
    """CSV of the metrics of the runs; low and high end the 95 % interval of those that have samples or folds."""
    rows = []
    for results in all_results:
        for run in results.runs:
            about = [results.card.name, run.name, *(run.settings.get(name) for name in ("method", "initialization"))]
            for name, value in run.metrics.items():
                if isinstance(value, Number) and not isinstance(value, bool):
                    sampled = (run.samples or {}).get(name)
                    bounds = (None, None) if sampled is None else interval(sampled)
                    rows.append([*about, name, value, *bounds])
            on_dev = run.metrics.get("dev", {})
            for name in on_dev.get("intervals", {}):
                rows.append([*about, f"dev {name}", on_dev[name], *on_dev["intervals"][name]])
            for name, figure in run.read.get("folds", {}).get("metrics", {}).items():
                rows.append([*about, f"cross-validated {name}", figure["mean"], *figure["interval"]])
    return csv_of(COLUMNS, rows)
