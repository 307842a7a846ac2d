"""The pipeline and its models where what only Linux has is hidden, which leaves what macOS has."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from pipeline_place import SOURCE
from running_service import running_service
from tiny_table import CONFIG, write_config

from ovaflow.cli import main

pytestmark = [pytest.mark.workflow, pytest.mark.long]

HERE = Path(__file__).parent / "without_linux"
MODEL = "results/tiny/msi/model.h5"
TEXT = "word01 word12"


@pytest.fixture(scope="module")
def ovaflow(finished):
    """Runs a command where this is hidden."""

    def run(folder, *words):
        environment = finished.environment(PYTHONPATH=f"{HERE}{os.pathsep}{SOURCE}")
        command = [sys.executable, "-P", "-m", "ovaflow", *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_whole_pipeline_makes_the_same_model(finished, ovaflow, tmp_path):
    folder = finished.copy(tmp_path).folder
    shutil.rmtree(folder / "results" / "tiny")
    sections = {"runs": {"msi": CONFIG["runs"]["msi"]}, "report": {"examples": 1, "prune_thresholds": []}}
    write_config(folder / "my.yaml", **sections, train={"shards": 1, "threads": 2})
    # the other scheduler is a program for the system
    written = ovaflow(folder, "run", "my.yaml", "--scheduler=greedy")
    assert "Darwin" in (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert (folder / MODEL).read_bytes() == (finished.folder / MODEL).read_bytes()
    predictions = Path(MODEL).with_name("predictions.h5")
    with h5py.File(folder / predictions) as ours, h5py.File(finished.folder / predictions) as theirs:
        for name in ("ids", "scores"):
            np.testing.assert_array_equal(ours[name], theirs[name])
    training = Path(MODEL).with_name("training.h5")
    with h5py.File(folder / training) as ours, h5py.File(finished.folder / training) as theirs:
        assert 0.5 < ours.attrs["peak_rss_bytes"] / theirs.attrs["peak_rss_bytes"] < 2
    log = (folder / "logs/tiny/msi/train-shard.0.log").read_text(encoding="utf-8")
    assert log.count("not pinned") == 1
    assert "Benchmark" not in written


def test_the_same_explanation(finished, ovaflow, capsys):
    words = ["explain", MODEL, "--text", TEXT]
    written = ovaflow(finished.folder, *words)
    assert main(["explain", str(finished.folder / MODEL), "--text", TEXT]) == 0
    assert written == capsys.readouterr().out


def test_the_service_gives_the_same_answer(finished, tmp_path, monkeypatch, capsys):
    model = finished.folder / MODEL
    assert main(["predict", str(model), "--text", TEXT]) == 0
    theirs = json.loads(capsys.readouterr().out)
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{SOURCE}")
    with running_service(tmp_path, model) as service:
        status, answer = service.ask("/predict", {"text": TEXT})
    assert status == 200
    assert answer["predictions"][0]["labels"] == theirs["labels"]
