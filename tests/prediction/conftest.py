"""Models of every method, trained on the tiny table by the command line."""

import pytest
from tiny_table import write_table

from ovaflow.cli import main


def _run(folder, *arguments):
    assert main([str(argument).format(folder) for argument in arguments]) == 0


def _one_vs_all(folder):
    _run(folder, "means", "{}/dataset.h5", "--output={}/means.h5")
    _run(folder, "plan", "{}/dataset.h5", "--shards=1", "--output={}/shards.tsv")
    _run(folder, "train-shard", "{}/dataset.h5", "--means={}/means.h5", "--plan={}/shards.tsv", "--shard=0",
         "--output={}/0.h5")  # fmt: skip
    written = "--output={}/one-vs-all.h5", "--statistics={}/t.h5"
    _run(folder, "merge", "{}/0.h5", "--dataset={}/dataset.h5", *written)


def _fastxml(folder):
    _run(folder, "train-trees", "{}/dataset.h5", "--trees=3", "--output={}/trees.h5")
    _run(folder, "merge-trees", "{}/trees.h5", "--dataset={}/dataset.h5", "--output={}/fastxml.h5",
         "--statistics={}/t.h5")  # fmt: skip


def _rembrandt(folder):
    _run(folder, "embed", "{}/dataset.h5", "--rank=8", "--output={}/e.h5")
    _run(folder, "project", "{}/dataset.h5", "--embedding={}/e.h5", "--output={}/p.h5")
    _run(folder, "tune-decoder", "{}/p.h5", "--dataset={}/dataset.h5", "--embedding={}/e.h5", "--output={}/d.json")
    _run(folder, "train-decoder", "{}/p.h5", "--tuned={}/d.json", "--output={}/d.h5")
    _run(folder, "join-decoder", "{}/d.h5", "--projected={}/p.h5", "--tuned={}/d.json", "--dataset={}/dataset.h5",
         "--output={}/rembrandt.h5", "--statistics={}/t.h5")  # fmt: skip


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory):
    """Folder with records.csv, dataset.h5, and a model file by the name of each method."""
    folder = tmp_path_factory.mktemp("tiny")
    write_table(folder / "records.csv")
    _run(folder, "prepare", "--format=csv", "--train={}/records.csv", "--label-separator=|", "--output={}/dataset.h5")
    for train in (_one_vs_all, _fastxml, _rembrandt):
        train(folder)
    return folder
