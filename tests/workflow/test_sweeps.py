"""Sweeps, and chains of runs that start from others, on the tiny table."""

import itertools
import json

import pytest
from tiny_table import write_config

from ovaflow.cli import main
from ovaflow.model.model_file import open_model
from ovaflow.storage.artifact import inputs_of, open_artifact

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

LATER = {"initialization": "pretrained", "pretrained": "msi.C-1"}
LAST = {"initialization": "pretrained", "pretrained": "later", "epsilon": 0.001}
WARM = {
    "train_shard": 1,
    "measure_cold_start": 1,
    "merge_shards": 1,
    "measure_pruning": 1,
    "predict_labels": 1,
    "evaluate_predictions": 1,
}


# the estimate is that of the first run of a sweep
FIRST = {"measure_cold_start": 3, "estimate_training": 1}


def runs(*values):
    return {"msi": {"sweep": {"C": list(values)}}, "later": LATER, "last": LAST}


@pytest.fixture(scope="module")
def swept(finished, tmp_path_factory):
    """A finished sweep of three values, and two runs one after the other from one of them."""
    place = finished.copy(tmp_path_factory.mktemp("swept"))
    write_config(place.folder / "my.yaml", runs=runs(0.3, 1, 3), train={"shards": 1})
    place.snakemake()
    return place


def jobs_after(place, **sections):
    write_config(place.folder / "my.yaml", **{"runs": runs(0.3, 1, 3), "train": {"shards": 1}} | sections)
    return place.jobs()


def test_each_run_starts_from_the_one_it_names(swept):
    results = swept.folder / "results" / "tiny"
    chain = ["msi.C-0.3", "msi.C-1", "later", "last"]
    for earlier, later in itertools.pairwise(chain):
        with open_artifact(results / later / "shards" / "0.h5", "shard") as file:
            assert inputs_of(file)["earlier"] == open_model(results / earlier / "model.h5").checksum
        log = (swept.folder / "logs" / "tiny" / later / "train-shard.0.log").read_text()
        assert "10 of 10 labels start from the earlier model" in log


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_a_profile_groups_the_shards_of_runs_that_start_from_each_other(swept, profile):
    # a group that contained shards of both would depend on itself
    written = swept.snakemake("--dry-run", "--forceall", f"--workflow-profile={profile}")
    assert "train_shard                 5" in written


def test_cold_starts_are_measured_where_a_neighbour_was(swept):
    found = sorted(path.parent.name for path in swept.folder.rglob("cold_start.json"))
    assert found == ["msi.C-1", "msi.C-3"]
    figures = json.loads((swept.folder / "results" / "tiny" / "msi.C-3" / "cold_start.json").read_text())
    assert figures["initialization"] == "mean-separating"
    assert figures["labels"] == figures["of"] == 10
    assert figures["warm"]["newton_steps"] < figures["cold"]["newton_steps"]


def test_the_report_has_a_section_of_the_sweep(swept):
    page = (swept.folder / "results" / "report.html").read_text()
    assert "<h3>Sweeps " in page
    assert "<bdi>msi</bdi>" in page
    assert "msi.C-0.3" in page


def test_what_a_changed_value_runs(swept):
    one = {"plan_shards": 1, "write_report": 1}
    assert jobs_after(swept) == {}
    assert jobs_after(swept, runs=runs(0.3, 1, 4)) == WARM | one
    assert jobs_after(swept, runs=runs(0.3, 1)) == {"write_report": 1}
    # a value in between: itself and those above it
    assert jobs_after(swept, runs=runs(0.3, 1, 2, 3)) == dict.fromkeys(WARM, 2) | one
    # a value at the lower end: all, and the two runs that start from them
    assert jobs_after(swept, runs=runs(0.1, 0.3, 1, 3)) == dict.fromkeys(WARM, 6) | FIRST | one
    scored = {"predict_labels": 5, "evaluate_predictions": 5, "write_report": 1}
    assert jobs_after(swept, predict={"top_k": 3}) == scored
    assert jobs_after(swept) == {}


def test_a_model_from_elsewhere(swept, tmp_path):
    place = swept.copy(tmp_path)
    (place.folder / "old.h5").write_bytes((place.folder / "results" / "tiny" / "later" / "model.h5").read_bytes())
    run = {"initialization": "pretrained", "pretrained": "old.h5"}
    write_config(place.folder / "my.yaml", runs={"new": run}, train={"shards": 1}, prepare={"min_df": 3, "bias": 0.5})
    place.snakemake("results/tiny/new/model.h5")
    assert "10 of 10 labels start" in (place.folder / "logs" / "tiny" / "new" / "train-shard.0.log").read_text()


def test_a_model_that_is_nowhere(place):
    write_config(place.folder / "my.yaml", runs={"a": {"initialization": "pretrained", "pretrained": "b.h5"}})
    assert "runs.a.pretrained: no run and no file b.h5; paths are relative to" in place.snakemake("-n", status=2)


def test_estimate_and_benchmark_start_from_it(swept, capsys):
    results = swept.folder / "results" / "tiny"
    start = [
        str(results / "dataset.h5"),
        "--initialization=pretrained",
        f"--earlier={results / 'later' / 'model.h5'}",
    ]
    assert main(["estimate", *start, "--json"]) == 0
    assert main(["benchmark", "solver", *start]) == 0
    written = capsys.readouterr()
    estimated, measured = (json.loads(line) for line in written.out.splitlines())
    assert estimated["sampled_labels"] == measured["labels"] == 10
    assert measured["newton_per_label"] < 3
    assert main(["benchmark", "solver", *start[:2]]) == 2
    assert "give --earlier=MODEL" in capsys.readouterr().err
