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
CLAIMS = [
    ((2, MANY), "csr", {"indices": [0], "indptr": [0, 1, 1]}, r"shape \(2, 2147483648\)"),
    ((MANY, 2), "csr", {"indices": [0], "indptr": [0, 1, 1]}, "index pointer size"),
    (
        (MANY, 1),
        "csc",
        {"indices": [0], "indptr": [0, 1]},
        "claims 2,147,483,648 rows, and has 1 values; correct the",
    ),
    ((MANY, 5), "coo", {"row": [0], "col": [0]}, "claims 2,147,483,648 rows"),
    ((MANY, 5), "dia", {"offsets": [0], "data": [[1.0]]}, "claims 2,147,483,648 rows"),
]


@pytest.mark.parametrize(("shape", "form", "arrays", "said"), CLAIMS)
def test_matrices(tmp_path, shape, form, arrays, said) -> None:
    np.savez_compressed(
        tmp_path / "X.npz", shape=shape, format=form.encode(), **({"data": [1.0]} | arrays)
    )
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
    files = f"--train={tmp_path}/xmc.txt", f"--output={tmp_path}/d.h5"
    assert said in ovaflow("prepare", "--format=xmc-text", *files, status=status)
