"""Parts: finished pieces come back, only those of this job, even if single files are damaged."""

import os
import time

import numpy as np
import pytest
from damage import find_array_offset, flip_bit

from ovaflow.console.errors import InputError
from ovaflow.storage import parts
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.hdf5 import create_artifact, open_artifact
from ovaflow.storage.parts import (
    Parts,
    compute_digest,
    open_parts,
    parts_folder,
    remove_parts,
    restore_output,
)

PIECES = {7: [1.5, 2.5], 0: [], 2: [0.1] * 2000}


@pytest.fixture
def output(tmp_path):
    """A file whose job was interrupted after three parts of a piece each."""
    for number, values in PIECES.items():
        with open_parts(tmp_path / "3.h5", "digest") as opened:
            opened.read_earlier()
            opened.keep(number, values=np.array(values), numbers=np.array([number]))
    return tmp_path / "3.h5"


def read_kept(output, digest="digest") -> dict[int, list[float]]:
    pieces = Parts(output, digest).read_earlier()
    return {number: piece["values"].tolist() for number, piece in pieces.items()}


def test_pending_pieces_of_a_failing_job_are_written(tmp_path) -> None:
    with pytest.raises(KeyboardInterrupt), open_parts(tmp_path / "0.h5", "digest") as opened:  # noqa: PT012
        opened.keep(1, values=np.zeros(1))
        raise KeyboardInterrupt
    assert read_kept(tmp_path / "0.h5") == {1: [0]}


def test_pieces_are_written_every_few_seconds(tmp_path, monkeypatch) -> None:
    opened = Parts(tmp_path / "0.h5", "digest")
    theirs = {number: [number] * number for number in range(4)}
    for number, values in theirs.items():
        monkeypatch.setattr(parts, "PART_SECONDS", -1.0 if number % 2 else 1000.0)
        opened.keep(number, values=np.array(values))
    assert read_kept(tmp_path / "0.h5") == theirs
    assert len(os.listdir(parts_folder(tmp_path / "0.h5"))) == 2


def test_core_seconds_are_of_all_attempts(tmp_path) -> None:
    began = time.process_time()
    for number in range(3):
        with open_parts(tmp_path / "0.h5", "digest") as opened:
            opened.read_earlier()
            time.sleep(0.2)
            while opened.core_seconds < 0.1 * (number + 1):
                pass
            opened.keep(number, values=np.zeros(1))
    # processor time, without the time in which a job sleeps or waits for a busy machine
    assert opened.core_seconds == pytest.approx(time.process_time() - began, rel=0.2)
    assert opened.core_seconds < 0.2 * 3


def test_a_damaged_part_is_made_again(output, capsys) -> None:
    path = parts_folder(output) / "0003.h5"
    flip_bit(path, find_array_offset(path, "pieces/values/values"))
    assert read_kept(output) == {7: [1.5, 2.5], 0: []}
    assert "0003.h5: damaged" in capsys.readouterr().err
    assert not path.exists()


def test_a_part_that_cannot_be_read_is_kept(output) -> None:
    part = parts_folder(output) / "0001.h5"
    # a circle of links, which not even root can read
    aside = part.rename(output.with_name("aside"))
    part.symlink_to(part)
    with pytest.raises(
        InputError, match=r"3.parts/0001.h5: cannot be read .*check its permissions"
    ):
        read_kept(output)
    aside.replace(part)
    assert read_kept(output) == PIECES


def test_a_temporary_file_of_a_killed_writer_is_no_part(output) -> None:
    part = parts_folder(output) / "0001.h5"
    part.rename(part.with_name(".0001.h5.abcd1234.partial"))
    assert read_kept(output) == {number: PIECES[number] for number in (0, 2)}


def test_parts_add_up_and_another_job_begins_again(output) -> None:
    assert sorted(os.listdir(parts_folder(output))) == ["0001.h5", "0002.h5", "0003.h5"]
    assert read_kept(output) == PIECES
    assert read_kept(output, "other") == {}
    assert read_kept(output) == {}


def read(path) -> np.ndarray:
    with open_artifact(path, "test") as file:
        return map_array(file["values"])


@pytest.fixture
def finished(output):
    """The same output, whose job was continued and has written it."""
    with open_parts(output, "digest"), create_artifact(output, "test") as file:
        create_array(file, "values", np.arange(5000))
    return output


def test_a_finished_output_replaces_its_parts_and_comes_back(finished) -> None:
    [kept] = parts_folder(finished).iterdir()
    theirs = finished.read_bytes()
    before = time.time()
    os.utime(kept, (0, 0))
    finished.unlink()
    # the second time it is still there
    for _ in range(2):
        assert restore_output(finished, "digest", read)
        assert kept.samefile(finished)
    assert finished.read_bytes() == theirs
    assert finished.stat().st_mtime > before - 1


@pytest.mark.parametrize("digest", ["digest", "other"])
def test_a_damaged_output_or_one_of_another_job_does_not_come_back(
    finished, digest, capsys
) -> None:
    if digest == "digest":
        flip_bit(finished, find_array_offset(finished, "values"))
    finished.unlink()
    assert not restore_output(finished, digest, read)
    assert ("digest.finished: damaged" in capsys.readouterr().err) == (digest == "digest")
    assert os.listdir(parts_folder(finished)) == []


def test_parts_stay_on_a_file_system_without_hard_links(output, monkeypatch) -> None:
    def refuse(*paths):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    with open_parts(output, "digest"):
        output.touch()
    assert read_kept(output) == PIECES


def test_merged_outputs_leave_nothing(output, tmp_path) -> None:
    for name in ("17.parts", "my.parts"):
        (tmp_path / name).mkdir()
    output.touch()
    remove_parts([output])
    assert sorted(os.listdir(tmp_path)) == ["3.h5", "my.parts"]


def test_different_values_have_different_digests() -> None:
    numbers = np.arange(3)
    values = [
        [numbers],
        [numbers * 1.0],
        [np.arange(4)],
        [numbers[:2], numbers[2:]],
        [{"C": 1.0}],
        [{"C": 1.1}],
        ["C", 1.0],
        [None],
    ]
    assert len({compute_digest(*each) for each in values}) == len(values)
    assert compute_digest({"a": 1, "b": 2}) == compute_digest({"b": 2, "a": 1})
