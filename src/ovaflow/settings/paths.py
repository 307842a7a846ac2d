"""Where every file of the pipeline is, relative to the folder where it runs: templates that rules and code fill."""

import os
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ovaflow.settings.models import HELD_OUT, ROLES, Config, Embed, is_address, is_stored
from ovaflow.steps import STEPS

DOWNLOADS = "downloads"
DOWNLOADED = f"{DOWNLOADS}/{{dataset}}/{{role}}/{{file}}"
CATALOGUE = f"{DOWNLOADS}/{{name}}/{{file}}"

REPORT = "results/report.html"
WARMED_UP = "results/.warm-up"

_DATASET, _RUN = "results/{dataset}", "results/{dataset}/{run}"
DATASET = f"{_DATASET}/dataset.h5"
SIZES = f"{_DATASET}/sizes.json"
READING = f"{_DATASET}/reading.json"
HELD_OUT_DATASET = f"{_DATASET}/{HELD_OUT}{{share}}/dataset.h5"
HELD_OUT_SIZES = f"{_DATASET}/{HELD_OUT}{{share}}/sizes.json"
HELD_OUT_RECORDS = f"{_DATASET}/{HELD_OUT}{{share}}/records.csv"
MEANS = f"{_DATASET}/means.h5"
LABEL_TREE = f"{_DATASET}/label_tree.h5"
EMBEDDING = f"{_DATASET}/embeddings/{{embedding}}.h5"
ESTIMATE = f"{_DATASET}/estimates/{{problem}}.json"
CHOSEN_FEATURES = f"{_DATASET}/features.json"
CHOSEN_C = f"{_DATASET}/C/{{problem}}.json"
PLAN = f"{_RUN}/shards.tsv"
ROOT = f"{_RUN}/root.h5"
PROJECTED = f"{_RUN}/projected.h5"
DECODER = f"{_RUN}/decoder.json"
SHARD = f"{_RUN}/shards/{{shard}}.h5"
MODEL = f"{_RUN}/model.h5"
TRAINING = f"{_RUN}/training.h5"
PREDICTIONS = f"{_RUN}/predictions.h5"
METRICS = f"{_RUN}/metrics.json"
ANALYSIS = f"{_RUN}/analysis.json"
LABELS = f"{_RUN}/labels.csv"
REFERENCE = f"{_RUN}/reference.json"
RERANKER = f"{_RUN}/reranker.h5"
RELIABILITY = f"{_RUN}/reliability.json"
DOUBTS = f"{_RUN}/doubts.csv"
PRUNE_CURVE = f"{_RUN}/prune.json"
TREE_CURVE = f"{_RUN}/{STEPS['tree-curve'].figure}"
EMBEDDING_CURVE = f"{_RUN}/{STEPS['describe-embedding'].figure}"


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


def embedding_name(embed: Embed) -> str:
    """Name of an embedding, the same for all runs that embed alike."""
    if embed.embedding == "none":
        return "none"
    ridges = "_".join(f"{ridge:g}" for ridge in embed.ridges)
    tail = f"{embed.rank}-p{embed.oversampling}-q{embed.passes}-ridge{ridges}-{embed.seed}"
    return f"{embed.embedding}-{tail}"


def embeddings(config: Config) -> dict[str, str]:
    """The embeddings that runs need: one run that has it, by name."""
    return {embedding_name(config.section("rembrandt", run=run)): run for run in config.runs_of("rembrandt")}


def for_each(template: str, config: Config, runs: Any) -> list[str]:
    """A file of some runs on every dataset."""
    return [template.format(dataset=dataset, run=run) for dataset, run in product(config.datasets, runs)]


def figure_files(config: Config) -> list[str]:
    """Files that are made for the report's figures alone."""
    files = []
    if config.report.prune_thresholds:
        files += for_each(PRUNE_CURVE, config, config.runs_of("one-vs-all"))
    for step in STEPS.values():
        if step.figure:
            files += for_each(f"{_RUN}/{step.figure}", config, config.runs_of(step.method))
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
