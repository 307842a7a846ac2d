"""The container serves by default, as a user that is not root, and reports its health."""

import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import prepare_and_train
from tiny_table import write_table

import ovaflow
from ovaflow.sparse.jit import cache_directory


@pytest.mark.long
def test_the_steps_of_the_containerfile_give_a_healthy_service(tmp_path) -> None:
    isolated = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True
    )
    if isolated.returncode:
        pytest.skip("only root may run the container's steps apart from this machine")
    write_table(tmp_path / "records.csv")
    for name in ("root", "model"):
        (tmp_path / name).mkdir()
    prepare_and_train(
        tmp_path / "model", "--format=csv", f"--train={tmp_path}/records.csv", "--label-separator=|"
    )
    command = [
        Path(__file__).with_name("container-steps"),
        tmp_path / "root",
        tmp_path / "model",
        Path(ovaflow.__file__).parents[1],
        cache_directory(),
        sys.prefix,
        sys.base_prefix,
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    assert "healthy, as user 1000\n" in done.stdout
    assert '"project_id":"model"' in done.stdout
