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


def _run(folder, prepared, steps):
    ovaflow(*prepared, f"--output={folder}/dataset.h5")
    for step in steps:
        ovaflow(*step.format(folder).split())
    return folder


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory):
    """Folder with records.csv, dataset.h5, and a model file by the name of each method."""
    folder = tmp_path_factory.mktemp("tiny")
    write_table(folder / "records.csv")
    prepared = ["prepare", "--format=csv", f"--train={folder}/records.csv", "--label-separator=|"]
    return _run(folder, prepared, STEPS.strip().splitlines())


@pytest.fixture
def trees_of(tmp_path):
    """Grow trees on prepared data: ``fastxml.h5`` in the folder of the test."""

    def grow(*prepared):
        return (
            _run(tmp_path, ["prepare", *prepared], STEPS.strip().splitlines()[4:6]) / "fastxml.h5"
        )

    return grow
