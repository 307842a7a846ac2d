import json
import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from forged import Forgery, flip

from ovaflow.console.errors import InputError
from ovaflow.storage.artifact import (
    checksum_of,
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
    with open_artifact(artifact, "thing") as file:
        assert file["group/values"][()].tolist() == list(range(10_000))
        assert file["group"]["values"].mapped(0, 9_999)[-1] == 9_999
        assert file["group"].attrs["n_columns"] == 7
        assert parameters_of(file) == {"C": 1.0}
        assert inputs_of(file) == {"dataset": "abc"}
        assert len(checksum_of(file)) == 32


def test_other_programs_read_the_same(artifact):
    with h5py.File(artifact) as theirs, open_artifact(artifact, "thing") as ours:
        assert np.array_equal(theirs["group/values"], ours["group/values"][()])
        assert theirs["group"].attrs["n_columns"] == ours["group"].attrs["n_columns"]
        assert theirs.attrs["kind"] == "thing"
        assert json.loads(theirs.attrs["parameters"]) == parameters_of(ours)
        assert json.loads(theirs.attrs["inputs"]) == inputs_of(ours)


def test_what_only_reads_does_not_load_libhdf5(artifact):
    code = (
        "import sys; from ovaflow.storage.artifact import open_artifact\n"
        "with open_artifact(sys.argv[1], 'thing') as file: file['group/values'].mapped()\n"
        "assert 'h5py' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, artifact], check=True)


def test_every_bit_counts(artifact):
    """Of the header, the padding, HDF5's own structures, the values and the table of contents."""
    size = artifact.stat().st_size
    generator = np.random.default_rng(1)
    for place in [0, 17, 18, 4095, 4096, 4097, size - 1, *generator.integers(size, size=300).tolist()]:
        bit = int(generator.integers(8))
        flip(artifact, place, bit)
        with pytest.raises(InputError, match=r"thing\.h5: "), open_artifact(artifact, "thing") as file:
            file["group/values"].mapped()
        flip(artifact, place, bit)
    with open_artifact(artifact, "thing") as file:
        file["group/values"].mapped()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_not_written(tmp_path, value):
    values = np.zeros(1000, np.float32)
    values[700] = value
    with pytest.raises(InputError, match=rf"x\.h5: not written: scores holds {value}"), create_artifact(
        tmp_path / "x.h5", "thing"
    ) as file:  # fmt: skip
        file.create_dataset("scores", data=values)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_attributes_and_settings_are_finite(tmp_path, value):
    for parameters, attributes in (({"C": value}, {}), ({}, {"gradient_norm": value})):
        said = r"x\.h5: not written: a number among its attributes or settings"
        with pytest.raises(InputError, match=said), create_artifact(tmp_path / "x.h5", "thing", parameters) as file:
            file.attrs.update(attributes)
    assert not list(tmp_path.iterdir())


def test_infinity_where_it_has_a_meaning(tmp_path):
    with create_artifact(tmp_path / "x.h5", "thing", infinite=("scores",)) as file:
        file.create_dataset("scores", data=np.array([1, -np.inf]))
    with open_artifact(tmp_path / "x.h5", "thing") as file:
        assert file["scores"].mapped(-np.inf)[1] == -np.inf
        with pytest.raises(InputError, match="scores holds -inf, below"):
            file["scores"].mapped()


@pytest.mark.parametrize(
    ("bounds", "said"), [((1, None), "0, below 1"), ((None, 9_998), "9999, above 9998"), ((0, 9_999), None)]
)
def test_values_out_of_bounds_are_refused(artifact, bounds, said):
    with open_artifact(artifact, "thing") as file:
        if said is None:
            assert np.array_equal(file["group/values"].copied(*bounds), np.arange(10_000))
            return
        with pytest.raises(InputError, match=f"group/values holds {said}"):
            file["group/values"].mapped(*bounds)


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
        (lambda path: path.write_bytes(b""), "it lacks the header of an artifact"),
        (lambda path: path.write_bytes(path.read_bytes()[:3000]), "it lacks the header of an artifact"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "bytes where"),
        (lambda path: path.write_bytes(path.read_bytes() + b"0"), "bytes where"),
        (lambda path: h5py.File(path, "w").close(), "written before format version 2"),
        (lambda path: (path.unlink(), path.mkdir()), "not a file"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "not a file"),
        (lambda path: rewrite(path, kind="model"), "expected thing, found model"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"artifact 2", b"artifact 3", 1)), "version 3"),
        (lambda path: flip(path, 8192 + 4096), "do not match their checksum"),
    ],
    ids=[
        "missing",
        "empty",
        "truncated",
        "a byte less",
        "a byte more",
        "old",
        "folder",
        "pipe",
        "other kind",
        "other version",
        "changed value",
    ],
)
def test_damage_is_said_in_one_line(artifact, damage, said):
    damage(artifact)
    with pytest.raises(InputError) as caught, open_artifact(artifact, "thing") as file:
        file["group/values"].mapped()
    message = str(caught.value)
    assert message.startswith(f"{artifact}: ")
    assert said in message
    assert "\n" not in message


def test_what_is_not_there_is_said_in_one_line(artifact):
    with (
        pytest.raises(InputError, match=r"thing\.h5: damaged \(group/weights is missing\)"),
        open_artifact(artifact, "thing") as file,
    ):
        file["group/weights"]


def rewrite(path, **changes):
    forgery = Forgery(path)
    forgery.table |= changes
    forgery.write(path)


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
