"""Artifacts of another run or dataset are refused by every command that reads several."""

import shutil

import pytest
from finished_run import NAMES, STEPS, WRITTEN, Folder, content, inputs_of_step, page, run

from ovaflow.console.errors import InputError
from ovaflow.serving.served_model import open_served_model

MIXED = [(step, name) for step in STEPS for name in inputs_of_step(step) if len(inputs_of_step(step)) > 1]

LEGAL = {
    ("train-shard", "plan"): "a plan says which labels go together, and is checked to name as many as there are",
    ("train-shard", "held_plan"): "likewise",
    ("cold-start", "model"): "an earlier model is of other data: that is what it is for",
}
"""What may come from elsewhere, and why."""


def outputs(step, folder):
    """Where a step shall write instead."""
    return {name: folder / NAMES.get(name, f"{name}.h5") for name in WRITTEN.findall(step)}


@pytest.mark.parametrize(("step", "name"), MIXED, ids=lambda part: part.split()[0])
def test_another_datasets_artifacts_are_refused(finished, other, tmp_path, step, name):
    done = run(*finished.words(step, **outputs(step, tmp_path), **{name: other[name]}))
    if (step.split()[0], name) in LEGAL:
        assert done.status == 0, done.said
        return
    assert done.refused, done.said
    assert str(finished.path) in done.said or str(other.path) in done.said
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.suffix != ".parts"]


def test_what_is_legal_is_asked_for():
    assert {(step.split()[0], name) for step, name in MIXED} >= set(LEGAL)


@pytest.fixture(scope="module")
def stronger(finished, tmp_path_factory):
    """The same dataset trained with another C, from root to predictions."""
    folder = Folder(tmp_path_factory.mktemp("stronger") / "tiny")
    shutil.copytree(finished.path, folder.path)
    for step in STEPS:
        if step.split()[0] in ("root", "train-shard", "merge", "predict", "evaluate") and "held" not in step:
            more = ["--C=3"] if step.split()[0] in ("root", "train-shard") else []
            done = run(*folder.words(step), *more)
            assert done.status == 0, done.said
    return folder


SETTINGS = [
    ("train-shard", "root", "solved with C 3.0"),
    ("merge", "shard0", "differs from"),
    ("merge", "shard1", "differs from"),
    ("evaluate", "predictions", "predictions were not made from it"),
    ("evaluate", "model", "predictions were not made from it"),
    ("evaluate", "training", "a training with another C"),
    ("calibration-curve", "model", "does not belong to"),
]


@pytest.mark.parametrize(("command", "name", "said"), SETTINGS, ids=lambda part: part)
def test_another_runs_artifacts_are_refused(finished, stronger, tmp_path, command, name, said):
    step = next(step for step in STEPS if step.split()[0] == command and f"{{{name}}}" in step)
    done = run(*finished.words(step, **outputs(step, tmp_path), **{name: stronger[name]}))
    assert done.refused
    assert said in done.said


REPORTED = {
    "dataset": "predictions of another dataset",
    "model": "it describes another model",
    "predictions": "predictions of another dataset",
    "training": "of a training on another dataset",
    "metrics": "stale: it describes another model",
}


@pytest.mark.parametrize("name", REPORTED)
def test_the_report_refuses_them(finished, other, tmp_path, name):
    folder = Folder(tmp_path / "tiny")
    shutil.copytree(finished.path, folder.path)
    shutil.copyfile(other[name], folder[name])
    done = run("report", folder.path / "msi", f"--output={tmp_path / 'report.html'}")
    assert done.refused, done.said
    assert REPORTED[name] in done.said


@pytest.mark.parametrize("name", ["analysis", "prune", "trace", "calibration", "curve", "cold"])
def test_the_report_passes_over_what_was_measured_elsewhere(finished, other, tmp_path, name):
    """Nothing of it is shown: the page is that without the file."""
    folder, pages = Folder(tmp_path / "tiny"), []
    shutil.copytree(finished.path, folder.path)
    for change in (lambda: shutil.copyfile(other[name], folder[name]), folder[name].unlink):
        change()
        found = run("report", folder.path / "msi", f"--output={tmp_path / 'report.html'}")
        assert found.status == 0, found.said
        pages.append(page(tmp_path / "report.html"))
    assert pages[0] == pages[1]


def test_a_service_has_no_probabilities_of_another_model(finished, other, tmp_path):
    folder = Folder(tmp_path / "tiny")
    shutil.copytree(finished.path, folder.path)
    shutil.copyfile(other["calibration"], folder["calibration"])
    assert open_served_model(finished["model"]).calibration is not None
    served = open_served_model(folder["model"])
    assert served.calibration is None
    assert "does not belong to" in served.remark
    with pytest.raises(InputError, match="does not belong to"):
        open_served_model(finished["model"], other["calibration"])


def test_the_index_of_another_model_is_not_used(finished, other, tmp_path):
    folder = Folder(tmp_path / "tiny")
    shutil.copytree(finished.path, folder.path)
    said = []
    for change in (lambda: None, lambda: shutil.copyfile(other["index"], folder["index"])):
        change()
        output = tmp_path / f"{len(said)}.jsonl"
        assert run("predict", folder["model"], "--text=word11 word12 filler3", f"--output={output}").status == 0
        said.append(output.read_text())
    assert said[0] == said[1]
    assert content(folder["model"]) == content(finished["model"])
