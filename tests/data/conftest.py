"""``ovaflow prepare`` as people call it, in a folder of the test's own."""

import shlex

import pytest

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset


@pytest.fixture
def prepare(tmp_path, monkeypatch, capsys):
    """Prepare ``dataset.h5`` as a line of options says, and further ones; ``prepare.said`` is what was told."""
    monkeypatch.chdir(tmp_path)

    def prepared(line, *options, status=0):
        assert main(["prepare", "--output=dataset.h5", *shlex.split(line), *options]) == status
        prepared.said = "".join(capsys.readouterr())
        return open_dataset("dataset.h5") if status == 0 else None

    return prepared
