"""Files of suggestions by other programs, which a second stage weighs."""

from collections import Counter
from pathlib import Path

from ovaflow.console.errors import InputError, StrPath
from ovaflow.settings.configuration import Config


def find_sources(config: Config, dataset: str, run: str) -> dict[str, str]:
    """Return the paths of a run's files on a dataset, by name; empty without a second stage."""
    predict = config.section("predict", dataset, run)
    if not predict.rerank:
        return {}
    return {name_source(path): path for path in sorted(predict.rerank_with)}


def name_source(path: StrPath) -> str:
    """Return the name of a file of suggestions, such as ``mllm`` for ``exports/mllm.csv.gz``."""
    return Path(path).name.partition(".")[0].replace("=", "-") or "suggestions"


def check_sources(config: Config, path: StrPath | None = None) -> None:
    """Refuse files of the same name, and files whose program may have seen what folds test."""
    for run in config.runs:
        for dataset in config.datasets:
            predict = config.section("predict", dataset, run)
            if predict.rerank:
                _check_names(run, predict.rerank_with, path)
                _check_folds(config, dataset, run, path)


def _check_folds(config: Config, dataset: str, run: str, path: StrPath | None) -> None:
    files = find_sources(config, dataset, run)
    if files and config.section("evaluate", dataset).folds:
        file = next(iter(files.values()))
        message = (
            f"runs.{run}.rerank_with: the program that made {file} may have seen the test records "
            "of folds"
        )
        remedy = "leave this file out, or set evaluate: {folds: 0}"
        raise InputError(message, path=path, remedy=remedy)


def _check_names(run: str, files: list[str], path: StrPath | None) -> None:
    counts = Counter(name_source(file) for file in files)
    for name, count in counts.items():
        if count > 1:
            message = f"runs.{run}.rerank_with: two sources are called {name}"
            raise InputError(message, path=path, remedy="rename all files but one")
