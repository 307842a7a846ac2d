"""``ovaflow prepare`` as people call it, in a folder of the test's own."""

import shlex

import pytest

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset


@pytest.fixture
def prepare(tmp_path, monkeypatch, capsys):
    """Prepare ``dataset.h5`` as options say, of a line and further ones; of what is refused what was ``said``."""
    monkeypatch.chdir(tmp_path)

    def prepared(line, *options, status=0):
        assert main(["prepare", "--output=dataset.h5", *shlex.split(line), *options]) == status
        prepared.said = "".join(capsys.readouterr())
        return open_dataset("dataset.h5") if status == 0 else prepared.said

    return prepared
