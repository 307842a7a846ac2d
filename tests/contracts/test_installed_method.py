"""nearest_centroid.py as an installed package: a whole run, and what reads its model."""

import shutil
from pathlib import Path

import pytest
from commands import read_answers
from pipeline_folder import OVAFLOW_COMMAND, SOURCE_FOLDER, PipelineFolder
from running_service import running_service
from tiny_table import write_named_table

pytestmark = pytest.mark.long

CONFIG = """
datasets: {tiny: {format: csv, train: records.csv, label_separator: "|"}}
runs: {centroids: {method: nearest-centroid, smallest: 0.02, shards: 2}, msi: {rerank: 0, shards: 1}}
nearest_centroid: {smallest: 0.03}
predict: {rerank: 0.3}
"""


def install(site) -> None:
    """Write the module and its entry point, as pip does."""
    info = site / "ovaflow_centroids-1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("nearest_centroid.py"), site)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ovaflow-centroids\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[ovaflow.methods]\nnearest-centroid = nearest_centroid:NearestCentroid\n"
    )


class PlaceWithSite(PipelineFolder):
    """A place whose commands find the package."""

    def environment(self, **variables):
        return super().environment(
            **{"PYTHONPATH": f"{SOURCE_FOLDER}:{self.folder}/site"} | variables
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("place")
    install(folder / "site")
    write_named_table(folder / "records.csv")
    (folder / "my.yaml").write_text(CONFIG)
    found = PlaceWithSite(folder)
    found.snakemake()
    return found


MODEL = "results/tiny/centroids/model.h5"


def test_it_is_trained_ranked_and_measured(place) -> None:
    ours = place.metrics("centroids")["P@1"]
    theirs = place.metrics("msi")["P@1"]
    assert ours > 0.5 * theirs
    assert "first_stage" in place.metrics("centroids")
    assert len(list(place.result("centroids", "shards").glob("*.h5"))) == 2
    assert len(list(place.result("estimates").glob("nearest-centroid-*.json"))) == 1


def test_its_settings_are_those_of_the_run_and_change_what_runs(place) -> None:
    assert "Nothing to be done" in place.snakemake("--dry-run")
    (place.folder / "other.yaml").write_text(CONFIG.replace("smallest: 0.02, ", ""))
    written = place.snakemake("--dry-run", configfile="other.yaml")
    assert written.count("rule train_shard:") == 4
    assert "run=msi" not in written.replace("results/tiny/msi", "")
    (place.folder / "wrong.yaml").write_text(CONFIG.replace("0.03", "-1"))
    said = place.snakemake("--dry-run", configfile="wrong.yaml", status=2)
    assert "nearest_centroid.smallest: found -1, expected a number of at least 0" in said


def test_it_is_in_the_report_and_estimated(place) -> None:
    page = (place.folder / "results/report.html").read_text(encoding="utf-8")
    assert "nearest-centroid" in page
    said = place.ovaflow(
        "estimate", "results/tiny/dataset.h5", "--method=nearest-centroid", "--smallest=0"
    )
    assert "74 of 74 labels" in said


def test_it_answers_explains_and_is_served(place, tmp_path, monkeypatch) -> None:
    place.ovaflow("predict", MODEL, "--text=name1 of name27", "--output=answers.jsonl")
    [first, *_] = read_answers(place.folder / "answers.jsonl")[0]["labels"]
    assert first["probability"] > 0.1
    assert first["name"] in place.ovaflow("explain", MODEL, f"--label={first['name']}")
    monkeypatch.setenv("PYTHONPATH", f"{SOURCE_FOLDER}:{place.folder}/site")
    with running_service(tmp_path, place.folder / MODEL) as service:
        served = service.answer("/predict", {"text": "name1 of name27"})
    assert served["predictions"][0]["labels"][0]["name"] == first["name"]


def test_without_its_package_one_learns_what_to_install(place) -> None:
    command = [*OVAFLOW_COMMAND, "predict", MODEL, "--text=word"]
    said = place.run(command, 2, env=place.environment(PYTHONPATH=str(SOURCE_FOLDER)))
    assert (
        "a model of nearest-centroid, which is not installed here; install ovaflow-centroids"
        in said
    )
