"""Where every file of the pipeline is, relative to the folder where it runs: templates that rules
and code fill.
"""

import os
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ovaflow.registry import find_method, method_names
from ovaflow.settings.configuration import Config
from ovaflow.settings.section import FOLD, HELD_OUT
from ovaflow.settings.source import ROLES, is_address, is_stored

DOWNLOADS = "downloads"
DOWNLOADED = f"{DOWNLOADS}/{{dataset}}/{{role}}/{{file}}"
CATALOGUE = f"{DOWNLOADS}/{{name}}/{{file}}"

REPORT = "results/report.html"
WARMED_UP = "results/.warm-up"

OF_DATASET = "results/{dataset}"
OF_RUN = "results/{dataset}/{run}"
DATASET = f"{OF_DATASET}/dataset.h5"
SIZES = f"{OF_DATASET}/sizes.json"
READING = f"{OF_DATASET}/reading.json"
HELD_OUT_DATASET = f"{OF_DATASET}/{HELD_OUT}{{share}}/dataset.h5"
HELD_OUT_SIZES = f"{OF_DATASET}/{HELD_OUT}{{share}}/sizes.json"
HELD_OUT_RECORDS = f"{OF_DATASET}/{HELD_OUT}{{share}}/records.csv"
FOLD_DATASET = f"{OF_DATASET}/{FOLD}/dataset.h5"
FOLD_SIZES = f"{OF_DATASET}/{FOLD}/sizes.json"
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
FOLDS = f"{OF_RUN}/folds.json"
LABELS = f"{OF_RUN}/labels.csv"
ERRORS = f"{OF_RUN}/errors.html"
RERANKER = f"{OF_RUN}/reranker.h5"
RELIABILITY = f"{OF_RUN}/reliability.json"
DOUBTS = f"{OF_RUN}/doubts.csv"
CHOSEN_PRUNE = f"{OF_RUN}/chosen_prune.json"


def raw_files(config: Config, dataset: str) -> dict[str, str | list[str]]:
    """Files that a dataset is made from, by role; a list where the config has one."""
    entry = config.datasets[dataset]
    files: dict[str, str | list[str]] = {}
    for role in ROLES:
        location = getattr(entry, role)
        if isinstance(location, list | dict):
            files[role] = list(map(_normal, location))
        elif location is not None and is_address(location):
            files[role] = DOWNLOADED.format(
                dataset=dataset, role=role, file=download_name(location)
            )
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
    return [
        template.format(dataset=dataset, run=run) for dataset, run in product(config.datasets, runs)
    ]


def figure_files(config: Config) -> list[str]:
    """Files that are made for the report's figures alone."""
    files = []
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


def held_out_of(config: Config, dataset: str, run: str) -> str | None:
    """The dataset without what is held out for the second stage of a run, such as
    docstrings/held-out-0.2.
    """
    share = config.section("predict", dataset, run).rerank
    return f"{dataset}/{HELD_OUT}{share:g}" if share else None


def folds_of(config: Config, dataset: str) -> list[str]:
    """The datasets of a cross-validation, such as docstrings/fold-1-of-5; none where it is not
    asked for.
    """
    folds = config.section("evaluate", dataset).folds or 0
    return [f"{dataset}/{FOLD.format(fold=fold, folds=folds)}" for fold in range(1, folds + 1)]


def parts_of_datasets(config: Config) -> list[str]:
    """Folds, and what is left of these and of datasets when instances are held out for a second
    stage.
    """
    folds = [fold for dataset in config.datasets for fold in folds_of(config, dataset)]
    names = {
        held_out_of(config, *place) for place in product([*config.datasets, *folds], config.runs)
    }
    return sorted(name for name in (*folds, *names) if name is not None)


def second_stage_files(config: Config, template: str) -> list[str]:
    """A file of all runs and datasets that have a second stage."""
    places = [
        place for place in product(config.datasets, config.runs) if held_out_of(config, *place)
    ]
    return [template.format(dataset=dataset, run=run) for dataset, run in places]


def cross_validation_files(config: Config) -> list[str]:
    """The joined metrics of all runs on the datasets that have folds."""
    places = product(
        [dataset for dataset in config.datasets if folds_of(config, dataset)], config.runs
    )
    return [FOLDS.format(dataset=dataset, run=run) for dataset, run in places]
