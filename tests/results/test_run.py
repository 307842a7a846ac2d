"""A run reads files of its folder on demand, and refuses files of other models."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from finished_run import make_run_with_every_method

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import open_any_model
from ovaflow.results.runs import Runs, choose_shown_runs, open_run, open_runs
from ovaflow.storage.texts import read_json, write_json


@pytest.fixture(scope="module")
def finished(make_once):
    return make_run_with_every_method(make_once)


@pytest.fixture
def folder(finished, tmp_path):
    """The folder of a dataset, which a test may change."""
    return shutil.copytree(finished.path, tmp_path / "tiny")


@pytest.mark.parametrize("name", ["msi", "forest", "embedded"])
def test_a_header_has_the_fields_of_the_complete_model(finished, name) -> None:
    run = open_run(finished.path / name)
    ours = run.model
    theirs = open_any_model(finished.path / name / "model.h5")
    assert ours.checksum == theirs.checksum
    assert ours.parameters == theirs.parameters
    assert ours.method == theirs.method
    assert run.n_trained == np.count_nonzero(theirs.trained)


def test_files_are_read_on_demand(folder) -> None:
    run = open_run(folder / "alone" / "msi")
    run.folder.mkdir(parents=True)
    for name in ("model.h5", "metrics.json"):
        shutil.copy(folder / "msi" / name, run.folder)
    assert run.all_metrics["model_bytes"] == run.model_path.stat().st_size
    assert (run.analysis, run.folds, run.choice_of_pruning) == ({}, {}, {})
    with pytest.raises(InputError, match=r"dataset\.h5: no such file"):
        _ = run.predictions


@pytest.mark.parametrize(
    ("name", "asked"), [("metrics.json", "all_metrics"), ("predictions.h5", "predictions")]
)
def test_a_file_of_another_model_is_refused(folder, name, asked) -> None:
    shutil.copy(folder / "forest" / name, folder / "msi" / name)
    with pytest.raises(InputError, match="stale"):
        getattr(open_run(folder / "msi"), asked)


def test_an_analysis_of_another_model_is_empty(folder) -> None:
    run = open_run(folder / "msi")
    assert run.analysis["model"] == run.model.checksum
    write_json(folder / "msi" / "analysis.json", "analysis", run.analysis | {"model": "another"})
    assert open_run(folder / "msi").analysis == {}


def test_a_function_of_a_section_reads_a_run_once(finished) -> None:
    run = open_run(finished.path / "msi")
    calls = []
    assert run.read(calls.append) is None
    assert run.read(calls.append) is None
    assert calls == [run]


def test_runs_know_their_differences_and_the_run_of_the_same_training(folder) -> None:
    shutil.copytree(folder / "msi", folder / "again")
    metrics = read_json(folder / "again" / "metrics.json", "metrics")
    write_json(
        folder / "again" / "metrics.json",
        "metrics",
        metrics | {"train_seconds": 1e6, "nDCG@5": 0.0},
    )
    runs = Runs(folder, ("msi", "again", "forest"))
    msi, again, forest = runs.all
    assert [run.same_training_run for run in runs.all] == [None, msi, None]
    assert again.training_seconds == msi.all_metrics["train_seconds"]
    assert forest.summary.startswith("fastxml")
    assert msi.summary == again.summary != forest.summary
    assert runs.best is max(runs.all, key=lambda run: run.metrics["nDCG@5"])
    assert [run.series for run in runs.shown_runs] == list(range(len(runs.all)))
    together = open_runs([folder / "msi", folder / "forest", folder / "msi"])
    assert [(each.folder, each.names) for each in together] == [
        (folder.resolve(), ("msi", "forest"))
    ]


def test_the_first_run_and_the_best_runs_are_shown() -> None:
    qualities = (0.1, 0.2, 0.9, None, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
    runs = []
    for quality in qualities:
        model = SimpleNamespace(method="one-vs-all")
        runs.append(SimpleNamespace(all_metrics={"P@1": quality}, model=model))
    assert choose_shown_runs(runs) == [runs[0], runs[2], *runs[4:]]
    runs[1].model.method = "fastxml"
    runs[3].model.method = "rembrandt"
    assert choose_shown_runs(runs) == runs[:8]
