"""Runs that train alike share a training."""

import shutil

import pytest
from pipeline_folder import PipelineFolder
from tiny_table import MSI, write_table

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

ALIKE = {"pruned": MSI | {"prune": 0.1}, "short": MSI | {"top_k": 3, "threads": 2}}
STEPS = ("plan_shards", "train_shard", "compute_means")


@pytest.fixture(scope="module")
def alike(tmp_path_factory) -> PipelineFolder:
    """Finished runs that train alike."""
    place = PipelineFolder(tmp_path_factory.mktemp("alike"))
    write_table(place.folder / "records.csv")
    place.configure(runs=ALIKE)
    place.snakemake("--quiet")
    return place


@pytest.fixture
def copied(alike, tmp_path, monkeypatch) -> PipelineFolder:
    place = alike.copy(tmp_path / "place")
    monkeypatch.chdir(place.folder)
    return place


def list_trained(place) -> list[str]:
    """List the runs of which a dry run would train anything."""
    return [run for run, rules in place.jobs().items() if rules.keys() & set(STEPS)]


def read_model(place, run) -> bytes:
    return place.result(run, "model.h5").read_bytes()


def test_runs_that_train_alike_have_one_training(alike) -> None:
    [training] = alike.result("trainings").iterdir()
    shards = [path.name for path in sorted((training / "shards").glob("*.h5"))]
    assert shards == ["0.h5", "1.h5"]
    for run in ALIKE:
        link = alike.result(run, "shards")
        assert link.is_symlink()
        assert link.resolve() == (training / "shards").resolve()


def test_one_more_and_one_less_train_nothing(copied) -> None:
    # whichever comes first
    runs = {"new": MSI | {"top_k": 7}, "pruned": ALIKE["pruned"]}
    copied.configure(runs=runs)
    shutil.rmtree(copied.result("short"))
    assert list_trained(copied) == []
    assert "new" in copied.jobs()
    assert "pruned" not in copied.jobs()
    copied.configure(runs=runs | {"other": MSI | {"C": 3}})
    assert list_trained(copied) == ["other"]
