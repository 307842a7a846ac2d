"""All runs of a config in one table: settings that differ, metrics, times and sizes, and what to
know of them.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.evaluation.metric import get_metric, run_list_metric_names
from ovaflow.evaluation.metrics import prefix_dev_figures
from ovaflow.report import wording
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.results.run import Run
from ovaflow.results.runs import Runs
from ovaflow.results.settings_in_words import describe_settings, find_differing_settings
from ovaflow.settings import paths
from ovaflow.settings.inputs import make_step_parameters


@dataclass(frozen=True)
class ListedRun:
    """A run of a config, whether it is there or not."""

    run: Run
    settings: dict  # in words: of the model, and of the config what no model records
    remark: str  # why figures are missing, or not to be compared
    metrics: dict = field(
        default_factory=dict
    )  # content of metrics.json; empty where there is none of this model
    folds: dict = field(
        default_factory=dict
    )  # joined metrics of a cross-validation, where there are some

    @property
    def name(self):
        return self.run.name

    @property
    def dataset(self):
        return self.run.beside.folder.name

    @property
    def predict_milliseconds(self):
        return self.run.predict_milliseconds if self.metrics else None

    @property
    def figures(self):
        """Its metrics, with those on the dev part and the means over folds."""
        return (
            self.metrics | prefix_dev_figures(self.metrics.get("dev", {})) | self._of_folds("mean")
        )

    @property
    def intervals(self):
        on_dev = self.metrics.get("dev", {}).get("intervals", {})
        return (
            self.metrics.get("intervals", {})
            | prefix_dev_figures(on_dev)
            | self._of_folds("interval")
        )

    def _of_folds(self, figure):
        """Return a figure of each metric over the folds, ``folds P@1`` and the like."""
        metrics = self.folds.get("metrics", {})
        return {f"folds {name}": figures[figure] for name, figures in metrics.items()}


def list_runs(config) -> list[ListedRun]:
    """List the runs of a config in this folder, dataset by dataset; only headers and metrics are
    read.
    """
    listed = []
    for dataset in config.datasets:
        runs = Runs(Path(paths.DATASET_FOLDER.format(dataset=dataset)), tuple(config.runs))
        of_dataset = [_list_run(config, dataset, run) for run in runs.all]
        first = next((each for each in of_dataset if each.metrics), None)
        listed += [_compare(each, first) for each in of_dataset]
    return listed


def _list_run(config, dataset, run):
    planned = _planned_settings(config, dataset, run.name)
    listed = ListedRun(run, planned, "not there yet")
    if not run.model_path.exists():
        return listed
    try:
        settings = describe_settings(run.model.parameters, {})
        changes = "; ".join(_changes(planned, settings))
        listed = replace(listed, settings=planned | settings, remark=changes)
        listed = replace(listed, folds=run.folds)
        return replace(listed, metrics=run.all_metrics)
    except InputError as error:
        return replace(listed, remark=str(error).removeprefix(f"{run.path}/"))


def _compare(listed, first):
    """Add a remark where the test records may be others than those of the first run with metrics."""
    if not listed.metrics or listed.run.model.inputs.get("dataset") == first.run.model.inputs.get(
        "dataset"
    ):
        return listed
    remark = f"of another dataset.h5 than {first.name}, perhaps of other test records"
    return replace(listed, remark="; ".join(filter(None, (listed.remark, remark))))


def _planned_settings(config, dataset, name):
    """What the config says of a run, in words."""
    steps = (make_step_parameters(step, config, dataset, name) for step in ("train-shard", "merge"))
    settings = {"method": config.runs[name].method}
    for each in (*steps, config.section("predict", dataset, name).model_dump()):
        settings |= each
    lists = {
        name: ", ".join(map(str, value))
        for name, value in settings.items()
        if isinstance(value, list)
    }
    return describe_settings(settings | lists, {})


def _changes(planned, settings):
    """Settings that the config has otherwise now than the model, but for those that are chosen
    automatically.
    """
    for name, value in planned.items():
        if name in settings and value not in ("auto", settings[name]):
            yield f"made with {name} {settings[name]}, the config has {value}"


def list_brief_metrics():
    """Names of the metrics on a terminal, of the test set, the dev part and folds; files have all
    with intervals.
    """
    return [f"{part}{name}" for part in ("", "dev ", "folds ") for name in run_list_metric_names()]


def list_measured_metrics(runs):
    """Names of all metrics with intervals that some run has."""
    return [*dict.fromkeys(name for run in runs for name in run.intervals)]


def make_listing_table(runs, metrics):
    """A row for each run, with a remark where one needs it; metrics are those with these names that
    some run has.
    """
    present = set().union(*(run.figures for run in runs))
    differing = find_differing_settings([run.settings for run in runs])
    columns = [
        Column("run", attrgetter("name")),
        *(Column(name.replace("_", " "), partial(_setting, name)) for name in differing),
        *(_metric(name) for name in metrics if name in present),
        *COST_COLUMNS,
    ]
    if any(run.remark for run in runs):
        columns.append(Column("remark", attrgetter("remark")))
    return make_table("Runs", "dataset", columns, runs, lambda run, cells: Row(run.dataset, cells))


def _setting(name, run):
    return run.settings.get(name, wording.MISSING)


def _metric(name):
    def value(run):
        return run.figures.get(name)

    entry, _ = get_metric(name.removeprefix("dev ").removeprefix("folds "))
    text = (
        partial(wording.percent, digits=1)
        if entry.unit == "fraction"
        else wording.FORMAT_BY_UNIT[entry.unit]
    )
    return Column(name, value, text, bounds=lambda run: run.intervals.get(name))


COST_COLUMNS = (
    Column("training", lambda run: run.metrics.get("train_seconds"), wording.duration, unit="s"),
    Column("ms / instance", attrgetter("predict_milliseconds"), wording.decimal),
    Column("model", lambda run: run.metrics.get("model_bytes"), wording.size, unit="bytes"),
)
"""Processor time of the solver, wall time of prediction, and bytes of the model file."""


def make_json_entry(run):
    """A run for JSON: everything that its table has, and all its metrics."""
    about = {
        "dataset": run.dataset,
        "run": run.name,
        "settings": run.settings,
        "metrics": run.metrics,
    }
    about |= {"folds": run.folds} if run.folds else {}
    return about | {"predict_milliseconds": run.predict_milliseconds, "remark": run.remark}
