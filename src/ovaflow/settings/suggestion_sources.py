"""Sources of suggestions that a second stage weighs: other runs of the config, and files."""

from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.settings.chains import sweeps_of
from ovaflow.settings.configuration import Config


class Sources(NamedTuple):
    """Sources of a run; empty where it has no second stage."""

    runs: list[str]
    files: dict[str, str]  # paths by name


def sources_of(config: Config, dataset: str, run: str) -> Sources:
    """Sources of a run on a dataset; where all runs have the same, none is its own."""
    predict = config.section("predict", dataset, run)
    if not predict.rerank:
        return Sources([], {})
    named = sorted(predict.rerank_with)
    runs = [name for name in named if name in config.runs and name != run]
    files = [path for path in named if path not in config.runs]
    return Sources(runs, {source_name(path): path for path in files})


def source_name(path: str | Path) -> str:
    """Name of a file of suggestions, such as ``mllm`` of ``exports/mllm.csv.gz``."""
    return Path(path).name.partition(".")[0].replace("=", "-") or "suggestions"


def check_sources(config: Config, path=None) -> None:
    """Refuse sweeps, sources of the same name, and runs that saw held-out instances."""
    for run in config.runs:
        for dataset in config.datasets:
            predict = config.section("predict", dataset, run)
            if predict.rerank:
                _check(config, run, predict.rerank_with, path)
                _check_folds(config, dataset, run, path)


def _check_folds(config, dataset, run, path):
    files = sources_of(config, dataset, run).files
    if files and config.section("evaluate", dataset).folds:
        message = f"runs.{run}.rerank_with: who made {next(iter(files.values()))} may have seen what folds test"
        raise InputError(message, path=path, remedy="leave this file out, or set evaluate: {folds: 0}")


def _check(config, run, named, path):
    where, sweeps = f"runs.{run}.rerank_with", sweeps_of(config)
    names = [name if name in config.runs else source_name(name) for name in named]
    for name in named:
        if name in sweeps:
            remedy = f"name one of {', '.join(sweeps[name])}"
            raise InputError(f"{where}: {name} is a sweep", path=path, remedy=remedy)
        if name in config.runs and name != run and config.keeps_weights(name):
            reason = "kept weights may have seen held-out instances"
            raise InputError(f"{where}: {name} needs retrain: all; {reason}", path=path)
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        message = f"{where}: two sources are called {repeated[0]}"
        raise InputError(message, path=path, remedy="rename all files but one")
