"""Files of suggestions by other programs, which a second stage weighs."""

from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.settings.configuration import Config


def find_sources(config: Config, dataset: str, run: str) -> dict[str, str]:
    """Return the paths of a run's files on a dataset, by name; none where it has no second stage."""
    predict = config.section("predict", dataset, run)
    if not predict.rerank:
        return {}
    return {name_source(path): path for path in sorted(predict.rerank_with)}


def name_source(path: str | Path) -> str:
    """Name of a file of suggestions, such as ``mllm`` of ``exports/mllm.csv.gz``."""
    return Path(path).name.partition(".")[0].replace("=", "-") or "suggestions"


def check_sources(config: Config, path=None) -> None:
    """Refuse files of the same name, and files whose program may have seen what folds test."""
    for run in config.runs:
        for dataset in config.datasets:
            predict = config.section("predict", dataset, run)
            if predict.rerank:
                _check_names(run, predict.rerank_with, path)
                _check_folds(config, dataset, run, path)


def _check_folds(config, dataset, run, path) -> None:
    files = find_sources(config, dataset, run)
    if files and config.section("evaluate", dataset).folds:
        message = f"runs.{run}.rerank_with: who made {next(iter(files.values()))} may have seen what folds test"
        raise InputError(
            message, path=path, remedy="leave this file out, or set evaluate: {folds: 0}"
        )


def _check_names(run, files, path) -> None:
    names = [name_source(file) for file in files]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        message = f"runs.{run}.rerank_with: two sources are called {repeated[0]}"
        raise InputError(message, path=path, remedy="rename all files but one")
