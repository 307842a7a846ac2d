"""Disks that are full, folders that are closed, limits: one line that says what to do, status 2,
nothing half-done.
"""

import errno
import os
import shutil
import subprocess

import numpy as np
import pytest
from command_training import CommandTraining
from synthetic import write_topics

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.model.training_file import Shard
from ovaflow.sparse import jit
from ovaflow.storage import parts
from ovaflow.storage.appending import locked_for_appending
from ovaflow.storage.arrays import create_array
from ovaflow.storage.hdf5 import create_artifact
from ovaflow.storage.writing import explain_write_errors

FILES = "{here}/dataset.h5 --means={here}/means.h5 --plan={here}/plan.tsv"
TRAIN = f"train-shard {FILES} --shard=0 --output={{disk}}/shard.h5"
PREDICT = "predict {here}/model.h5 {here}/new.svm --output={disk}/answers.jsonl"
WRITERS = pytest.mark.parametrize("line", [TRAIN, PREDICT], ids=["an artifact", "lines"])

KEPT = {"shard.parts"}
"""What the next call continues with."""


def call(line, here, disk):
    return main([part.format(here=here, disk=disk) for part in line.split()])


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The files that the commands read."""
    here = tmp_path_factory.mktemp("here")
    dataset = write_topics(here / "dataset.h5", n=4000, d=2000, n_labels=150)
    (here / "new.svm").write_text("".join(f"0 {j}:1 {j + 7}:1\n" for j in range(1, 1500)))
    CommandTraining("one-vs-all", dataset.path, here).train()
    return here


class Disk:
    """A file system of its own, in memory."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self._mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", folder)

    def _mount(self, *arguments) -> None:
        try:
            subprocess.run(
                ["mount", *map(str, arguments)], check=True, capture_output=True, text=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            reason = getattr(error, "stderr", None) or error
            pytest.skip(
                "!! FULL AND READ-ONLY DISKS ARE NOT TESTED: no file system can be mounted here"
                f" ({reason})"
            )

    def change(self, options) -> None:
        self._mount("-o", f"remount,{options}", self.folder)

    def fill(self) -> None:
        """Leave one page."""
        (self.folder / "filler").write_bytes(bytes(shutil.disk_usage(self.folder).free - 4096))

    def names(self):
        return sorted(set(os.listdir(self.folder)) - {"filler"})


@pytest.fixture
def disk(tmp_path):
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    yield disk
    # at once: a mapped model may still be in memory
    subprocess.run(["umount", "--lazy", folder], check=True)


def assert_one_line(capsys, *words) -> None:
    lines = [
        line
        for line in capsys.readouterr().err.splitlines()
        if "error" in line or "Traceback" in line
    ]
    assert len(lines) == 1, lines
    assert lines[0].startswith("ovaflow: error: ")
    for word in words:
        assert word in lines[0]


def test_lines_that_do_not_fit_leave_nothing(disk) -> None:
    path = disk.folder / "lines"
    with locked_for_appending(path) as append_lines:
        append_lines(["one"])
        disk.fill()
        with pytest.raises(OSError, match="No space left on device"):
            append_lines(["two", "3" * 20_000])
    assert path.read_text() == "one\n"


@WRITERS
def test_a_full_disk(line, here, disk, capsys) -> None:
    disk.fill()
    assert call(line, here, disk.folder) == 2
    assert_one_line(
        capsys, str(disk.folder), "cannot be written: No space left on device; free some space"
    )
    assert set(disk.names()) <= KEPT
    # with space the same command does it
    (disk.folder / "filler").unlink()
    disk.change("size=20m")
    assert call(line, here, disk.folder) == 0


@WRITERS
def test_a_disk_that_is_read_only(line, here, disk, capsys) -> None:
    disk.change("ro")
    assert call(line, here, disk.folder) == 2
    assert_one_line(
        capsys,
        str(disk.folder),
        "cannot be written: Read-only file system; allow writing in",
        "choose another",
    )


def test_training_goes_on_where_the_disk_was_full(here, disk, capsys, monkeypatch) -> None:
    monkeypatch.setattr(parts, "PART_SECONDS", 0)
    disk.change("size=300k")
    assert call(TRAIN, here, disk.folder) == 2
    assert_one_line(capsys, "shard.parts/0", "No space left on device", "free some space")
    kept = len(list((disk.folder / "shard.parts").glob("*.h5")))
    assert kept
    # again: what is kept stays so
    assert call(TRAIN, here, disk.folder) == 2
    assert len(list((disk.folder / "shard.parts").glob("*.h5"))) >= kept
    disk.change("size=9m")
    capsys.readouterr()
    assert call(TRAIN, here, disk.folder) == 0
    assert "of 150 labels were finished" in capsys.readouterr().err
    ours = Shard.open(disk.folder / "shard.h5")
    theirs = Shard.open(here / "0.h5")
    assert all(map(np.array_equal, ours.weights.arrays, theirs.weights.arrays))


def test_kernels_whose_cache_is_full_or_read_only(disk, monkeypatch, capsys) -> None:
    monkeypatch.setenv("OVAFLOW_CACHE", str(disk.folder))
    for options, words in (
        ("size=100k", "No space left on device"),
        ("ro", "Read-only file system"),
    ):
        disk.change(options)
        assert jit.cache_directory.__wrapped__() is None
        assert f"cannot be written ({words}): each job compiles its own" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EDQUOT, "free some space"),
        (errno.EFBIG, "files may not be"),
        (errno.EACCES, "allow writing in "),
    ],
)
def test_a_quota_a_limit_of_file_sizes_and_a_folder_of_somebody_else(
    tmp_path, number, remedy
) -> None:
    with pytest.raises(
        InputError, match=rf"a.h5: cannot be written: {os.strerror(number)}; {remedy}"
    ):
        with explain_write_errors(tmp_path / "a.h5"):
            raise OSError(number, os.strerror(number))


def test_errors_of_other_files_keep_their_name(tmp_path) -> None:
    with pytest.raises(PermissionError):
        with create_artifact(tmp_path / "a.h5", "means"):
            raise PermissionError(13, "Permission denied", "/elsewhere/input.txt")


@pytest.mark.parametrize("pages", [0, 1, 3, 8, 20])
def test_artifacts_on_a_disk_that_fills_up(pages, disk) -> None:
    """A full disk is said at any page, and the library that writes does not crash."""
    disk.change(f"size={4 * max(pages, 1)}k")
    with pytest.raises(InputError, match="No space left on device"):
        write_many(disk.folder / "a.h5")
    assert disk.names() == []


def write_many(path) -> None:
    with create_artifact(path, "means") as file:
        for name in range(40):
            create_array(file, f"large{name}", np.arange(3000))
            create_array(file.create_group(f"group{name}"), "small", np.arange(3))
            file.attrs[f"number{name}"] = name
