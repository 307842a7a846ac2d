"""Copies of a dataset on a local disk: one for all jobs of a machine, none left, none needed."""

from pathlib import Path

import pytest
from synthetic import write_topics

from ovaflow.dataset.dataset import open_dataset
from ovaflow.training import staging
from ovaflow.training.staging import copy_to_scratch


@pytest.fixture
def dataset(tmp_path) -> Path:
    return write_topics(tmp_path / "dataset.h5", n=300, d=60, n_labels=4).path


@pytest.fixture
def scratch(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("scratch")


def list_copies(scratch: Path) -> list[str]:
    """List the names of files but the lock."""
    names = [path.name for path in scratch.rglob("*") if path.is_file()]
    return [name for name in names if name != "copies.lock"]


def test_a_copy_while_it_is_needed(dataset, scratch) -> None:
    with copy_to_scratch(dataset) as place:
        assert place == dataset
    with copy_to_scratch(dataset, scratch) as copy:
        # copies that killed jobs left are removed, those that others use are shared
        for name in ("old.h5", "partial.h5"):
            (copy.parent / name).touch()
        with copy_to_scratch(dataset, scratch) as same:
            assert same == copy
            assert list_copies(scratch) == [copy.name]
        assert scratch in copy.parents
        assert copy.read_bytes() == dataset.read_bytes()
        assert open_dataset(copy).checksum == open_dataset(dataset).checksum
        assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert list_copies(scratch) == []


def test_a_folder_that_is_missing_or_full(dataset, scratch, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(staging, "_SPARE_BYTES", 1 << 62)
    for folder, reason in (
        (scratch, "MB needed"),
        (tmp_path / "nowhere", "it is read in place: No such file or directory"),
    ):
        with copy_to_scratch(dataset, folder) as place:
            assert place == dataset
            assert list_copies(scratch) == []
        assert reason in capsys.readouterr().err
