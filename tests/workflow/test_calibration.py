"""A finished run is calibrated: what that re-runs, and what it makes."""

import json

import pytest
from tiny_table import write_config

from ovaflow.model.model_file import open_model
from ovaflow.prediction.calibration import read_calibration

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

HELD_OUT = {
    "hold_out_instances": 1,
    "compute_means": 1,
    "plan_shards": 1,
    "train_shard": 2,
    "merge_shards": 1,
    "predict_labels": 1,
}
MADE = {"calibrate_scores": 1, "measure_calibration": 1, "write_report": 1}


def test_a_run_is_calibrated_without_training_it_again(finished, tmp_path):
    place = finished.copy(tmp_path)
    runs = {"msi": {"calibrate": 0.3}, "dismec": {"initialization": "zero"}}
    write_config(place.folder / "my.yaml", runs=runs)
    assert place.jobs() == HELD_OUT | MADE
    place.snakemake()
    assert place.jobs() == {}

    run = place.folder / "results" / "tiny" / "msi"
    calibration = read_calibration(run / "calibration.h5", open_model(run / "model.h5"))
    assert calibration.parameters["fraction"] == 0.3
    raw, _, ours = json.loads((run / "calibration.json").read_text())["probabilities"]
    assert ours["log_loss"] < raw["log_loss"]
    report = (place.folder / "results" / "report.html").read_text()
    assert "Probabilities and thresholds" in report

    # the dataset's propensities and the number of labels shown tell nothing about the scores
    write_config(place.folder / "my.yaml", runs=runs | {"msi": {"calibrate": 0.3, "top_k": 3}})
    jobs = place.jobs()
    assert {"train_shard", "hold_out_instances", "calibrate_scores"}.isdisjoint(jobs)
    assert jobs["predict_labels"] == jobs["measure_calibration"] == 1

    # other weights are another model, and mean other scores
    write_config(place.folder / "my.yaml", runs=runs, train={"shards": 2, "prune": 0.05})
    jobs = place.jobs()
    assert "train_shard" not in jobs
    assert (jobs["merge_shards"], jobs["calibrate_scores"]) == (3, 1)
