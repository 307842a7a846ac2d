import json
import os
import subprocess
import sys

import pytest

from ovaflow.records.docstrings import collect_docstrings

NUMERIC = '''
"""The module's docstring is no text."""

def mean(values, *, axis=None, **options):
    """Arithmetic mean of the values along an axis, as everybody knows it."""
    def inner(axis):
        """Something inside of a function that also has a long docstring."""

class Solver:
    """Solves what can be solved, and raises an error for everything else."""

    def __init__(self, axis, tolerance):
        self.axis = axis

    def run(self, values, *rest):
        "Run until the tolerance is reached or nothing changes any more."

    def short(self):
        """Too short."""

if True:
    def mean_again(values):
        """Arithmetic mean of the values along an axis, as everybody knows it."""
'''


@pytest.fixture
def root(tmp_path):
    package = tmp_path / "pack" / "inner"
    package.mkdir(parents=True)
    # nothing is imported
    (package / "numeric.py").write_text(f"raise SystemExit(9)\n{NUMERIC}")
    (package / "__init__.py").write_text(
        'def start(values):\n    """Start whatever the inner package has to start, whenever it has'
        ' to be started."""\n'
    )
    (package / "broken.py").write_text(
        'def broken(:\n    """Never read because it cannot be parsed."""\n'
    )
    (package / "no_identifier-x.py").write_text(NUMERIC)
    for skipped in ("tests", "_vendor", "__pycache__"):
        (package / skipped).mkdir()
        (package / skipped / "extra.py").write_text(NUMERIC.replace("as everybody", "as nobody"))
    (tmp_path / "ovaflow").mkdir()
    (tmp_path / "ovaflow" / "own.py").write_text(NUMERIC.replace("as everybody", "as nobody"))
    return tmp_path


def test_definitions_and_labels(root) -> None:
    found = collect_docstrings([root], test_fraction=0.0)
    labels = {instance.text.split()[0]: instance.labels for instance in found.train}
    modules = ["pack", "pack.inner", "pack.inner.numeric"]
    assert labels == {
        "Arithmetic": [*modules, "param:values", "param:axis"],
        "Something": [*modules, "param:axis"],
        "Solves": [*modules, "param:axis"],
        "Run": [*modules, "param:values"],
        "Start": ["pack", "pack.inner", "param:values"],
    }
    counts = {
        "repeated_texts": 1,
        "modules_unreadable": 1,
        "modules_installed": 3,
        "labels_used_once": 3,
    }
    assert counts.items() <= found.counts.items()


PRINT = """
import json, sys
from ovaflow.records.docstrings import collect_docstrings
found = collect_docstrings([sys.argv[1]], test_fraction=0.4)
json.dump([found.train, found.test, found.counts], sys.stdout)
"""


def test_same_in_every_process(root) -> None:
    command = [sys.executable, "-c", PRINT, root]
    outputs = []
    for seed in "12":
        outputs.append(subprocess.check_output(command, env=os.environ | {"PYTHONHASHSEED": seed}))
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[0])[0]) > 0
