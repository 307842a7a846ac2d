"""The number of shards of ``shards: auto``, by the size of the training files."""

import pytest

from ovaflow.estimate.shards import choose_shard_count, is_small
from ovaflow.settings.config import resolve_config
from ovaflow.training.plan import write_plan

MEGABYTE = 1_000_000
ESTIMATE = "results/mine/estimates/problem.json"


def make_config(run=None, shards="auto", **entry):
    datasets = {"mine": {"format": "csv", "train": "a.csv"} | entry}
    return resolve_config(
        {"datasets": datasets, "runs": {"msi": run or {}}, "train": {"shards": shards}}, {}
    )


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_file(path, megabytes) -> None:
    path.write_bytes(bytes(int(MEGABYTE * megabytes)))


@pytest.mark.parametrize(("megabytes", "shards"), [(0.1, 1), (8, 1), (8.1, 2), (33, 5)])
def test_a_shard_for_each_8_megabytes(folder, megabytes, shards) -> None:
    write_file(folder / "a.csv", megabytes)
    assert choose_shard_count(make_config(), "mine", "msi") == shards
    assert is_small(make_config(), "mine", ESTIMATE) == (shards == 1)
    # held-out records change nothing
    assert choose_shard_count(make_config(), "mine/held-out-0.2", "msi") == shards
    assert choose_shard_count(make_config(shards=7), "mine", "msi") == 7


def test_several_files_some_compressed(folder) -> None:
    for number in (1, 2):
        write_file(folder / f"{number}.csv", 6)
    write_file(folder / "more.csv", 6)
    assert choose_shard_count(make_config(train="[12].csv"), "mine", "msi") == 2
    several = make_config(train=["1.csv", "2.csv"], extra={"more.csv": 0.5})
    assert choose_shard_count(several, "mine", "msi") == 3
    # counted as three times their size
    write_file(folder / "packed.csv.gz", 6)
    assert choose_shard_count(make_config(train="packed.csv.gz"), "mine", "msi") == 3


def test_built_in_and_elsewhere() -> None:
    builtin = make_config(source="builtin", format=None, train=None)
    assert choose_shard_count(builtin, "mine", "msi") == 1
    assert is_small(builtin, "mine", ESTIMATE)
    for train in ("https://example.org/a.csv", "s3://bucket/a.csv"):
        assert choose_shard_count(make_config(train=train), "mine", "msi") == 8
        assert not is_small(make_config(train=train), "mine", ESTIMATE)


def test_trees_and_decoders_have_eight(folder) -> None:
    write_file(folder / "a.csv", 1)
    for method in ("fastxml", "rembrandt"):
        assert choose_shard_count(make_config({"method": method}), "mine", "msi") == 8


def test_without_the_files_a_run_stays_as_it_is(folder) -> None:
    estimate = folder / ESTIMATE
    plan = folder / "results" / "mine" / "plans" / "auto" / "shards.tsv"
    for path in (estimate, plan):
        path.parent.mkdir(parents=True)
    assert choose_shard_count(make_config(), "mine", "msi") == 8
    write_plan(plan, [[0, 1], [2], [3]], [3.0, 3.0, 2.0, 2.0])
    assert choose_shard_count(make_config(), "mine", "msi") == 3
    assert is_small(make_config(), "mine", ESTIMATE)
    estimate.touch()
    assert not is_small(make_config(), "mine", ESTIMATE)
