"""Where every file of the pipeline is, relative to the folder where it runs: templates that rules and code fill."""

import os
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ovaflow.methods import ONE_VS_ALL, find_method, method_names
from ovaflow.settings.configuration import Config
from ovaflow.settings.section import HELD_OUT
from ovaflow.settings.source import ROLES, is_address, is_stored

DOWNLOADS = "downloads"
DOWNLOADED = f"{DOWNLOADS}/{{dataset}}/{{role}}/{{file}}"
CATALOGUE = f"{DOWNLOADS}/{{name}}/{{file}}"

REPORT = "results/report.html"
WARMED_UP = "results/.warm-up"

OF_DATASET, OF_RUN = "results/{dataset}", "results/{dataset}/{run}"
DATASET = f"{OF_DATASET}/dataset.h5"
SIZES = f"{OF_DATASET}/sizes.json"
READING = f"{OF_DATASET}/reading.json"
HELD_OUT_DATASET = f"{OF_DATASET}/{HELD_OUT}{{share}}/dataset.h5"
HELD_OUT_SIZES = f"{OF_DATASET}/{HELD_OUT}{{share}}/sizes.json"
HELD_OUT_RECORDS = f"{OF_DATASET}/{HELD_OUT}{{share}}/records.csv"
MEANS = f"{OF_DATASET}/means.h5"
LABEL_TREE = f"{OF_DATASET}/label_tree.h5"
ESTIMATE = f"{OF_DATASET}/estimates/{{problem}}.json"
CHOSEN_FEATURES = f"{OF_DATASET}/features.json"
CHOSEN_C = f"{OF_DATASET}/C/{{problem}}.json"
PLAN = f"{OF_RUN}/shards.tsv"
ROOT = f"{OF_RUN}/root.h5"
SHARD = f"{OF_RUN}/shards/{{shard}}.h5"
MODEL = f"{OF_RUN}/model.h5"
TRAINING = f"{OF_RUN}/training.h5"
PREDICTIONS = f"{OF_RUN}/predictions.h5"
METRICS = f"{OF_RUN}/metrics.json"
ANALYSIS = f"{OF_RUN}/analysis.json"
LABELS = f"{OF_RUN}/labels.csv"
ERRORS = f"{OF_RUN}/errors.html"
REFERENCE = f"{OF_RUN}/reference.json"
RERANKER = f"{OF_RUN}/reranker.h5"
RELIABILITY = f"{OF_RUN}/reliability.json"
DOUBTS = f"{OF_RUN}/doubts.csv"
PRUNE_CURVE = f"{OF_RUN}/prune.json"


def raw_files(config: Config, dataset: str) -> dict[str, str | list[str]]:
    """Files that a dataset is made from, by role; a list where the config has one."""
    entry = config.datasets[dataset]
    files: dict[str, str | list[str]] = {}
    for role in ROLES:
        location = getattr(entry, role)
        if isinstance(location, list | dict):
            files[role] = list(map(_normal, location))
        elif location is not None and is_address(location):
            files[role] = DOWNLOADED.format(dataset=dataset, role=role, file=download_name(location))
        elif location is not None:
            files[role] = _normal(location)
    return files | config.section("prepare", dataset).files


def _normal(location):
    return location if is_stored(location) else os.path.normpath(location)


def download_name(address: str) -> str:
    """File name for a downloaded address, its endings kept, since they tell how it is compressed."""
    last = unquote(urlsplit(address).path.rsplit("/", 1)[-1])
    return re.sub(r"^[.-]", "_", re.sub(r"[^A-Za-z0-9._-]", "_", last)[-100:]) or "data"


def for_each(template: str, config: Config, runs: Any) -> list[str]:
    """A file of some runs on every dataset."""
    return [template.format(dataset=dataset, run=run) for dataset, run in product(config.datasets, runs)]


def figure_files(config: Config) -> list[str]:
    """Files that are made for the report's figures alone."""
    files = []
    if config.report.prune_thresholds:
        files += for_each(PRUNE_CURVE, config, config.runs_of(ONE_VS_ALL))
    for name in method_names():
        for step in find_method(name).steps.values():
            if step.figure:
                files += for_each(f"{OF_RUN}/{step.figure}", config, config.runs_of(name))
    return files


def other_runs(config: Config) -> list[str]:
    """Finished runs in this folder that a config does not have, such as ``docstrings/msi``."""
    finished = {str(path) for path in Path().glob(METRICS.format(dataset="*", run="*"))}
    others = sorted(finished - set(for_each(METRICS, config, config.runs)))
    return [str(Path(*Path(path).parts[1:-1])) for path in others]


def fold_of(config: Config, dataset: str, run: str) -> str | None:
    """The dataset without what is held out for the second stage of a run, such as docstrings/held-out-0.2."""
    share = config.section("predict", dataset, run).rerank
    return f"{dataset}/{HELD_OUT}{share:g}" if share else None


def folds(config: Config) -> list[str]:
    names = {fold_of(config, *place) for place in product(config.datasets, config.runs)}
    return sorted(fold for fold in names if fold is not None)


def second_stage_files(config: Config, template: str) -> list[str]:
    """A file of all runs and datasets that have a second stage."""
    places = [place for place in product(config.datasets, config.runs) if fold_of(config, *place)]
    return [template.format(dataset=dataset, run=run) for dataset, run in places]
