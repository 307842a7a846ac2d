"""Copies of a dataset on a local disk: one for all jobs of a machine, none left, none needed."""

import pytest
from synthetic import write_topics

from ovaflow.dataset.dataset import open_dataset
from ovaflow.training import staging
from ovaflow.training.staging import copy_to_scratch


@pytest.fixture
def dataset(tmp_path):
    return write_topics(tmp_path / "dataset.h5", n=300, d=60, n_labels=4).path


@pytest.fixture
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("scratch")


def left_in(scratch):
    return [
        path.name for path in scratch.rglob("*") if path.is_file() and path.name != "copies.lock"
    ]


def test_a_copy_while_it_is_needed(dataset, scratch) -> None:
    with copy_to_scratch(dataset) as place:
        assert place == dataset
    with copy_to_scratch(dataset, scratch) as copy:
        # what killed jobs left is removed, what others use is shared
        for name in ("old.h5", "partial.h5"):
            (copy.parent / name).touch()
        with copy_to_scratch(dataset, scratch) as same:
            assert same == copy
            assert left_in(scratch) == [copy.name]
        assert scratch in copy.parents
        assert copy.read_bytes() == dataset.read_bytes()
        assert open_dataset(copy).checksum == open_dataset(dataset).checksum
        assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert left_in(scratch) == []


def test_a_folder_that_is_missing_or_full(dataset, scratch, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(staging, "_SPARE", 1 << 62)
    for folder, reason in (
        (scratch, "MB needed"),
        (tmp_path / "nowhere", "it is read in place: No such file or directory"),
    ):
        with copy_to_scratch(dataset, folder) as place:
            assert place == dataset
            assert left_in(scratch) == []
        assert reason in capsys.readouterr().err
