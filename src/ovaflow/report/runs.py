"""All runs of a config in one table: settings that differ, metrics, times and sizes, and what to know of them."""

from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from ovaflow.console.errors import InputError
from ovaflow.evaluation.metrics import named_on_dev
from ovaflow.model.model_file import ModelFile
from ovaflow.report import wording
from ovaflow.report.run_settings import settings_in_words, that_differ
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.settings import paths
from ovaflow.settings.inputs import parameters_of
from ovaflow.storage.artifact import Artifact, header_of
from ovaflow.storage.hdf5 import open_artifact
from ovaflow.storage.texts import read_json

_MAIN = ("P@1", "P@5", "F1-fit", "F1-above-0")
MAIN = tuple(f"{part}{name}" for part in ("", "dev ", "folds ") for name in _MAIN)
"""Metrics on a terminal, those that some run has; files have all that have intervals."""


@dataclass(frozen=True)
class ListedRun:
    """A run of a config, whether it is there or not."""

    dataset: str
    name: str
    settings: dict  # in words: of the model, and of the config what no model records
    metrics: dict  # empty where there are none of this model
    remark: str  # why figures are missing, or not to be compared
    made_from: str = ""  # checksum of its dataset
    folds: dict[str, Any] = field(default_factory=dict)  # joined metrics of a cross-validation, where there are some

    @property
    def predict_milliseconds(self):
        """Wall time of scoring a test instance."""
        seconds, instances = map(self.metrics.get, ("predict_seconds", "instances"))
        return 1000 * seconds / instances if seconds is not None and instances else None

    @property
    def figures(self):
        """Its metrics, with those on the dev part and the means over folds."""
        return self.metrics | named_on_dev(self.metrics.get("dev", {})) | self._of_folds("mean")

    @property
    def intervals(self):
        on_dev = self.metrics.get("dev", {}).get("intervals", {})
        return self.metrics.get("intervals", {}) | named_on_dev(on_dev) | self._of_folds("interval")

    def _of_folds(self, figure):
        """A figure of each metric over the folds, ``folds P@1`` and the like."""
        metrics = self.folds.get("metrics", {})
        return {f"folds {name}": figures[figure] for name, figures in metrics.items()}


def read_runs(config):
    """The runs of a config in this folder, dataset by dataset; only headers and metrics are read."""
    runs = []
    for dataset in config.datasets:
        read = [_read_run(config, dataset, name) for name in config.runs]
        first = next((run for run in read if run.metrics), None)
        runs += [_compared(run, first) for run in read]
    return runs


def _compared(run, first):
    """A run, with a remark where its test records may be others than those of the first run with metrics."""
    if not run.metrics or run.made_from == first.made_from:
        return run
    remark = f"of another dataset.h5 than {first.name}, perhaps of other test records"
    return replace(run, remark="; ".join(filter(None, (run.remark, remark))))


def _read_run(config, dataset, name):
    files = (paths.MODEL, paths.METRICS, paths.FOLDS)
    model, metrics, folds = (Path(each.format(dataset=dataset, run=name)) for each in files)
    run = ListedRun(dataset, name, _planned_settings(config, dataset, name), {}, "not there yet")
    if not model.exists():
        return run
    try:
        with open_artifact(model, ModelFile.kind) as file:
            header = Artifact(**header_of(file))
        settings = settings_in_words(header.parameters, {})
        changes = "; ".join(_changes(run.settings, settings))
        run = replace(run, settings=run.settings | settings, remark=changes, made_from=header.inputs.get("dataset", ""))
        run = replace(run, folds=_read_folds(folds, header.checksum))
        return replace(run, metrics=read_json(metrics, "metrics", header.checksum))
    except InputError as error:
        return replace(run, remark=str(error).removeprefix(f"{model.parent}/"))


def _read_folds(path, checksum):
    """Read the joined metrics of a run's folds; empty where there are none, or they are about another model."""
    if not path.exists():
        return {}
    folds = read_json(path, "folds")
    return folds if folds["model"] == checksum else {}


def _planned_settings(config, dataset, name):
    """What the config says of a run, in words."""
    steps = (parameters_of(step, config, dataset, name) for step in ("train-shard", "merge"))
    settings = {"method": config.runs[name].method}
    for each in (*steps, config.section("predict", dataset, name).model_dump()):
        settings |= each
    lists = {name: ", ".join(map(str, value)) for name, value in settings.items() if isinstance(value, list)}
    return settings_in_words(settings | lists, {})


def _changes(planned, settings):
    """Settings that the config has otherwise now than the model, but for those that are chosen automatically."""
    for name, value in planned.items():
        if name in settings and value not in ("auto", settings[name]):
            yield f"made with {name} {settings[name]}, the config has {value}"


def measured(runs):
    """Names of all metrics with intervals that some run has."""
    return [*dict.fromkeys(name for run in runs for name in run.intervals)]


def table_of(runs, metrics):
    """A row for each run, with a remark where one needs it; metrics are those with these names that some run has."""
    present = set().union(*(run.figures for run in runs))
    differing = that_differ([run.settings for run in runs])
    columns = [
        Column("run", attrgetter("name")),
        *(Column(name.replace("_", " "), partial(_setting, name)) for name in differing),
        *(_metric(name) for name in metrics if name in present),
        *COSTS,
    ]
    if any(run.remark for run in runs):
        columns.append(Column("remark", attrgetter("remark")))
    return make_table("Runs", "dataset", columns, runs, lambda run, cells: Row(run.dataset, cells))


def _setting(name, run):
    return run.settings.get(name, wording.MISSING)


def _metric(name):
    def value(run):
        return run.figures.get(name)

    return Column(name, value, partial(wording.percent, digits=1), bounds=lambda run: run.intervals.get(name))


COSTS = (
    Column("training", lambda run: run.metrics.get("train_seconds"), wording.duration, unit="s"),
    Column("ms / instance", attrgetter("predict_milliseconds"), wording.decimal),
    Column("model", lambda run: run.metrics.get("model_bytes"), wording.size, unit="bytes"),
)
"""Processor time of the solver, wall time of prediction, and bytes of the model file."""


def entry_of(run):
    """A run for JSON: everything that its table has, and all its metrics."""
    about = {"dataset": run.dataset, "run": run.name, "settings": run.settings, "metrics": run.metrics}
    about |= {"folds": run.folds} if run.folds else {}
    return about | {"predict_milliseconds": run.predict_milliseconds, "remark": run.remark}
