"""Tiny models of every method, made by the commands of the pipeline."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from commands import ovaflow
from tiny_table import write_table

STEPS = """
means {0}/dataset.h5 --output={0}/means.h5
plan {0}/dataset.h5 --shards=1 --output={0}/shards.tsv
train-shard {0}/dataset.h5 --means={0}/means.h5 --plan={0}/shards.tsv --shard=0 --output={0}/0.h5
merge {0}/0.h5 --dataset={0}/dataset.h5 --output={0}/one-vs-all.h5 --statistics={0}/t.h5
train-shard --method=fastxml {0}/dataset.h5 --trees=3 --output={0}/trees.h5
merge --method=fastxml {0}/trees.h5 --dataset={0}/dataset.h5 --output={0}/fastxml.h5 --statistics={0}/t.h5
embed {0}/dataset.h5 --rank=8 --output={0}/e.h5
project {0}/dataset.h5 --embedding={0}/e.h5 --output={0}/p.h5
tune-decoder {0}/p.h5 --dataset={0}/dataset.h5 --embedding={0}/e.h5 --output={0}/d.json
train-shard --method=rembrandt {0}/p.h5 --tuned={0}/d.json --output={0}/d.h5
merge --method=rembrandt {0}/d.h5 --projected={0}/p.h5 --tuned={0}/d.json --dataset={0}/dataset.h5 \
--output={0}/rembrandt.h5 --statistics={0}/t.h5
"""


TREE_STEPS = STEPS.strip().splitlines()[4:6]
"""The steps of the model of trees."""


def _train(folder: Path, prepare_options: Sequence[str], steps: Sequence[str]) -> None:
    """Prepare a dataset in a folder, and take steps of training."""
    ovaflow("prepare", prepare_options, f"--output={folder}/dataset.h5")
    for step in steps:
        ovaflow(step.format(folder))


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory) -> Path:
    """Folder with records.csv, dataset.h5, and a model file by the name of each method."""
    folder = tmp_path_factory.mktemp("tiny")
    write_table(folder / "records.csv")
    options = ["--format=csv", f"--train={folder}/records.csv", "--label-separator=|"]
    _train(folder, options, STEPS.strip().splitlines())
    return folder


@pytest.fixture
def grow_trees(tmp_path) -> Callable[..., Path]:
    """Grow trees on prepared data: ``fastxml.h5`` in the folder of the test."""

    def grow(*prepare_options: str) -> Path:
        _train(tmp_path, prepare_options, TREE_STEPS)
        return tmp_path / "fastxml.h5"

    return grow
