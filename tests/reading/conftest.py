"""Files through ``ovaflow prepare``: what was made of them, or said of them."""

from functools import partial
from pathlib import Path

import pytest
from synthetic import train_model_file

from ovaflow.cli import main
from ovaflow.dataset.dataset import open_dataset
from ovaflow.reading.formats import guess_format

BEFORE = b"what was there before"


class Prepared:
    """What was said, and the dataset; None where a file was refused."""

    def __init__(self, said, output=None) -> None:
        self.said = said
        self.dataset = output and open_dataset(output)

    @property
    def found(self):
        """Names of labels, how many records there are, and how many labels they have; None of a
        file refused.
        """
        if self.dataset is None:
            return None
        train = self.dataset.train
        test = self.dataset.test
        n = train.X.n_rows - self.dataset.parameters.get("named_labels", 0)
        return (
            [*self.dataset.label_names],
            n + test.X.n_rows,
            int(train.Y.indptr[n]) + len(test.Y.indices),
        )


@pytest.fixture
def prepare(tmp_path, monkeypatch, capsys):
    """Prepares a file of some content, or those of a path; one that is refused leaves what was
    there before.
    """
    monkeypatch.chdir(tmp_path)

    def prepared(content, *options, name="a.csv"):
        path = content
        output = tmp_path / "dataset.h5"
        if not isinstance(content, Path):
            path = tmp_path / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        output.write_bytes(BEFORE)
        capsys.readouterr()
        # a format among the options counts
        status = main(
            [
                "prepare",
                f"--train={path}",
                f"--output={output}",
                f"--format={guess_format(path)}",
                *options,
            ]
        )
        said = "".join(capsys.readouterr())
        assert (status, output.read_bytes() == BEFORE) in ((0, False), (2, True)), said
        return Prepared(said, None if status else output)

    return prepared


@pytest.fixture
def advised(prepare):
    """Follows an advice that was given about a file: with other settings, or with another file."""

    def follow(content, options, advice, *settings, new=None, name="a.csv"):
        read = prepare(content, *options, name=name)
        assert advice in read.said
        names = {setting.partition("=")[0] for setting in settings}
        kept = [option for option in options if option.partition("=")[0] not in names]
        return prepare(content if new is None else new, *kept, *settings, name=name)

    return follow


@pytest.fixture
def trained(tmp_path):
    """Trains a model: its path."""
    return partial(train_model_file, tmp_path / "model.h5")
