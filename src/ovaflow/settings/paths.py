"""Paths of all files of the pipeline, relative to the folder where it runs.

They are templates that rules and code fill.
"""

import os
import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path
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
TRAINING_FOLDER = f"{DATASET_FOLDER}/trainings/{{training}}"
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
PLAN = f"{DATASET_FOLDER}/plans/{{plan}}/shards.tsv"
ROOT = f"{DATASET_FOLDER}/roots/{{root}}/root.h5"
SHARD = f"{TRAINING_FOLDER}/shards/{{shard}}.h5"
SHARDS_LINK = f"{RUN_FOLDER}/shards"
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
    """Return the files that a dataset is made from, by role; a list where the config has one."""
    entry = config.datasets[dataset]
    files: dict[str, str | list[str]] = {}
    for role in FILE_ROLES:
        location = getattr(entry, role)
        if isinstance(location, list | dict):
            files[role] = [_normalize_path(each) for each in location]
        elif location is not None and is_address(location):
            files[role] = DOWNLOADED.format(
                dataset=dataset, role=role, file=make_download_name(location)
            )
        elif location is not None:
            files[role] = _normalize_path(location)
    return files | config.section("prepare", dataset).files


def _normalize_path(location: str) -> str:
    return location if is_in_storage(location) else os.path.normpath(location)


def make_download_name(address: str) -> str:
    """Make a file name for a downloaded address, with its endings, which name the compression."""
    last = unquote(urlsplit(address).path.rsplit("/", 1)[-1])
    name = re.sub(r"[^A-Za-z0-9._-]", "_", last)[-100:]
    # a name may not begin like a hidden file or an option
    name = re.sub(r"^[.-]", "_", name)
    return name or "data"


def fill_for_runs(template: str, config: Config, runs: Iterable[str]) -> list[str]:
    """Return the paths of a file of some runs on every dataset."""
    return [
        template.format(dataset=dataset, run=run) for dataset, run in product(config.datasets, runs)
    ]


def find_figure_files(config: Config) -> list[str]:
    """Return the files that are made only for figures of the report."""
    files = []
    for name in method_names():
        for step in find_method(name).steps.values():
            if step.figure:
                files += fill_for_runs(
                    f"{RUN_FOLDER}/{step.figure}", config, config.runs_with_method(name)
                )
    return files


def find_other_runs(config: Config) -> list[str]:
    """Return finished runs in this folder that a config lacks, such as ``docstrings/msi``."""
    finished = {str(path) for path in Path().glob(METRICS.format(dataset="*", run="*"))}
    others = sorted(finished - set(fill_for_runs(METRICS, config, config.runs)))
    return [str(Path(*Path(path).parts[1:-1])) for path in others]


def name_held_out_dataset(config: Config, dataset: str, run: str) -> str | None:
    """Return the dataset without instances held out for the second stage of a run, such as
    ``docstrings/held-out-0.2``; None without a second stage.
    """
    share = config.section("predict", dataset, run).rerank
    return f"{dataset}/{HELD_OUT_PREFIX}{share:g}" if share else None


def name_fold_datasets(config: Config, dataset: str) -> list[str]:
    """Return the datasets of a cross-validation, such as ``docstrings/fold-1-of-5``, if there is
    one.
    """
    folds = config.section("evaluate", dataset).folds or 0
    return [
        f"{dataset}/{FOLD_FOLDER.format(fold=fold, folds=folds)}" for fold in range(1, folds + 1)
    ]


def name_derived_datasets(config: Config) -> list[str]:
    """Return the folds, and the datasets without instances held out for second stages."""
    folds: list[str] = []
    for dataset in config.datasets:
        folds += name_fold_datasets(config, dataset)
    names = set(folds)
    for dataset, run in product([*config.datasets, *folds], config.runs):
        held_out = name_held_out_dataset(config, dataset, run)
        if held_out is not None:
            names.add(held_out)
    return sorted(names)


def find_second_stage_files(config: Config, template: str) -> list[str]:
    """Return the paths of a file of all runs and datasets that have a second stage."""
    files = []
    for dataset, run in product(config.datasets, config.runs):
        if name_held_out_dataset(config, dataset, run):
            files.append(template.format(dataset=dataset, run=run))
    return files


def find_cross_validation_files(config: Config) -> list[str]:
    """Return the joined metrics of all runs on the datasets that have folds."""
    datasets = [dataset for dataset in config.datasets if name_fold_datasets(config, dataset)]
    return [
        FOLDS.format(dataset=dataset, run=run) for dataset, run in product(datasets, config.runs)
    ]
