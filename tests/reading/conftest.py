"""Files through ``ovaflow prepare``, with the messages and the datasets that it makes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from synthetic import train_model_file

from ovaflow.cli import main
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.reading.formats import guess_format

EARLIER_CONTENT = b"what was there before"


class Prepared:
    """The messages of a preparation, and the dataset; None where a file was refused."""

    def __init__(self, said: str, dataset: Dataset | None) -> None:
        self.said = said
        self.dataset = dataset

    @property
    def found(self) -> tuple[list[str], int, int] | None:
        """Names of labels, number of records, and number of their labels; None if refused."""
        if self.dataset is None:
            return None
        train = self.dataset.train
        test = self.dataset.test
        n = train.X.n_rows - self.dataset.parameters.get("named_labels", 0)
        n_positives = int(train.Y.indptr[n]) + len(test.Y.indices)
        return list(self.dataset.label_names), n + test.X.n_rows, n_positives


@pytest.fixture
def prepare(tmp_path, monkeypatch, capsys) -> Callable[..., Prepared]:
    """Prepare a file of some content, or those of a path; a refused one leaves earlier content."""
    monkeypatch.chdir(tmp_path)

    def prepare_content(content, options=(), name="a.csv") -> Prepared:
        path = content
        output = tmp_path / "dataset.h5"
        if not isinstance(content, Path):
            path = tmp_path / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        output.write_bytes(EARLIER_CONTENT)
        capsys.readouterr()
        # a format among the options counts
        files = [f"--train={path}", f"--output={output}", f"--format={guess_format(path)}"]
        status = main(["prepare", *files, *options])
        said = "".join(capsys.readouterr())
        if status == 0:
            return Prepared(said, open_dataset(output))
        assert status == 2, said
        assert output.read_bytes() == EARLIER_CONTENT
        return Prepared(said, None)

    return prepare_content


@pytest.fixture
def advised(prepare) -> Callable[..., Prepared]:
    """Follow the advice about a file: with another setting, or with another file."""

    def follow_advice(content, options, advice, setting, new=None, name="a.csv") -> Prepared:
        read = prepare(content, options, name)
        assert advice in read.said
        replaced = setting.partition("=")[0]
        kept = [option for option in options if option.partition("=")[0] != replaced]
        return prepare(content if new is None else new, [*kept, setting], name)

    return follow_advice


@pytest.fixture
def trained(tmp_path) -> Callable[..., Path]:
    """Train a model: its path."""
    return partial(train_model_file, tmp_path / "model.h5")
