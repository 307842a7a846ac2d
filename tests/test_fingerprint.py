"""Fingerprints of a package of a few lines; tests/workflow/test_what_runs_again.py has those of ovaflow itself."""

import pytest

from ovaflow import fingerprint
from ovaflow.fingerprint import code_fingerprint, kernel_fingerprint
from ovaflow.steps import STEPS as SUBCOMMANDS

FILES = {
    "__init__.py": '__version__ = "1"\n',
    "console/errors.py": "class InputError(Exception): pass\n",
    "sparse/jit.py": "import numba\n",
    "sparse/csr.py": "from ovaflow.sparse.jit import kernel\n@kernel\ndef dot(x): pass\n",
    "solver/newton.py": "from ovaflow.sparse import csr\nfrom ovaflow.console.errors import InputError\nSTEP = 1\n",
    "report/page.py": "def write(): pass\n",
    "report/templates/style.css": "a { color: blue }\n",
    "cli/options.py": 'DATASET = "dataset"\nMODEL = "model"\n',
    "cli/training.py": """
from ovaflow.cli.options import DATASET, MODEL
from ovaflow.solver.newton import STEP
OVER = 1

def _mean(x):
    return x - OVER

@DATASET
def plan_command(x):
    \"\"\"Divide.\"\"\"
    return _mean(x)  # a number

@MODEL
def train_shard_command(x):
    return STEP
""",
    "cli/predict.py": "def predict_command(): pass\n",
    "cli/report.py": "from ovaflow.report import page\ndef report_command():\n    page.write()\n",
}
STEPS = ("plan", "train-shard", "predict", "report", "kernels")

CHANGES = {
    "a comment": ("cli/training.py", "# a number", "# x", ()),
    "a docstring": ("cli/training.py", "Divide.", "Share.", ()),
    "layout": ("cli/training.py", "x - OVER", "(x -\n        OVER)", ()),
    "the version": ("__init__.py", "1", "2", ()),
    "what only speaks": ("console/errors.py", "Exception", "OSError", ()),
    "a function of one command": ("cli/training.py", "x - OVER", "x + OVER", ("plan",)),
    "a variable of one command": ("cli/training.py", "OVER = 1", "OVER = 1.0", ("plan",)),
    "an option of one command": ("cli/options.py", '"model"', '"m"', ("train-shard",)),
    "a constant that is imported": ("solver/newton.py", "1", "2", ("train-shard",)),
    "a kernel": ("sparse/csr.py", "@kernel", "@strict_kernel", ("train-shard", "kernels")),
    "a template": ("report/templates/style.css", "blue", "red", ("report",)),
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / "ovaflow" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ovaflow" / name).write_text(text)
    monkeypatch.setenv("OVAFLOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fingerprint, "_PACKAGE", tmp_path / "ovaflow")
    yield tmp_path / "ovaflow"
    fingerprint._fingerprints.cache_clear()


def fingerprints():
    """Those of all steps, as another process would find them."""
    fingerprint._fingerprints.cache_clear()
    return {step: kernel_fingerprint() if step == "kernels" else code_fingerprint(step) for step in STEPS}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_reaches_the_steps_that_execute_it(package, change):
    name, before, after, expected = CHANGES[change]
    theirs = fingerprints()
    assert before in FILES[name]
    (package / name).write_text(FILES[name].replace(before, after))
    ours = fingerprints()
    assert tuple(step for step in STEPS if ours[step] != theirs[step]) == expected


def test_fingerprints_are_kept_and_a_damaged_file_is_replaced(package, monkeypatch):
    theirs = fingerprints()
    (kept,) = (package.parent / "cache").iterdir()
    text = kept.read_text()
    with monkeypatch.context() as context:
        context.setattr(fingerprint, "_compute", None)
        assert fingerprints() == theirs
    kept.write_text(text[:-9])
    assert fingerprints() == theirs
    assert kept.read_text() == text


def test_without_a_cache_they_are_the_same(package, monkeypatch):
    theirs = fingerprints()
    monkeypatch.setenv("OVAFLOW_CACHE", str(package / "__init__.py"))
    assert fingerprints() == theirs


def test_every_subcommand_has_one():
    fingerprint._fingerprints.cache_clear()
    assert len({code_fingerprint(name) for name in SUBCOMMANDS}) == len(SUBCOMMANDS)
