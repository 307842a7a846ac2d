"""Artifacts are whole or not there, say what made them, and show every change."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from forged import Forgery, flip, offset_of

from ovaflow.console.errors import InputError
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.artifact import checksum_of, create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.writing import write_atomically, write_text


@pytest.fixture
def artifact(tmp_path):
    path = tmp_path / "thing.h5"
    with create_artifact(path, "means", {"C": 1.0}, {"dataset": "abc"}) as file:
        create_array(file.create_group("group"), "values", np.arange(10_000))
        file["group"].attrs["n_columns"] = 7
    return path


def read(path):
    """All that an artifact says."""
    with open_artifact(path, "means") as file:
        about = checksum_of(file), parameters_of(file), inputs_of(file), file["group"].attrs["n_columns"]
        return *about, map_array(file["group/values"]).tolist()


def test_what_is_written_is_read_and_by_other_programs_too(artifact):
    checksum, *said = read(artifact)
    assert said == [{"C": 1.0}, {"dataset": "abc"}, 7, list(range(10_000))]
    with h5py.File(artifact) as theirs:
        assert theirs["group/values"][()].tolist() == list(range(10_000))
        assert theirs.attrs["kind"] == b"means"
        assert theirs.attrs["checksum"].decode() == checksum
        assert json.loads(theirs.attrs["parameters"]) == {"C": 1.0}


@pytest.mark.skipif(shutil.which("h5dump") is None, reason="HDF5's own tools are not installed here")
def test_h5dump_shows_it(artifact):
    shown = subprocess.run(["h5dump", "-A", artifact], capture_output=True, text=True, check=True).stdout
    for said in ("kind", '"means"', "parameters", "n_columns", "values", "xxh3"):
        assert said in shown


def test_what_is_changed_by_hand_is_refused(artifact):
    with h5py.File(artifact, "r+") as file:
        file["group"].attrs["n_columns"] = 8
    with pytest.raises(InputError, match="attributes do not match their checksum"):
        read(artifact)


def write(path, arrays, attributes, parameters):
    with create_artifact(path, "means", parameters) as file:
        file.attrs.update(attributes)
        for name, array in arrays.items():
            create_array(file, name, array)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_not_written(tmp_path, value):
    values = np.zeros(1000, np.float32)
    values[700] = value
    for arrays, attributes, parameters, said in (
        ({"scores": values}, {}, {}, f"scores holds {value}"),
        ({}, {"gradient_norm": value}, {}, "a number among its attributes is not finite"),
        ({}, {}, {"C": value}, "a number among its settings is not finite"),
    ):
        with pytest.raises(InputError, match=rf"x\.h5: not written: {said}"):
            write(tmp_path / "x.h5", arrays, attributes, parameters)
    assert not list(tmp_path.iterdir())


def test_infinity_where_it_has_a_meaning(tmp_path):
    with create_artifact(tmp_path / "x.h5", "means") as file:
        create_array(file, "scores", np.array([1, -np.inf]), infinite=True)
    with open_artifact(tmp_path / "x.h5", "means") as file:
        assert map_array(file["scores"])[1] == -np.inf


def test_same_content_same_bytes(tmp_path):
    contents = []
    for _ in range(2):
        with create_artifact(tmp_path / "a", "means", {"z": 1, "a": 2}) as file:
            create_array(file.create_group("group"), "values", np.arange(10_000))
            create_array(file, "parts", shape=(2, 3000), dtype=np.float32)[1:] = 1
        contents.append((tmp_path / "a").read_bytes())
        time.sleep(1.1 * (len(contents) < 2))
    assert contents[0] == contents[1]


def test_many_attributes_groups_and_arrays(tmp_path):
    """More than HDF5 keeps in one header, and settings that are too long for one."""
    numbers, long = {f"number{j}": j for j in range(40)}, {"files": "x" * 100_000}
    with create_artifact(tmp_path / "x.h5", "means", long) as file:
        file.attrs.update(numbers)
        for j in range(300):
            create_array(file.create_group(f"group{j}"), "values", np.arange(j))
    with open_artifact(tmp_path / "x.h5", "means") as file:
        assert {name: file.attrs[name] for name in numbers} == numbers
        assert parameters_of(file) == long
        assert all(map_array(file[f"group{j}/values"]).tolist() == list(range(j)) for j in range(300))


def test_arrays_are_contiguous_and_aligned(artifact):
    assert offset_of(artifact, "group/values") % 4096 == 0


def old(path):
    with h5py.File(path, "w") as file:
        file.attrs["kind"], file.attrs["format_version"] = "means", 2


def of_another_kind(path):
    forgery = Forgery(path)
    forgery.kind = "model"
    forgery.write(path)


FOREIGN = "not a means file, or damaged; give the path of a means file (ovaflow means, rule compute_means)"
DAMAGE = {
    "missing": (lambda path: path.unlink(), "no such file; give the path of a means file"),
    "empty": (lambda path: path.write_bytes(b""), FOREIGN),
    "a text": (lambda path: path.write_text("label\ttext\n"), FOREIGN),
    "HDF5 of others": (lambda path: h5py.File(path, "w").close(), FOREIGN),
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-5000]), FOREIGN),
    "folder": (lambda path: (path.unlink(), path.mkdir()), "not a file"),
    "pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "not a file"),
    "other kind": (of_another_kind, "expected means, found model; give the path of a means file"),
    "old": (old, "format version 2, this ovaflow reads 3; delete it and make it again (ovaflow means, rule"),
    "changed value": (
        lambda path: flip(path, offset_of(path, "group/values") + 5000),
        "damaged (values of /group/values do not match their checksum); delete it and make it again (ovaflow means",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_said_in_one_line(artifact, case):
    damage, said = DAMAGE[case]
    damage(artifact)
    with pytest.raises(InputError) as caught:
        read(artifact)
    assert str(caught.value).startswith(f"{artifact}: {said}")
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_said_in_one_line(artifact):
    with pytest.raises(InputError, match=r"thing\.h5: damaged \(.*'weights' doesn't exist"):
        with open_artifact(artifact, "means") as file:
            file["group/weights"]


def test_a_failed_step_leaves_the_old_file_and_no_other(artifact, tmp_path):
    before = artifact.read_bytes()
    with pytest.raises(RuntimeError), create_artifact(artifact, "means") as file:  # noqa: PT012
        create_array(file, "values", np.arange(5))
        raise RuntimeError("full stop")
    assert artifact.read_bytes() == before
    assert os.listdir(tmp_path) == ["thing.h5"]


def test_a_killed_step_leaves_no_file_of_that_name(tmp_path):
    code = (
        "import sys, time; from ovaflow.storage.artifact import create_artifact\n"
        "with create_artifact(sys.argv[1], 'means') as file:\n"
        "    file.create_dataset('values', data=[1, 2, 3]); file.flush(); print('writing', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "x.h5")], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
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
