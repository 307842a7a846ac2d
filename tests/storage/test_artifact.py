"""Artifacts are complete or missing, have what made them, and show every change."""

import json
import os
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from ovaflow.console.errors import InputError
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.hdf5 import create_artifact, open_artifact, read_parameters
from ovaflow.storage.writing import create_temporary_folder, write_text


@pytest.fixture
def artifact(tmp_path):
    path = tmp_path / "thing.h5"
    with create_artifact(path, "means", {"C": 1.0}, {"dataset": "abc"}) as file:
        create_array(file.create_group("group"), "values", np.arange(10_000))
        file["group"].attrs["n_columns"] = 7
    return path


def read(path) -> tuple[list[int], int]:
    with open_artifact(path, "means") as file:
        return map_array(file["group/values"]).tolist(), file["group"].attrs["n_columns"]


def test_other_programs_read_what_is_written(artifact) -> None:
    assert read(artifact) == (list(range(10_000)), 7)
    with h5py.File(artifact) as theirs:
        assert theirs["group/values"][()].tolist() == list(range(10_000))
        assert (theirs.attrs["kind"], theirs.attrs["inputs"]) == (b"means", b'{"dataset": "abc"}')
        assert json.loads(theirs.attrs["parameters"]) == {"C": 1.0}
        assert theirs["group/values"].id.get_offset() % 4096 == 0


@pytest.mark.parametrize(
    ("values", "norm", "C", "expected"),
    [
        ([0, np.nan], 1.0, 1.0, "scores holds nan"),
        ([0.0], -np.inf, 1.0, "a number among its attributes is not finite"),
        ([0.0], 1.0, np.inf, "a number among its settings is not finite"),
    ],
)
def test_numbers_that_are_not_finite_are_not_written(tmp_path, values, norm, C, expected) -> None:
    message = rf"x\.h5: not written: {expected}"
    with (  # noqa: PT012
        pytest.raises(InputError, match=message),
        create_artifact(tmp_path / "x.h5", "means", {"C": C}) as file,
    ):
        create_array(file, "scores", values)
        file.attrs["gradient_norm"] = norm
    assert not list(tmp_path.iterdir())


def test_same_content_same_bytes(tmp_path) -> None:
    contents = []
    for seconds, parameters in ((0, {"z": 1, "a": 2}), (1.1, {"a": 2, "z": 1})):
        time.sleep(seconds)
        with create_artifact(tmp_path / "a", "means", parameters) as file:
            create_array(file.create_group("group"), "values", np.arange(10_000))
            create_array(file, "parts", shape=(2, 3000), dtype=np.float32)[1:] = 1
        contents.append((tmp_path / "a").read_bytes())
    assert contents[0] == contents[1]


def test_many_attributes_groups_and_arrays(tmp_path) -> None:
    # more than HDF5 keeps in one header, and settings that are too long for one
    numbers = {f"number{j}": j for j in range(40)}
    long_settings = {"files": "x" * 100_000}
    with create_artifact(tmp_path / "x.h5", "means", long_settings) as file:
        file.attrs.update(numbers)
        for j in range(100):
            create_array(file.create_group(f"group{j}"), "values", np.arange(j))
    with open_artifact(tmp_path / "x.h5", "means") as file:
        assert numbers.items() <= dict(file.attrs).items()
        assert read_parameters(file) == long_settings
        for j in range(100):
            assert len(map_array(file[f"group{j}/values"])) == j


def write_text_file(path) -> None:
    path.write_text("label\ttext\n")


def write_foreign_file(path) -> None:
    h5py.File(path, "w").close()


def write_another_kind(path) -> None:
    with create_artifact(path, "model"):
        pass


def set_old_version(path) -> None:
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = 2


def edit_attribute(path) -> None:
    with h5py.File(path, "r+") as file:
        file["group"].attrs["n_columns"] = 8


FOREIGN = (
    "not a means file, or damaged; "
    "give the path of a means file (ovaflow means, rule compute_means)"
)
WRONG_FILES = {
    "missing": (Path.unlink, "no such file; give the path of a means file"),
    "a text": (write_text_file, FOREIGN),
    "HDF5 of another program": (write_foreign_file, FOREIGN),
    "another kind": (
        write_another_kind,
        "expected means, found model; give the path of a means file",
    ),
    "old": (
        set_old_version,
        "format version 2, but this ovaflow reads 3; "
        "delete it and make it again (ovaflow means, rule",
    ),
    "edited": (
        edit_attribute,
        "damaged (its attributes do not match their checksum)",
    ),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_wrong_file_is_refused_in_one_line(artifact, case) -> None:
    change, message = WRONG_FILES[case]
    change(artifact)
    with pytest.raises(InputError) as caught:
        read(artifact)
    assert str(caught.value).startswith(f"{artifact}: {message}")
    assert "\n" not in str(caught.value)


def test_a_missing_array_is_an_error_of_one_line(artifact) -> None:
    with pytest.raises(InputError, match=r"thing\.h5: damaged \(.*'weights' doesn't exist"):
        with open_artifact(artifact, "means") as file:
            file["group/weights"]


def test_a_failed_step_leaves_the_old_file_and_no_other(artifact, tmp_path) -> None:
    before = artifact.read_bytes()
    with pytest.raises(RuntimeError), create_artifact(artifact, "means") as file:  # noqa: PT012
        create_array(file, "values", np.arange(5))
        raise RuntimeError("full stop")
    assert artifact.read_bytes() == before
    assert os.listdir(tmp_path) == ["thing.h5"]


def test_files_of_killed_processes_are_removed(tmp_path, monkeypatch) -> None:
    stale = ".0.h5.a_b1c2d3.partial"
    young = ".0.h5.abcdefgh.partial"
    others = ".10.h5.abcdefgh.partial"
    for name in (young, others, ".0.h5.partial"):
        (tmp_path / name).touch()
    umask = os.umask(0)
    os.umask(umask)
    # threads may make other files meanwhile
    monkeypatch.delattr(os, "umask")
    for make in (Path.touch, Path.mkdir):
        make(tmp_path / stale)
        for name in (stale, others):
            os.utime(tmp_path / name, (1e9, 1e9))
        write_text(tmp_path / "0.h5", "content")
        assert sorted(os.listdir(tmp_path)) == sorted(["0.h5", young, others, ".0.h5.partial"])
    assert (tmp_path / "0.h5").stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_temporary_folder_exists_while_it_is_filled(tmp_path) -> None:
    with create_temporary_folder(tmp_path / "model") as folder:
        (folder / "model.h5").touch()
        assert os.listdir(tmp_path) == [folder.name]
    assert os.listdir(tmp_path) == []


def test_a_file_is_synced_before_it_gets_its_name_and_its_folder_afterwards(
    tmp_path, monkeypatch
) -> None:
    path = tmp_path / "0.h5"
    synced = []
    fsync = os.fsync

    def record(handle) -> None:
        synced.append((os.fstat(handle).st_ino, path.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", record)
    write_text(path, "content")
    assert synced == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]
