"""Commands of the pipeline start quickly: a run starts dozens of them."""

import subprocess
import sys

import pytest

from ovaflow.settings.schema import find_schema
from ovaflow.settings.train import Train


@pytest.mark.parametrize("step", ["means", "train-shard", "merge", "prepare", "predict"])
def test_commands_import_no_library_that_they_may_not_need(step) -> None:
    code = f"""
import sys
from ovaflow.cli import main
main(["{step}", "--help"])
print("imported:", *sys.modules)"""
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    imported = output.partition("imported:")[2].split()
    for library in ("scipy.sparse", "scipy.special", "sklearn", "matplotlib", "requests"):
        assert library not in imported


def test_the_schema_of_a_model_is_made_once() -> None:
    assert find_schema(Train, ["C"]) is find_schema(Train, ["C"])
