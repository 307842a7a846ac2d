"""The table of all runs of a config, with figures of their files, and remarks on differences."""

import json
import shutil
from pathlib import Path

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
def folder(finished, tmp_path, monkeypatch) -> Path:
    """The working directory, with a config of which all runs but one are finished."""
    shutil.copytree(finished.path, tmp_path / "results" / "tiny")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))
    return tmp_path


def read_table(folder: Path) -> dict[str, dict[str, str]]:
    """Read the rows of the table by run."""
    (folder / "runs.csv").write_text(ovaflow("runs", "my.yaml", "--csv"))
    return {row["run"]: row for row in read_records(folder / "runs.csv")}


def test_figures_are_those_of_the_files(folder) -> None:
    rows = read_table(folder)
    entries = json.loads(ovaflow("runs", "my.yaml", "--json"))
    assert list(rows) == [entry["run"] for entry in entries] == list(CONFIG["runs"])
    for name in ("msi", "forest", "embedded"):
        metrics = read_json(folder / "results" / "tiny" / name / "metrics.json", "metrics")
        for metric, bounds in metrics["intervals"].items():
            ours = [float(rows[name][f"{metric}{end}"]) for end in ("", " low", " high")]
            assert ours == pytest.approx([metrics[metric], *bounds])
        assert float(rows[name]["model [bytes]"]) == metrics["model_bytes"]
        [entry] = [entry for entry in entries if entry["run"] == name]
        assert entry["metrics"] == metrics
    assert rows["forest"]["F1-fit"] == ""
    methods = [rows[name]["method"] for name in ("msi", "forest", "embedded", "planned")]
    assert methods == ["one-vs-all", "fastxml", "rembrandt", "one-vs-all"]
    assert [rows[name]["C"] for name in ("msi", "planned")] == ["1", "4"]
    # a setting that one of two runs of the same method and start lacks differs, too
    assert [rows[name]["class weight"] for name in rows] == ["", "", "", "balanced"]
    assert "loss" not in rows["msi"]


def test_folds_are_columns_where_some_run_has_them(folder) -> None:
    assert "folds" not in ovaflow("runs", "my.yaml")
    results = folder / "results" / "tiny" / "msi"
    metrics = read_json(results / "metrics.json", "metrics")
    other = metrics | {"P@1": 0.5 * metrics["P@1"]}
    write_json(results / "other.json", "metrics", other)
    files = [results / "metrics.json", results / "other.json"]
    ovaflow("join-folds", files, f"--model={results}/model.h5", f"--output={results}/folds.json")
    figures = read_json(results / "folds.json", "folds")["metrics"]["P@1"]
    rows = read_table(folder)
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
    folds = read_json(results / "folds.json", "folds")
    write_json(results / "folds.json", "folds", folds | {"model": "0" * 32})
    assert "folds P@1" not in read_table(folder)["msi"]


def test_remarks_name_missing_and_stale_files(folder) -> None:
    results = folder / "results" / "tiny"
    rows = read_table(folder)
    assert rows["msi"]["remark"] == ""
    assert rows["planned"]["remark"] == "not made yet"
    (results / "forest" / "metrics.json").unlink()
    metrics = read_json(results / "embedded" / "metrics.json", "metrics")
    write_json(results / "embedded" / "metrics.json", "metrics", metrics, described="0" * 32)
    rows = read_table(folder)
    assert rows["forest"]["remark"].startswith("metrics.json: no such file; make it first")
    assert "stale: it describes another model" in rows["embedded"]["remark"]
    assert rows["embedded"]["P@1"] == rows["forest"]["P@1"] == ""
    (results / "msi" / "model.h5").write_text("nothing")
    assert "not a model file" in read_table(folder)["msi"]["remark"]


def test_a_run_of_another_dataset_and_one_with_other_settings(folder) -> None:
    results = folder / "results" / "tiny" / "planned"
    shutil.copytree(folder / "results" / "tiny" / "msi", results)
    assert read_table(folder)["planned"]["remark"] == "made with C 1, the config has 4"
    folder.joinpath("my.yaml").write_text(
        yaml.safe_dump(CONFIG | {"train": {"prune": 0.1}}, sort_keys=False)
    )
    assert "made with prune 0.05, the config has 0.1" in read_table(folder)["msi"]["remark"]
    held_out = folder / "results" / "tiny" / "held_model.h5"
    shutil.copy(held_out, results / "model.h5")
    metrics = read_json(results / "metrics.json", "metrics")
    write_json(results / "metrics.json", "metrics", metrics)
    remark = read_table(folder)["planned"]["remark"]
    assert "made from another dataset.h5 than msi, perhaps with other test records" in remark


@pytest.mark.parametrize("columns", ["40", "200"])
def test_a_terminal_shows_every_column(folder, columns, monkeypatch) -> None:
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


def test_the_config_is_found_as_run_finds_it(folder) -> None:
    assert "docstrings" in ovaflow("runs")
    (folder / "config").mkdir()
    (folder / "my.yaml").rename(folder / "config" / "config.yaml")
    assert "planned" in ovaflow("runs")
    assert "exclude each other" in ovaflow("runs", "--csv", "--json", status=2)
