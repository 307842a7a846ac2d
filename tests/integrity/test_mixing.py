"""Artifacts of another run or dataset are refused by every command that reads several."""

import re
import shutil

import pytest
from commands import ovaflow
from finished_run import STEPS, list_inputs, make_output_paths, read_report_page, run_command

MIXED = [(step, name) for step in STEPS for name in list_inputs(step) if len(list_inputs(step)) > 1]

LEGAL = {
    (
        "train-shard",
        "plan",
    ): "a plan says which labels go together, and is checked to name as many as there are",
    ("train-shard", "held_plan"): "likewise",
}
"""What may come from elsewhere, and why."""


@pytest.mark.parametrize(("step", "name"), MIXED, ids=lambda part: part.split()[0])
def test_another_datasets_artifacts_are_refused(finished, other, tmp_path, step, name) -> None:
    done = run_command(
        *finished.words(step, **make_output_paths(step, tmp_path), **{name: other[name]})
    )
    if (step.split()[0], name) in LEGAL:
        assert done.status == 0, done.written
        return
    assert done.refused, done.written
    assert str(finished.path) in done.written or str(other.path) in done.written
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and path.parent.suffix != ".parts"
    ]


AGAIN = ("root", "train-shard", "merge", "predict", "evaluate")


@pytest.fixture(scope="module")
def stronger(finished, tmp_path_factory):
    """The same dataset trained with another C, from root to predictions."""
    folder = finished.copy(tmp_path_factory.mktemp("stronger") / "tiny")
    for step in STEPS:
        command = step.split()[0]
        if command == "rerank" or (command in AGAIN and not re.search("held|--method", step)):
            ovaflow(*folder.words(step), *["--C=3"] * (command in ("root", "train-shard")))
    return folder


SETTINGS = [
    ("train-shard", "root", "solved with C 3.0"),
    ("merge", "shard0", "differs from"),
    ("merge", "shard1", "differs from"),
    ("evaluate", "predictions", "made from another model than"),
    ("evaluate", "model", "made from another model than"),
    ("evaluate", "training", "a training with another C"),
    ("predict", "reranker", "made from another model than"),
    ("reliability", "reranker", "predictions were not made with it"),
]


@pytest.mark.parametrize(("command", "name", "said"), SETTINGS, ids=lambda part: part)
def test_another_runs_artifacts_are_refused(
    finished, stronger, tmp_path, command, name, said
) -> None:
    step = next(step for step in STEPS if step.split()[0] == command and f"{{{name}}}" in step)
    done = run_command(
        *finished.words(step, **make_output_paths(step, tmp_path), **{name: stronger[name]})
    )
    assert done.refused
    assert said in done.written


@pytest.fixture
def mixed(finished, other, tmp_path):
    """A copy of a run with some files of the other."""
    folder = finished.copy(tmp_path / "tiny")

    def mix(*names):
        for name in names:
            shutil.copyfile(other[name], folder[name])
        return folder

    return mix


REPORTED = {
    "dataset": "predictions.h5: stale: made from another dataset than",
    "model": "it describes another model",
    "predictions": "predictions.h5: stale: made from another dataset than",
    "training": "training.h5: stale: made from another dataset than",
    "metrics": "stale: it describes another model",
}


@pytest.mark.parametrize("name", REPORTED)
def test_the_report_refuses_them(mixed, tmp_path, name) -> None:
    done = run_command("report", mixed(name).path / "msi", f"--output={tmp_path / 'report.html'}")
    assert done.refused, done.written
    assert REPORTED[name] in done.written


def test_the_report_passes_over_what_was_measured_elsewhere(mixed, tmp_path) -> None:
    """Nothing of it is shown: the page is that without the files."""
    measured = ["analysis", "reliability"]
    pages = []
    folder = mixed(*measured)
    for remove in (False, True):
        for name in measured * remove:
            folder[name].unlink()
        ovaflow("report", folder.path / "msi", f"--output={tmp_path / 'report.html'}")
        pages.append(read_report_page(tmp_path / "report.html"))
    assert pages[0] == pages[1]
