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
from ovaflow.settings.section import FOLD_FOLDER, HELD_OUT_PREFIX
from ovaflow.settings.source import FILE_ROLES, is_address, is_in_storage

DOWNLOADS = "downloads"
DOWNLOADED = f"{DOWNLOADS}/{{dataset}}/{{role}}/{{file}}"
CATALOGUE = f"{DOWNLOADS}/{{name}}/{{file}}"

REPORT = "results/report.html"
WARMED_UP = "results/.warm-up"

DATASET_FOLDER = "results/{dataset}"
RUN_FOLDER = "results/{dataset}/{run}"
DATASET = f"{DATASET_FOLDER}/dataset.h5"
SIZES = f"{DATASET_FOLDER}/sizes.json"
READING = f"{DATASET_FOLDER}/reading.json"
HELD_OUT_DATASET = f"{DATASET_FOLDER}/{HELD_OUT_PREFIX}{{share}}/dataset.h5"
HELD_OUT_SIZES = f"{DATASET_FOLDER}/{HELD_OUT_PREFIX}{{share}}/sizes.json"
HELD_OUT_RECORDS = f"{DATASET_FOLDER}/{HELD_OUT_PREFIX}{{share}}/records.csv"
FOLD_DATASET = f"{DATASET_FOLDER}/{FOLD_FOLDER}/dataset.h5"
FOLD_SIZES = f"{DATASET_FOLDER}/{FOLD_FOLDER}/sizes.json"
MEANS = f"{DATASET_FOLDER}/means.h5"
LABEL_TREE = f"{DATASET_FOLDER}/label_tree.h5"
ESTIMATE = f"{DATASET_FOLDER}/estimates/{{problem}}.json"
CHOSEN_FEATURES = f"{DATASET_FOLDER}/features.json"
CHOSEN_C = f"{DATASET_FOLDER}/C/{{problem}}.json"
PLAN = f"{RUN_FOLDER}/shards.tsv"
ROOT = f"{RUN_FOLDER}/root.h5"
SHARD = f"{RUN_FOLDER}/shards/{{shard}}.h5"
MODEL = f"{RUN_FOLDER}/model.h5"
TRAINING = f"{RUN_FOLDER}/training.h5"
PREDICTIONS = f"{RUN_FOLDER}/predictions.h5"
METRICS = f"{RUN_FOLDER}/metrics.json"
ANALYSIS = f"{RUN_FOLDER}/analysis.json"
FOLDS = f"{RUN_FOLDER}/folds.json"
LABELS = f"{RUN_FOLDER}/labels.csv"
ERRORS = f"{RUN_FOLDER}/errors.html"
RERANKER = f"{RUN_FOLDER}/reranker.h5"
RELIABILITY = f"{RUN_FOLDER}/reliability.json"
DOUBTS = f"{RUN_FOLDER}/doubts.csv"
CHOSEN_PRUNE = f"{RUN_FOLDER}/chosen_prune.json"


def find_raw_files(config: Config, dataset: str) -> dict[str, str | list[str]]:
    """Files that a dataset is made from, by role; a list where the config has one."""
    entry = config.datasets[dataset]
    files: dict[str, str | list[str]] = {}
    for role in FILE_ROLES:
        location = getattr(entry, role)
        if isinstance(location, list | dict):
            files[role] = list(map(_normal, location))
        elif location is not None and is_address(location):
            files[role] = DOWNLOADED.format(
                dataset=dataset, role=role, file=make_download_name(location)
            )
        elif location is not None:
            files[role] = _normal(location)
    return files | config.section("prepare", dataset).files


def _normal(location):
    return location if is_in_storage(location) else os.path.normpath(location)


def make_download_name(address: str) -> str:
    """File name for a downloaded address, its endings kept, since they tell how it is compressed."""
    last = unquote(urlsplit(address).path.rsplit("/", 1)[-1])
    return re.sub(r"^[.-]", "_", re.sub(r"[^A-Za-z0-9._-]", "_", last)[-100:]) or "data"


def fill_for_runs(template: str, config: Config, runs: Any) -> list[str]:
    """A file of some runs on every dataset."""
    return [
        template.format(dataset=dataset, run=run) for dataset, run in product(config.datasets, runs)
    ]


def find_figure_files(config: Config) -> list[str]:
    """Files that are made for the report's figures alone."""
    files = []
    for name in method_names():
        for step in find_method(name).steps.values():
            if step.figure:
                files += fill_for_runs(
                    f"{RUN_FOLDER}/{step.figure}", config, config.runs_with_method(name)
                )
    return files


def find_other_runs(config: Config) -> list[str]:
    """Finished runs in this folder that a config does not have, such as ``docstrings/msi``."""
    finished = {str(path) for path in Path().glob(METRICS.format(dataset="*", run="*"))}
    others = sorted(finished - set(fill_for_runs(METRICS, config, config.runs)))
    return [str(Path(*Path(path).parts[1:-1])) for path in others]


def name_held_out_dataset(config: Config, dataset: str, run: str) -> str | None:
    """The dataset without what is held out for the second stage of a run, such as
    docstrings/held-out-0.2.
    """
    share = config.section("predict", dataset, run).rerank
    return f"{dataset}/{HELD_OUT_PREFIX}{share:g}" if share else None


def name_fold_datasets(config: Config, dataset: str) -> list[str]:
    """The datasets of a cross-validation, such as docstrings/fold-1-of-5; none where it is not
    asked for.
    """
    folds = config.section("evaluate", dataset).folds or 0
    return [
        f"{dataset}/{FOLD_FOLDER.format(fold=fold, folds=folds)}" for fold in range(1, folds + 1)
    ]


def name_derived_datasets(config: Config) -> list[str]:
    """Folds, and what is left of these and of datasets when instances are held out for a second
    stage.
    """
    folds = [fold for dataset in config.datasets for fold in name_fold_datasets(config, dataset)]
    names = {
        name_held_out_dataset(config, *place)
        for place in product([*config.datasets, *folds], config.runs)
    }
    return sorted(name for name in (*folds, *names) if name is not None)


def find_second_stage_files(config: Config, template: str) -> list[str]:
    """A file of all runs and datasets that have a second stage."""
    places = [
        place
        for place in product(config.datasets, config.runs)
        if name_held_out_dataset(config, *place)
    ]
    return [template.format(dataset=dataset, run=run) for dataset, run in places]


def find_cross_validation_files(config: Config) -> list[str]:
    """The joined metrics of all runs on the datasets that have folds."""
    places = product(
        [dataset for dataset in config.datasets if name_fold_datasets(config, dataset)], config.runs
    )
    return [FOLDS.format(dataset=dataset, run=run) for dataset, run in places]
