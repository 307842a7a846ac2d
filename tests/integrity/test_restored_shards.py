"""Shards that were finished and removed, as Snakemake does with those of a failed group, come back as they were."""

import shutil

import pytest
from finished_run import STEPS, Folder, run


@pytest.mark.parametrize("step", [step for step in STEPS if step.startswith("train-") and "held" not in step])
def test_the_same_file_without_training(step, finished, tmp_path):
    folder = Folder(tmp_path / "tiny")
    shutil.copytree(finished.path, folder.path)
    words = folder.words(step)
    output = folder.path / words[-1].removeprefix("--output=")
    assert run(*words).written.count("finished earlier") == 0
    theirs = output.read_bytes()
    output.unlink()
    assert f"{output}: finished earlier" in run(*words).written
    # with processor time and memory of the job that trained it
    assert output.read_bytes() == theirs
    assert output.stat().st_nlink == 2
