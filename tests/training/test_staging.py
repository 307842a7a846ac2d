"""Copies of a dataset on a local disk: one for all jobs of a machine, none left, none needed."""

import numpy as np
import pytest
import scipy.sparse as sp
from solving import in_memory

from ovaflow.data.dataset import open_dataset, write_dataset
from ovaflow.training import staging
from ovaflow.training.staging import staged


@pytest.fixture
def dataset(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "dataset.h5"
    X, Y = (sp.random_array((40, columns), density=0.2, rng=rng, format="csr") for columns in (9, 4))
    Y.data[:] = 1
    split = in_memory(X, Y).train
    write_dataset(path, split, split, [f"label {j}" for j in range(4)], [f"word {j}" for j in range(9)], {"bias": 0.0})
    return path


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def left_in(scratch):
    return [path.name for path in scratch.rglob("*") if path.is_file() and path.name != "copies.lock"]


def test_a_copy_while_it_is_needed(dataset, scratch):
    with staged(dataset) as place:
        assert place == dataset
    with staged(dataset, scratch) as copy:
        # what killed jobs left is removed, what others use is shared
        for name in ("old.h5", "partial.h5"):
            (copy.parent / name).touch()
        with staged(dataset, scratch) as same:
            assert same == copy
            assert left_in(scratch) == [copy.name]
        assert scratch in copy.parents
        assert copy.read_bytes() == dataset.read_bytes()
        assert open_dataset(copy).checksum == open_dataset(dataset).checksum
        assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert left_in(scratch) == []


def test_a_folder_that_is_missing_or_full(dataset, scratch, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(staging, "_SPARE", 1 << 62)
    for folder, reason in (
        (scratch, "MB needed"),
        (tmp_path / "nowhere", "it is read in place: No such file or directory"),
    ):
        with staged(dataset, folder) as place:
            assert place == dataset
            assert left_in(scratch) == []
        assert reason in capsys.readouterr().err
