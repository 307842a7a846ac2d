"""The table of all runs of a config: settings that differ, metrics, costs, and remarks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from ovaflow.console.errors import InputError
from ovaflow.evaluation.metric import get_metric, run_list_metric_names
from ovaflow.evaluation.metrics import prefix_dev_metrics
from ovaflow.report import wording
from ovaflow.report.tables import Cell, Column, Row, Table, make_table
from ovaflow.results.run import Run
from ovaflow.results.runs import Runs
from ovaflow.results.settings_in_words import describe_settings, find_differing_settings
from ovaflow.settings import paths
from ovaflow.settings.configuration import Config
from ovaflow.settings.inputs import make_step_parameters


@dataclass(frozen=True)
class ListedRun:
    """A run of a config, which may not be trained yet."""

    run: Run
    settings: dict[str, str]  # of the model, and those of the config that no model records
    remark: str  # why metrics are missing, or should not be compared
    # content of metrics.json; empty where there is none of this model
    metrics: dict[str, Any] = field(default_factory=dict)
    # joined metrics of a cross-validation; empty without one
    folds: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.run.name

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.run.compared_runs.folder.name

    @property
    def predict_milliseconds(self) -> float | None:
        """Wall time of scoring a test instance; None without metrics."""
        return self.run.predict_milliseconds if self.metrics else None

    @property
    def metrics_of_all_parts(self) -> dict[str, Any]:
        """Metrics, with those on the dev part and the means over folds."""
        on_dev = prefix_dev_metrics(self.metrics.get("dev", {}))
        return self.metrics | on_dev | self._get_folds_metrics("mean")

    @property
    def intervals(self) -> dict[str, Any]:
        """Intervals of the metrics, of those on the dev part and of the means over folds."""
        on_dev = prefix_dev_metrics(self.metrics.get("dev", {}).get("intervals", {}))
        of_test = self.metrics.get("intervals", {})
        return of_test | on_dev | self._get_folds_metrics("interval")

    def _get_folds_metrics(self, key: str) -> dict[str, Any]:
        """Return a number about each metric over the folds, by ``folds P@1`` and the like."""
        metrics = self.folds.get("metrics", {})
        return {f"folds {name}": joined[key] for name, joined in metrics.items()}


def list_runs(config: Config) -> list[ListedRun]:
    """List the runs of a config in this folder, dataset by dataset.

    Only headers of models, metrics and folds are read.
    """
    all_listed = []
    for dataset in config.datasets:
        runs = Runs(Path(paths.DATASET_FOLDER.format(dataset=dataset)), tuple(config.runs))
        listed = [_list_run(config, dataset, run) for run in runs.all]
        measured = [run for run in listed if run.metrics]
        if measured:
            listed = [_compare_datasets(run, measured[0]) for run in listed]
        all_listed += listed
    return all_listed


def _list_run(config: Config, dataset: str, run: Run) -> ListedRun:
    planned = _describe_planned_settings(config, dataset, run.name)
    listed = ListedRun(run, planned, "not made yet")
    if not run.model_path.exists():
        return listed
    # what can be read before an error is kept
    try:
        settings = describe_settings(run.model.parameters, {})
        changes = "; ".join(_describe_changes(planned, settings))
        listed = replace(listed, settings=planned | settings, remark=changes)
        listed = replace(listed, folds=run.folds)
        return replace(listed, metrics=run.all_metrics)
    except InputError as error:
        return replace(listed, remark=str(error).removeprefix(f"{run.folder}/"))


def _compare_datasets(listed: ListedRun, first: ListedRun) -> ListedRun:
    """Add a remark where the dataset may differ from that of the first run with metrics."""
    if not listed.metrics:
        return listed
    if listed.run.model.inputs.get("dataset") == first.run.model.inputs.get("dataset"):
        return listed
    remark = f"made from another dataset.h5 than {first.name}, perhaps with other test records"
    if listed.remark:
        remark = f"{listed.remark}; {remark}"
    return replace(listed, remark=remark)


def _describe_planned_settings(config: Config, dataset: str, run: str) -> dict[str, str]:
    """Describe the settings of a run in the config."""
    settings: dict[str, Any] = {"method": config.runs[run].method}
    for step in ("train-shard", "merge"):
        settings |= make_step_parameters(step, config, dataset, run)
    settings |= config.section("predict", dataset, run).model_dump()
    for name, value in settings.items():
        if isinstance(value, list):
            settings[name] = ", ".join(str(entry) for entry in value)
    return describe_settings(settings, {})


def _describe_changes(planned: dict[str, str], settings: dict[str, str]) -> Iterator[str]:
    """Describe settings that differ between config and model, except those chosen automatically."""
    for name, value in planned.items():
        if name in settings and value not in ("auto", settings[name]):
            yield f"made with {name} {settings[name]}, the config has {value}"


def list_brief_metrics() -> list[str]:
    """List the metrics on a terminal: those of the test set, the dev part and folds."""
    names = []
    for prefix in ("", "dev ", "folds "):
        names += [f"{prefix}{name}" for name in run_list_metric_names()]
    return names


def list_measured_metrics(runs: Sequence[ListedRun]) -> list[str]:
    """List all metrics with intervals that some run has."""
    names: dict[str, None] = {}
    for run in runs:
        names |= dict.fromkeys(run.intervals)
    return list(names)


def make_listing_table(runs: Sequence[ListedRun], metrics: Sequence[str]) -> Table:
    """Make a table with a row for each run, and a column for each metric that some run has."""
    present: set[str] = set()
    for run in runs:
        present |= run.metrics_of_all_parts.keys()
    columns = [Column("run", attrgetter("name"))]
    for name in find_differing_settings([run.settings for run in runs]):
        columns.append(Column(name.replace("_", " "), partial(_get_setting, name)))
    for name in metrics:
        if name in present:
            columns.append(_make_metric_column(name))
    columns += COST_COLUMNS
    if any(run.remark for run in runs):
        columns.append(Column("remark", attrgetter("remark")))
    return make_table("Runs", "dataset", columns, runs, _make_row)


def _make_row(run: ListedRun, cells: list[Cell]) -> Row:
    return Row(run.dataset, cells)


def _get_setting(name: str, run: ListedRun) -> str:
    return run.settings.get(name, wording.MISSING)


def _make_metric_column(name: str) -> Column:
    metric, _ = get_metric(name.removeprefix("dev ").removeprefix("folds "))
    text = wording.FORMAT_BY_UNIT[metric.unit].short
    return Column(
        name,
        lambda run: run.metrics_of_all_parts.get(name),
        text,
        bounds=lambda run: run.intervals.get(name),
        spread=text,
    )


COST_COLUMNS = (
    Column("training", lambda run: run.metrics.get("train_seconds"), wording.duration, unit="s"),
    Column("ms / instance", attrgetter("predict_milliseconds"), wording.decimal),
    Column("model", lambda run: run.metrics.get("model_bytes"), wording.size, unit="bytes"),
)
"""Processor time of the solver, wall time of prediction, and bytes of the model file."""


def make_json_entry(run: ListedRun) -> dict[str, Any]:
    """Make the JSON of a run: the content of its row, and all metrics."""
    entry: dict[str, Any] = {
        "dataset": run.dataset,
        "run": run.name,
        "settings": run.settings,
        "metrics": run.metrics,
    }
    if run.folds:
        entry["folds"] = run.folds
    entry["predict_milliseconds"] = run.predict_milliseconds
    entry["remark"] = run.remark
    return entry
