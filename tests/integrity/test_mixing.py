"""Artifacts of another run or dataset are refused by every command that reads several."""

import re
import shutil
from collections.abc import Callable

import pytest
from commands import ovaflow
from finished_run import (
    STEPS,
    CommandResult,
    RunFolder,
    list_inputs,
    make_output_paths,
    read_report_page,
    run_command,
)

MIXED = []
for step in STEPS:
    inputs = list_inputs(step)
    if len(inputs) > 1:
        MIXED += [(step, name) for name in inputs]

LEGAL = {("train-shard", "plan"), ("train-shard", "held_plan")}
"""Artifacts that may be of another run: a plan groups labels, and only their number is checked."""


def run_with(folder, step, out, **instead) -> CommandResult:
    """Run a step that writes to another folder, with other files in place of its own."""
    paths = make_output_paths(step, out) | instead
    return run_command(folder.words(step, **paths))


@pytest.mark.parametrize(("step", "name"), MIXED, ids=lambda part: part.split()[0])
def test_another_datasets_artifacts_are_refused(finished, other, tmp_path, step, name) -> None:
    done = run_with(finished, step, tmp_path, **{name: other[name]})
    if (step.split()[0], name) in LEGAL:
        assert done.status == 0, done.written
        return
    assert done.refused, done.written
    assert str(finished.path) in done.written or str(other.path) in done.written
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or path.parent.suffix == ".parts"


REPEATED_STEPS = ("root", "train-shard", "merge", "predict", "evaluate")


@pytest.fixture(scope="module")
def stronger(finished, tmp_path_factory) -> RunFolder:
    """The same dataset trained with another C, from root to predictions."""
    folder = finished.copy(tmp_path_factory.mktemp("stronger") / "tiny")
    for step in STEPS:
        command = step.split()[0]
        is_main_run = not re.search("held|--method", step)
        if command == "rerank" or (command in REPEATED_STEPS and is_main_run):
            options = ["--C=3"] if command in ("root", "train-shard") else []
            ovaflow(folder.words(step), options)
    return folder


REFUSALS = [
    ("train-shard", "root", "solved with C 3.0"),
    ("merge", "shard0", "differs from"),
    ("merge", "shard1", "differs from"),
    ("evaluate", "predictions", "made from another model than"),
    ("evaluate", "model", "made from another model than"),
    ("evaluate", "training", "a training with another C"),
    ("predict", "reranker", "made from another model than"),
    ("reliability", "reranker", "predictions were not made with it"),
]


@pytest.mark.parametrize(("command", "name", "reason"), REFUSALS, ids=lambda part: part)
def test_another_runs_artifacts_are_refused(
    finished, stronger, tmp_path, command, name, reason
) -> None:
    steps = [step for step in STEPS if step.split()[0] == command and f"{{{name}}}" in step]
    done = run_with(finished, steps[0], tmp_path, **{name: stronger[name]})
    assert done.refused
    assert reason in done.written


@pytest.fixture
def copy_with(finished, other, tmp_path) -> Callable[[list[str]], RunFolder]:
    """Copy a run with some files of the other."""

    def copy_with_others(names) -> RunFolder:
        folder = finished.copy(tmp_path / "tiny")
        for name in names:
            shutil.copyfile(other[name], folder[name])
        return folder

    return copy_with_others


REPORTED = {
    "dataset": "predictions.h5: stale: made from another dataset than",
    "model": "it describes another model",
    "predictions": "predictions.h5: stale: made from another dataset than",
    "training": "training.h5: stale: made from another dataset than",
    "metrics": "stale: it describes another model",
}


@pytest.mark.parametrize("name", REPORTED)
def test_the_report_refuses_them(copy_with, tmp_path, name) -> None:
    run = copy_with([name]).path / "msi"
    done = run_command("report", run, f"--output={tmp_path / 'report.html'}")
    assert done.refused, done.written
    assert REPORTED[name] in done.written


def test_the_report_ignores_measurements_of_another_run(copy_with, tmp_path) -> None:
    """The page is the same without the files."""
    folder = copy_with(["analysis", "reliability"])
    page = tmp_path / "report.html"
    ovaflow("report", folder.path / "msi", f"--output={page}")
    ours = read_report_page(page)
    folder["analysis"].unlink()
    folder["reliability"].unlink()
    ovaflow("report", folder.path / "msi", f"--output={page}")
    assert ours == read_report_page(page)
