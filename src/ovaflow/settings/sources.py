"""Sources of suggestions that a second stage weighs: other runs of the config, and files of other programs."""

from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.settings.chains import sweeps_of
from ovaflow.settings.models import Config


class Sources(NamedTuple):
    """Sources of a run; empty where it has no second stage."""

    runs: list[str]
    files: dict[str, str]  # paths by name


def sources_of(config: Config, run: str) -> Sources:
    """Sources of a run; where all runs have the same, none is its own."""
    predict = config.section("predict", run=run)
    named = sorted(predict.rerank_with) if predict.rerank else []
    runs = [name for name in named if name in config.runs and name != run]
    files = [path for path in named if path not in config.runs]
    return Sources(runs, {source_name(path): path for path in files})


def source_name(path: str | Path) -> str:
    """Name of a file of suggestions, such as ``mllm`` of ``exports/mllm.csv.gz``."""
    return Path(path).name.partition(".")[0].replace("=", "-") or "suggestions"


def check_sources(config: Config, path=None) -> None:
    """Refuse sweeps as sources, several sources of one name, and runs that saw held-out instances."""
    sweeps = sweeps_of(config)
    for run in config.runs:
        predict = config.section("predict", run=run)
        where, named = f"runs.{run}.rerank_with", predict.rerank_with if predict.rerank else []
        for name in named:
            if name in sweeps:
                remedy = f"name one of {', '.join(sweeps[name])}"
                raise InputError(f"{where}: {name} is a sweep", path=path, remedy=remedy)
        runs = sources_of(config, run).runs
        for name in runs:
            if config.runs[name].pretrained is not None and config.train_of(name).retrain != "all":
                message = f"{where}: {name} needs retrain: all; kept weights may have seen held-out instances"
                raise InputError(message, path=path)
        names = [*runs, *(source_name(each) for each in named if each not in config.runs)]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            remedy = "rename all files but one"
            raise InputError(f"{where}: two sources are called {repeated[0]}", path=path, remedy=remedy)
