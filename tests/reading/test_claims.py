"""Headers that claim more than their files can back are refused in one line, before memory is asked for."""

import tracemalloc

import numpy as np
import pytest
from commands import ovaflow

from ovaflow.console.errors import InputError
from ovaflow.reading.npz import read_matrix

ONE = {"data": np.ones(1, np.float32)}
AT = {"row": np.array([0]), "col": np.array([0])}
CLAIMS = {
    "features of a csr": ((2, 2**31), "csr", ONE | {"indices": [0], "indptr": [0, 1, 1]}, r"shape \(2, 2147483648\)"),
    "instances of a csr": ((2**31, 2), "csr", ONE | {"indices": [0], "indptr": [0, 1, 1]}, "index pointer size"),
    "instances of a coo": ((2**31, 5), "coo", ONE | AT, "claims 2,147,483,648 rows, and has 1 values; correct the"),
    "instances of a csc": ((2**31, 1), "csc", ONE | {"indices": [0], "indptr": [0, 1]}, "claims 2,147,483,648 rows"),
    "instances of a dia": ((2**31, 5), "dia", {"data": np.ones((1, 5)), "offsets": [0]}, "claims 2,147,483,648 rows"),
}


@pytest.mark.parametrize("case", CLAIMS)
def test_matrices(tmp_path, case):
    shape, form, arrays, said = CLAIMS[case]
    np.savez_compressed(tmp_path / "X.npz", shape=shape, format=form.encode(), **arrays)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=said):
            read_matrix(tmp_path / "X.npz")
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("header", "status", "said"),
    [
        (
            "2 2147483646 3",
            2,
            "xmc.txt: claims 2,147,483,646 features, and has 2 values; correct the",
        ),
        ("2 2147483648 3", 2, "xmc.txt, line 1: the header promises too many features"),
        ("999999999999 5 3", 2, "the header promises 999999999999 instances, the file has 2"),
        # hashed features of few texts
        ("2 16777216 3", 0, "16,777,217 features"),
    ],
)
def test_text_files(tmp_path, header, status, said):
    (tmp_path / "xmc.txt").write_text(f"{header}\n0 0:1\n1 1:1\n")
    files = f"--train={tmp_path}/xmc.txt", f"--output={tmp_path}/d.h5"
    assert said in ovaflow("prepare", "--format=xmc-text", *files, status=status)
