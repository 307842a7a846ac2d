"""All runs of a config in one table, with the figures of their files and remarks where they are not
to be compared.
"""

import json
import shutil

import pytest
import yaml
from commands import ovaflow
from records import read_records

from ovaflow.storage.texts import read_json, write_json

CONFIG = {
    "datasets": {"tiny": {"format": "csv", "train": "records.csv", "label_separator": "|"}},
    "runs": {
        "msi": {"initialization": "label-tree"},
        "forest": {"method": "fastxml", "trees": 3},
        "embedded": {"method": "rembrandt"},
        "planned": {"C": 4, "initialization": "label-tree", "class_weight": "balanced"},
    },
}


@pytest.fixture
def place(finished, tmp_path, monkeypatch):
    """A folder with a config, of which all runs but one are finished."""
    shutil.copytree(finished.path, tmp_path / "results" / "tiny")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))
    return tmp_path


def read_table(place):
    (place / "runs.csv").write_text(ovaflow("runs", "my.yaml", "--csv"))
    return {row["run"]: row for row in read_records(place / "runs.csv")}


def test_figures_are_those_of_the_files(place) -> None:
    rows = read_table(place)
    entries = json.loads(ovaflow("runs", "my.yaml", "--json"))
    assert list(rows) == [entry["run"] for entry in entries] == list(CONFIG["runs"])
    for name in ("msi", "forest", "embedded"):
        metrics = read_json(place / "results" / "tiny" / name / "metrics.json", "metrics")
        for metric, bounds in metrics["intervals"].items():
            ours = [float(rows[name][f"{metric}{end}"]) for end in ("", " low", " high")]
            assert ours == pytest.approx([metrics[metric], *bounds])
        assert float(rows[name]["model [bytes]"]) == metrics["model_bytes"]
        assert next(entry["metrics"] for entry in entries if entry["run"] == name) == metrics
    assert rows["forest"]["F1-fit"] == ""
    methods = [rows[name]["method"] for name in ("msi", "forest", "embedded", "planned")]
    assert methods == ["one-vs-all", "fastxml", "rembrandt", "one-vs-all"]
    assert [rows[name]["C"] for name in ("msi", "planned")] == ["1", "4"]
    # what is not set at all by one of two runs of a method and start differs, too
    assert [rows[name]["class weight"] for name in rows] == ["", "", "", "balanced"]
    assert "loss" not in rows["msi"]


def test_folds_are_columns_where_some_run_has_them(place) -> None:
    assert "folds" not in ovaflow("runs", "my.yaml")
    folder = place / "results" / "tiny" / "msi"
    metrics = read_json(folder / "metrics.json", "metrics")
    other = {name: 0.5 * value if name == "P@1" else value for name, value in metrics.items()}
    write_json(folder / "other.json", "metrics", other)
    files = [folder / "metrics.json", folder / "other.json"]
    ovaflow("join-folds", *files, f"--model={folder}/model.h5", f"--output={folder}/folds.json")
    figures = read_json(folder / "folds.json", "folds")["metrics"]["P@1"]
    rows = read_table(place)
    said = ovaflow("runs", "my.yaml")
    ours = [float(rows["msi"][f"folds P@1{end}"]) for end in ("", " low", " high")]
    assert ours == pytest.approx([0.75 * metrics["P@1"], *figures["interval"]])
    assert rows["forest"]["folds P@1"] == ""
    assert "folds P@1" in said
    low, high = figures["interval"]
    assert f"{75 * metrics['P@1']:.1f} ±{50 * (high - low):.1f}" in said
    [entry] = [each for each in json.loads(ovaflow("runs", "my.yaml", "--json")) if "folds" in each]
    assert entry["run"] == "msi"
    assert entry["folds"]["metrics"]["P@1"] == figures
    # those of another model are left out
    folds = read_json(folder / "folds.json", "folds")
    write_json(folder / "folds.json", "folds", folds | {"model": "0" * 32})
    assert "folds P@1" not in read_table(place)["msi"]


def test_remarks_say_what_is_not_there_or_not_to_be_compared(place) -> None:
    folder = place / "results" / "tiny"
    assert {
        name: row["remark"]
        for name, row in read_table(place).items()
        if name not in ("forest", "embedded")
    } == {
        "msi": "",
        "planned": "not there yet",
    }
    (folder / "forest" / "metrics.json").unlink()
    metrics = read_json(folder / "embedded" / "metrics.json", "metrics")
    write_json(folder / "embedded" / "metrics.json", "metrics", metrics, described="0" * 32)
    rows = read_table(place)
    assert rows["forest"]["remark"].startswith("metrics.json: no such file; make it first")
    assert "stale: it describes another model" in rows["embedded"]["remark"]
    assert rows["embedded"]["P@1"] == rows["forest"]["P@1"] == ""
    (folder / "msi" / "model.h5").write_text("nothing")
    assert "not a model file" in read_table(place)["msi"]["remark"]


def test_a_run_of_another_dataset_and_one_with_other_settings(place) -> None:
    folder = place / "results" / "tiny" / "planned"
    shutil.copytree(place / "results" / "tiny" / "msi", folder)
    assert read_table(place)["planned"]["remark"] == "made with C 1, the config has 4"
    place.joinpath("my.yaml").write_text(
        yaml.safe_dump(CONFIG | {"train": {"prune": 0.1}}, sort_keys=False)
    )
    assert "made with prune 0.05, the config has 0.1" in read_table(place)["msi"]["remark"]
    held_out = place / "results" / "tiny" / "held_model.h5"
    shutil.copy(held_out, folder / "model.h5")
    metrics = read_json(folder / "metrics.json", "metrics")
    write_json(folder / "metrics.json", "metrics", metrics)
    remark = read_table(place)["planned"]["remark"]
    assert "of another dataset.h5 than msi, perhaps of other test records" in remark


@pytest.mark.parametrize("columns", ["40", "200"])
def test_a_terminal_shows_every_column(place, columns, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    said = ovaflow("runs", "my.yaml")
    for heading in (
        "dataset",
        "run",
        "method",
        "P@1",
        "F1-fit",
        "training",
        "ms / instance",
        "model",
        "remark",
    ):
        assert heading in said
    assert "±" in said
    assert "ovaflow run my.yaml makes what is missing" in said


def test_the_config_is_found_as_run_finds_it(place) -> None:
    assert "docstrings" in ovaflow("runs")
    (place / "config").mkdir()
    (place / "my.yaml").rename(place / "config" / "config.yaml")
    assert "planned" in ovaflow("runs")
    assert "exclude each other" in ovaflow("runs", "--csv", "--json", status=2)
