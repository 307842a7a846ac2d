import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from ovaflow.console.errors import InputError
from ovaflow.storage.artifact import (
    checksum_of,
    content_checksum,
    create_artifact,
    inputs_of,
    open_artifact,
    parameters_of,
    write_atomically,
    write_text,
)


@pytest.fixture
def artifact(tmp_path):
    path = tmp_path / "thing.h5"
    with create_artifact(path, "thing", {"C": 1.0}, {"dataset": "abc"}) as file:
        file.create_dataset("group/values", data=np.arange(10_000))
        file["group"].attrs["n_columns"] = 7
    return path


def test_what_is_written_is_read(artifact):
    with open_artifact(artifact, "thing", verify=True) as file:
        assert file["group/values"][()].tolist() == list(range(10_000))
        assert parameters_of(file) == {"C": 1.0}
        assert inputs_of(file) == {"dataset": "abc"}
        assert checksum_of(file) == content_checksum(file)


def test_same_content_same_bytes(tmp_path):
    for name in ("a", "b"):
        with create_artifact(tmp_path / name, "thing", {"z": 1, "a": 2}) as file:
            file.create_dataset("values", data=np.arange(100))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_datasets_are_contiguous_and_aligned(artifact):
    with h5py.File(artifact) as file:
        assert file["group/values"].id.get_offset() % 4096 == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(b""), "not a readable HDF5 file"),
        (lambda path: path.write_bytes(path.read_bytes()[:3000]), "not a readable HDF5 file"),
        (lambda path: h5py.File(path, "w").close(), "a foreign HDF5 file"),
        (lambda path: set_attribute(path, "kind", "model"), "expected thing, found model"),
        (lambda path: set_attribute(path, "format_version", 99), "format version 99"),
        (lambda path: set_value(path), "does not match its checksum"),
        (lambda path: set_attribute(path, "parameters", "{}"), "does not match its checksum"),
    ],
    ids=["missing", "empty", "truncated", "foreign", "other kind", "other version", "changed value", "changed setting"],
)
def test_damage_is_said_in_one_line(artifact, damage, said):
    damage(artifact)
    with pytest.raises(InputError) as caught, open_artifact(artifact, "thing", verify=True):
        pass
    message = str(caught.value)
    assert message.startswith(f"{artifact}: ")
    assert said in message
    assert "\n" not in message


def test_what_is_not_there_is_said_in_one_line(artifact):
    with pytest.raises(InputError, match=r"thing\.h5: incomplete thing "), open_artifact(artifact, "thing") as file:
        file["group/weights"]


def set_attribute(path, name, value):
    with h5py.File(path, "r+") as file:
        file.attrs[name] = value


def set_value(path):
    with h5py.File(path, "r+") as file:
        file["group/values"][123] = -1


def test_a_failed_step_leaves_the_old_file_and_no_other(artifact, tmp_path):
    before = artifact.read_bytes()
    with pytest.raises(RuntimeError), create_artifact(artifact, "thing") as file:  # noqa: PT012
        file.create_dataset("values", data=np.arange(5))
        raise RuntimeError("full stop")
    assert artifact.read_bytes() == before
    assert os.listdir(tmp_path) == ["thing.h5"]


def test_a_killed_step_leaves_no_file_of_that_name(tmp_path):
    code = (
        "import sys, time; from ovaflow.storage.artifact import create_artifact\n"
        "with create_artifact(sys.argv[1], 'thing') as file:\n"
        "    file.create_dataset('values', data=[1, 2, 3]); file.flush(); print('writing', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "x.h5")], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not (tmp_path / "x.h5").exists()


def test_what_killed_processes_left_is_removed(tmp_path):
    stale, young, others = ".0.h5.a_b1c2d3.partial", ".0.h5.abcdefgh.partial", ".10.h5.abcdefgh.partial"
    for name in (stale, young, others, ".0.h5.partial"):
        (tmp_path / name).touch()
    for name in (stale, others):
        os.utime(tmp_path / name, (1e9, 1e9))
    write_text(tmp_path / "0.h5", "whole")
    assert sorted(os.listdir(tmp_path)) == sorted(["0.h5", young, others, ".0.h5.partial"])


def test_text_is_replaced_whole_and_readable_by_others(tmp_path):
    path = tmp_path / "sub" / "metrics.json"
    write_text(path, "{}")
    write_text(path, '{"P@1": 1}')
    assert path.read_text() == '{"P@1": 1}'
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_folder_that_cannot_be_made_is_an_os_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError), write_atomically(tmp_path / "file" / "below"):  # noqa: PT011
        pass
