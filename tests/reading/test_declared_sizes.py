"""Headers that claim more than their files can back are refused in one line, before memory is asked
for.
"""

import tracemalloc

import numpy as np
import pytest
from commands import ovaflow

from ovaflow.console.errors import InputError
from ovaflow.reading.npz import read_matrix

MANY = 2**31
TOO_MANY_ROWS = "claims 2,147,483,648 rows, and has 1 values; correct the"
ONE_ROW = {"data": [1.0], "indices": [0], "indptr": [0, 1, 1]}
ONE_COLUMN = {"data": [1.0], "indices": [0], "indptr": [0, 1]}
ONE_ENTRY = {"data": [1.0], "row": [0], "col": [0]}
ONE_DIAGONAL = {"data": [[1.0]], "offsets": [0]}


@pytest.mark.parametrize(
    ("shape", "layout", "arrays", "said"),
    [
        ((2, MANY), b"csr", ONE_ROW, r"shape \(2, 2147483648\)"),
        ((MANY, 2), b"csr", ONE_ROW, "index pointer size"),
        ((MANY, 1), b"csc", ONE_COLUMN, TOO_MANY_ROWS),
        ((MANY, 5), b"coo", ONE_ENTRY, TOO_MANY_ROWS),
        ((MANY, 5), b"dia", ONE_DIAGONAL, TOO_MANY_ROWS),
    ],
)
def test_matrices(tmp_path, shape, layout, arrays, said) -> None:
    np.savez_compressed(tmp_path / "X.npz", shape=shape, format=layout, **arrays)
    tracemalloc.start()
    with pytest.raises(InputError, match=said):
        read_matrix(tmp_path / "X.npz")
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("header", "status", "said"),
    [
        (
            "2 2147483646 3",
            2,
            "xmc.txt: claims 2,147,483,646 features, and has 2 values; correct the number in its",
        ),
        ("999999999999 5 3", 2, "the header promises 999999999999 instances, the file has 2"),
        # hashed features of few texts
        ("2 16777216 3", 0, "16,777,217 features"),
    ],
)
def test_text_files(tmp_path, header, status, said) -> None:
    (tmp_path / "xmc.txt").write_text(f"{header}\n0 0:1\n1 1:1\n")
    train = f"--train={tmp_path}/xmc.txt"
    output = f"--output={tmp_path}/d.h5"
    assert said in ovaflow("prepare", "--format=xmc-text", train, output, status=status)
