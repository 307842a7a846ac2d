"""nearest_centroid.py as an installed package: a whole run, and what reads its model."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pipeline_place import SOURCE, Place
from running_service import running_service
from tiny_table import write_named_table

pytestmark = pytest.mark.long

CONFIG = {
    "datasets": {"tiny": {"format": "csv", "train": "records.csv", "label_separator": "|"}},
    "runs": {
        "centroids": {"method": "nearest-centroid", "smallest": 0.02, "shards": 2},
        "msi": {"initialization": "mean-separating"},
    },
    "nearest_centroid": {"smallest": 0.03},
    "predict": {"rerank": 0.3},
}


def install(site):
    """Write the module and its entry point, as pip does."""
    info = site / "ovaflow_centroids-1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("nearest_centroid.py"), site)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ovaflow-centroids\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ovaflow.methods]\nnearest-centroid = nearest_centroid:NearestCentroid\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("place")
    install(folder / "site")
    write_named_table(folder / "records.csv")
    (folder / "my.yaml").write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
    found = Place(folder)
    found.snakemake(PYTHONPATH=f"{SOURCE}:{folder}/site")
    return found


def ovaflow(place, *arguments, site=True, status=0):
    path = f"{SOURCE}:{place.folder}/site" if site else str(SOURCE)
    command = [sys.executable, "-P", "-m", "ovaflow", *arguments]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=place.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


MODEL = "results/tiny/centroids/model.h5"


def test_it_is_trained_ranked_and_measured(place):
    metrics = [
        json.loads((place.folder / f"results/tiny/{run}/metrics.json").read_text()) for run in ("centroids", "msi")
    ]
    ours, theirs = (each["P@1"] for each in metrics)
    assert ours > 0.5 * theirs
    assert "first_stage" in metrics[0]
    assert len(list((place.folder / "results/tiny/centroids/shards").glob("*.h5"))) == 2
    assert len(list((place.folder / "results/tiny/estimates").glob("nearest-centroid-*.json"))) == 1


def test_its_settings_are_those_of_the_run_and_change_what_runs(place):
    environment = {"PYTHONPATH": f"{SOURCE}:{place.folder}/site"}
    assert "Nothing to be done" in place.snakemake("--dry-run", **environment)
    changed = CONFIG | {"runs": CONFIG["runs"] | {"centroids": {"method": "nearest-centroid", "shards": 2}}}
    (place.folder / "other.yaml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    written = place.snakemake("--dry-run", configfile="other.yaml", **environment)
    assert written.count("rule train_shard:") == 4
    assert "run=msi" not in written.replace("results/tiny/msi", "")
    wrong = CONFIG | {"nearest_centroid": {"smallest": -1}}
    (place.folder / "wrong.yaml").write_text(yaml.safe_dump(wrong), encoding="utf-8")
    said = place.snakemake("--dry-run", configfile="wrong.yaml", status=2, **environment)
    assert "nearest_centroid.smallest: found -1, expected a number of at least 0" in said


def test_it_is_in_the_report_and_estimated(place):
    page = (place.folder / "results/report.html").read_text(encoding="utf-8")
    assert "nearest-centroid" in page
    said = ovaflow(place, "estimate", "results/tiny/dataset.h5", "--method=nearest-centroid", "--smallest=0")
    assert "74 of 74 labels" in said


def test_it_answers_explains_and_is_served(place, tmp_path, monkeypatch):
    answers = ovaflow(place, "predict", MODEL, "--text=name1 of name27", "--output-format=jsonl")
    first = json.loads(answers.splitlines()[0])["labels"][0]
    assert first["probability"] > 0.1
    assert first["name"] in ovaflow(place, "explain", MODEL, f"--label={first['name']}")
    monkeypatch.setenv("PYTHONPATH", f"{SOURCE}:{place.folder}/site")
    with running_service(tmp_path, place.folder / MODEL) as service:
        status, served = service.ask("/predict", {"text": "name1 of name27"})
    assert status == 200
    assert served["predictions"][0]["labels"][0]["name"] == first["name"]


def test_without_its_package_one_learns_what_to_install(place):
    said = ovaflow(place, "predict", MODEL, "--text=word", site=False, status=2)
    assert "a model of nearest-centroid, which is not installed here; install ovaflow-centroids" in said
