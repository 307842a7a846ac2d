import itertools
import os

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.arrays import map_array, read_csr, read_strings, write_csr, write_strings


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "arrays.h5", "w", alignment_threshold=4096, alignment_interval=4096) as file:
        yield file


@given(st.lists(st.text()))
def test_any_text_comes_back(texts):
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        write_strings(file, "names", texts)
        holder = file["names"]
        offsets, block = holder["offsets"][()], holder["utf8"][()].tobytes()
        ours = [block[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(offsets)]
    assert ours == texts


def test_texts_are_read_by_row(file):
    write_strings(file, "names", ["zero", "", "zwei ü", "\U0001f4da"])
    file.flush()
    assert read_strings(file, "names") == ["zero", "", "zwei ü", "\U0001f4da"]
    assert read_strings(file, "names", [3, 0]) == ["\U0001f4da", "zero"]


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("dense", [np.eye(5), np.zeros((3, 4)), np.ones((1, 1))], ids=["eye", "empty", "one"])
def test_matrices_come_back(file, dense, mapped):
    write_csr(file.create_group("X"), from_scipy(dense))
    file.flush()
    assert np.array_equal(read_csr(file["X"], mapped).to_scipy().toarray(), dense)


def test_a_mapped_array_never_writes_to_its_file(file):
    file.create_dataset("values", data=np.arange(5000))
    file.flush()
    mapped = map_array(file["values"])
    mapped[0] = 99
    assert file["values"][0] == 0


def test_mapped_arrays_share_their_pages(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("values", data=np.ones(1 << 22))
        file.flush()
        mapped = map_array(file["values"])
        assert mapped.sum() == 1 << 22
        assert copied_bytes_of("x.h5") == 0


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


def test_arrays_that_do_not_fit_together_are_refused(file):
    write_csr(file.create_group("X"), from_scipy(np.eye(5)))
    del file["X/data"]
    file["X"].create_dataset("data", data=np.ones(3, np.float32))
    file.flush()
    with pytest.raises(InputError, match="different lengths"):
        read_csr(file["X"])
