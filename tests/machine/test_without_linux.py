"""The pipeline and its models on a system without the features of Linux that macOS lacks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import predict_answers
from pipeline_folder import SOURCE_FOLDER
from running_service import running_service
from tiny_table import TINY_CONFIG, write_config

from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions

pytestmark = [pytest.mark.workflow, pytest.mark.long]

HERE = Path(__file__).parent / "without_linux"
MODEL = "results/tiny/msi/model.h5"
TEXT = "word01 word12"


def test_the_whole_pipeline_makes_the_same_model(finished, tmp_path) -> None:
    folder = finished.copy(tmp_path).folder
    shutil.rmtree(folder / "results" / "tiny")
    sections = {"runs": {"msi": TINY_CONFIG["runs"]["msi"]}, "report": {"examples": 1}}
    write_config(folder / "my.yaml", **sections, train={"shards": 1, "threads": 2})
    environment = finished.environment(PYTHONPATH=f"{HERE}{os.pathsep}{SOURCE_FOLDER}")
    # the other scheduler is a program for the system
    command = [sys.executable, "-P", "-m", "ovaflow", "run", "my.yaml", "--scheduler=greedy"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Benchmark" not in done.stdout
    assert "Darwin" in (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert (folder / MODEL).read_bytes() == (finished.folder / MODEL).read_bytes()
    our_run = (folder / MODEL).parent
    their_run = (finished.folder / MODEL).parent
    ours = Predictions.open(our_run / "predictions.h5")
    theirs = Predictions.open(their_run / "predictions.h5")
    assert np.array_equal(ours.ids, theirs.ids)
    assert np.array_equal(ours.scores, theirs.scores)
    our_peak = Training.open(our_run / "training.h5").peak_rss_bytes
    their_peak = Training.open(their_run / "training.h5").peak_rss_bytes
    assert 0.5 < our_peak / their_peak < 2
    training = (folder / "results/tiny/msi/shards").resolve().parent.name
    log_path = folder / "logs/tiny/trainings" / training / "train-shard.0.log"
    log = log_path.read_text(encoding="utf-8")
    assert log.count("not pinned") == 1


def test_the_service_gives_the_same_answer(finished, tmp_path, monkeypatch) -> None:
    model = finished.folder / MODEL
    [theirs] = predict_answers(model, "--text", TEXT)
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{SOURCE_FOLDER}")
    with running_service(tmp_path, model) as service:
        answer = service.answer("/predict", {"text": TEXT})
    assert answer["predictions"][0]["labels"] == theirs["labels"]
