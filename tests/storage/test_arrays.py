import contextlib
import itertools
import os

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.arrays import _Order, map_array, read_csr, read_strings, write_csr, write_strings
from ovaflow.storage.artifact import create_artifact, open_artifact


@pytest.fixture
def stored(tmp_path):
    """What a function writes, open for reading."""
    with contextlib.ExitStack() as stack:

        def write(content):
            with create_artifact(tmp_path / "arrays.h5", "arrays") as file:
                content(file)
            return stack.enter_context(open_artifact(tmp_path / "arrays.h5", "arrays"))

        yield write


@given(st.lists(st.text()))
def test_any_text_comes_back(texts):
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        write_strings(file, "names", texts)
        holder = file["names"]
        offsets, block = holder["offsets"][()], holder["utf8"][()].tobytes()
        ours = [block[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(offsets)]
    assert ours == texts


def test_texts_are_read_by_row(stored):
    file = stored(lambda file: write_strings(file, "names", ["zero", "", "zwei ü", "\U0001f4da"]))
    assert read_strings(file, "names") == ["zero", "", "zwei ü", "\U0001f4da"]
    assert read_strings(file, "names", [3, 0]) == ["\U0001f4da", "zero"]


@pytest.mark.parametrize("dense", [np.eye(5), np.zeros((3, 4)), np.ones((1, 1))], ids=["eye", "empty", "one"])
def test_matrices_come_back(stored, dense):
    file = stored(lambda file: write_csr(file.create_group("X"), from_scipy(dense)))
    assert np.array_equal(read_csr(file["X"]).to_scipy().toarray(), dense)


def test_a_mapped_array_never_writes_to_its_file(stored):
    file = stored(lambda file: file.create_dataset("values", data=np.arange(5000)))
    mapped = map_array(file["values"])
    mapped[0] = 99
    assert file["values"][()][0] == 0


def test_mapped_arrays_share_their_pages(stored):
    file = stored(lambda file: file.create_dataset("values", data=np.ones(1 << 22)))
    mapped = map_array(file["values"])
    assert mapped.sum() == 1 << 22
    assert copied_bytes_of("arrays.h5") == 0


def copied_bytes_of(name):
    """Memory of this process that holds its own copies of a mapped file's pages."""
    inside, total = False, 0
    with open(f"/proc/{os.getpid()}/smaps") as lines:
        for line in lines:
            if "-" in line.split(" ")[0]:
                inside = name in line
            elif inside and line.startswith("Anonymous"):
                total += 1024 * int(line.split()[1])
    return total


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("data", np.ones(3, np.float32), "different lengths"),
        ("data", np.ones(5), "type float64"),
        ("data", np.ones((5, 1), np.float32), "2 axes"),
        ("indices", np.arange(1, 6, dtype=np.int32), "holds 5, above 4"),
        ("indices", np.arange(-1, 4, dtype=np.int32), "holds -1, below 0"),
        ("indptr", np.arange(1, 7), "does not rise from 0"),
        ("indptr", np.array([0, 2, 1, 3, 4, 5]), "does not rise from 0"),
        ("indptr", np.array([0, 1, 2, 3, 4, 2**62]), "different lengths"),
        ("indptr", np.zeros(0, np.int64), "does not rise from 0"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(stored, name, values, said):
    arrays = dict(zip(("data", "indices", "indptr"), from_scipy(np.eye(5)).arrays, strict=True)) | {name: values}

    def write(file):
        group = file.create_group("X")
        group.attrs["n_columns"] = 5
        for key, array in arrays.items():
            group.create_dataset(key, data=array)

    with pytest.raises(InputError, match=said):
        read_csr(stored(write)["X"])


@given(st.integers(0, 1 << 30), st.integers(1, 40))
def test_columns_ascend_whatever_the_blocks(seed, block):
    generator = np.random.default_rng(seed)
    matrix = from_scipy(generator.random((12, 6)) < generator.random())
    indices = matrix.indices.copy()
    if len(indices) > 1 and seed % 2:
        place = generator.integers(len(indices) - 1)
        indices[place : place + 2] = indices[place : place + 2][::-1]
    order = _Order(matrix.indptr)
    for start in range(0, len(indices), block):
        order(indices[start : start + block])
    rows = [indices[a:b].tolist() for a, b in itertools.pairwise(matrix.indptr)]
    assert order.holds == all(row == sorted(set(row)) for row in rows)
