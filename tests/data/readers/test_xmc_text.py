"""The XMC text format: round trips through odd white space and small blocks, and a corpus of malformed files."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from ovaflow.console.errors import InputError
from ovaflow.data.readers import streams, xmc_text

VALUES = st.one_of(
    st.sampled_from(["1", "-1", "0", "0.5", "+2.5e-3", "1e-46", "16777217.00000000000000000001", ".5", "5."]),
    st.floats(-(2.0**100), 2.0**100, width=32).map(repr),
    st.floats(-1e30, 1e30).map(repr),
)
BLANKS = st.text(" \t\r", min_size=1, max_size=3)


@st.composite
def files(draw, d=7, n_labels=5):
    """A file's text, and what it holds: rows of labels, rows of (feature, text of the value)."""
    instances = draw(
        st.lists(
            st.tuples(
                st.lists(st.integers(0, n_labels - 1), max_size=6),
                st.lists(st.tuples(st.integers(0, d - 1), VALUES), max_size=6, unique_by=lambda entry: entry[0]),
            ),
            max_size=8,
        )
    )
    lines = [f"{len(instances)} {d} {n_labels}\n"]
    for labels, features in instances:
        tokens = [",".join(map(str, labels)), *(f"{feature}:{value}" for feature, value in features)]
        line = draw(BLANKS) if not labels else draw(st.sampled_from(["", " "]))
        line += draw(BLANKS).join(filter(None, tokens)) + draw(st.sampled_from(["", " ", "\r", "\t "]))
        lines.append(line + "\n")
    text = "".join(lines)
    return text.removesuffix("\n") if draw(st.booleans()) and instances else text, instances


def dense(instances, d, n_labels):
    X, Y = np.zeros((len(instances), d), np.float32), np.zeros((len(instances), n_labels), np.float32)
    for row, (labels, features) in enumerate(instances):
        Y[row, labels] = 1
        for feature, value in features:
            X[row, feature] = float(value)
    return X, Y


@given(files(), st.integers(1, 80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example(("2 7 5\n\n\n", [([], []), ([], [])]), 1)
@example(("1 7 5\n\n\n \n\n", [([], [])]), 3)
@example(("0 7 5\n", []), 3)
@example(("1 7 5\r\n0001,4 0:1 \r\n", [([1, 4], [(0, "1")])]), 3)
@example(("\ufeff1 7 5\n1\n", [([1], [])]), 3)
def test_round_trip_whatever_the_block_size(tmp_path, file, block):
    text, instances = file
    path = tmp_path / "file.txt"
    path.write_bytes(text.encode())
    X, Y = xmc_text.read(path, block)
    for matrix, theirs in zip((X, Y), dense(instances, 7, 5), strict=True):
        assert [array.dtype for array in matrix.arrays] == [np.float32, np.int32, np.int64]
        ours = matrix.to_scipy()
        assert ours.has_canonical_format
        np.testing.assert_array_equal(ours.toarray(), theirs)
    assert np.all(X.data != 0) or any(value == "1e-46" for _, features in instances for _, value in features)
    assert np.all(Y.data == 1)


def test_large_random_file_equals_sklearn(tmp_path):
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((3000, 500), density=0.05, format="csr", rng=random, dtype=np.float32)
    labels = [random.choice(90, random.integers(0, 5), replace=False) for _ in range(3000)]
    body = "".join(
        ",".join(map(str, row_labels))
        + "".join(
            f" {feature}:{value!r}"
            for feature, value in zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)
        )
        + "\n"
        for row_labels, a, b in zip(labels, X.indptr, X.indptr[1:], strict=False)
    )
    path = tmp_path / "file.txt"
    path.write_text("3000 500 90\n" + body)
    theirs, their_labels = load_svmlight_file(
        io.BytesIO(body.encode()), n_features=500, dtype=np.float32, multilabel=True, zero_based=True
    )
    for block in (1 << 20, 1 << 14, 777):
        ours, Y = xmc_text.read(path, block)
        np.testing.assert_array_equal(ours.data, theirs.data)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
        assert [tuple(Y.indices[a:b]) for a, b in zip(Y.indptr, Y.indptr[1:], strict=False)] == [
            tuple(sorted(map(int, row_labels))) for row_labels in their_labels
        ]


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=40), min_size=1, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_unsorted_and_repeated_features_are_sorted_and_summed_as_scipy_does(tmp_path, instances):
    path = tmp_path / "file.txt"
    lines = [" " + " ".join(f"{feature}:{value}" for feature, value in row) for row in instances]
    path.write_text("\n".join([f"{len(lines)} 5 1", *lines]) + "\n")
    ours = xmc_text.read(path, 64)[0].to_scipy()
    triples = [(value, row, feature) for row, entries in enumerate(instances) for feature, value in entries]
    value, row, feature = np.array(triples, np.int64).reshape(-1, 3).T
    theirs = scipy.sparse.coo_array((value, (row, feature)), shape=(len(lines), 5)).tocsr()
    assert ours.has_canonical_format
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstandard.compress)],
)
def test_compressed_files(tmp_path, suffix, compress):
    text = ("5000 9 3\n" + "".join(f"{i % 3} {i % 9}:{i / 7}\n" for i in range(5000))).encode()
    (tmp_path / "plain.txt").write_bytes(text)
    (tmp_path / f"packed.txt{suffix}").write_bytes(compress(text))
    for ours, theirs in zip(
        xmc_text.read(tmp_path / f"packed.txt{suffix}", 1000), xmc_text.read(tmp_path / "plain.txt"), strict=True
    ):
        for our_array, their_array in zip(ours.arrays, theirs.arrays, strict=True):
            np.testing.assert_array_equal(our_array, their_array)


HARD_NUMBER = "1.00000005960464477539062500000000001"

MALFORMED = [
    ("", 1, "expected a header"),
    ("\n", 1, "expected a header"),
    ("1,2 3:4\n", 1, "expected a header"),
    ("1 2\n", 1, "expected a header"),
    ("1 2 3 4\n", 1, "expected a header"),
    ("1 -2 3\n", 1, "expected a header"),
    ("1 2.0 3\n", 1, "expected a header"),
    ("1" * 500, 1, "expected a header"),
    ("\0\1\2\377" * 500, 1, "expected a header"),
    ("1 99999999999 3\n", 1, "too many features"),
    ("99999999999999999999 3 3\n", 1, "too many instances"),
    ("1 3 10000001\n", 1, "too many labels (at most 10,000,000)"),
    ("2 7 5\n0 1:1\n", 2, "promises 2 instances, the file has 1"),
    ("2 7 5\n", 1, "promises 2 instances, the file has 0"),
    ("1 7 5\n0 1:1\n\n\n0 1:1\n", 5, "more instances than the 1 promised"),
    ("0 7 5\n0 1:1\n", 2, "more instances than the 0 promised"),
    ("2 7 5\n0 1:1\n5 1:1\n", 3, "label id out of range in '5', ids run from 0 to 4"),
    ("1 7 5\n1,99999999999999999999999 1:1\n", 2, "label id out of range"),
    ("1 7 0\n0 1:1\n", 2, "label id out of range"),
    ("1 7 5\n-1 1:1\n", 2, "expected label ids separated by commas, found '-1'"),
    ("1 7 5\n1,,2 1:1\n", 2, "expected label ids"),
    ("1 7 5\n,2 1:1\n", 2, "expected label ids"),
    ("1 7 5\n1, 1:1\n", 2, "expected label ids"),
    ("1 7 5\n1,\n", 2, "expected label ids separated by commas, found '1,'"),
    ("1 7 5\n1,2", None, None),
    ("1 7 5\n1,2:1", 2, "expected label ids"),
    ("1 7 5\n1.0 1:1\n", 2, "expected label ids"),
    ("1 7 5\nsport 1:1\n", 2, "expected label ids separated by commas, found 'sport'"),
    ("1 7 5\n1 2 1:1\n", 2, "expected feature:value, found '2'"),
    ("1 7 5\n1 2\n", 2, "expected feature:value"),
    ("1 7 5\n1 qid:3 1:1\n", 2, "expected feature:value, found 'qid:3'"),
    ("1 7 5\n1 1:1 # comment\n", 2, "expected feature:value, found '#'"),
    ("1 7 5\n1 1 :1\n", 2, "expected feature:value"),
    ("1 7 5\n1 -1:1\n", 2, "expected feature:value, found '-1:1'"),
    ("1 7 5\n1 7:1\n", 2, "feature id out of range in '7:1', ids run from 0 to 6"),
    ("1 0 5\n1 0:1\n", 2, "feature id out of range"),
    ("1 7 5\n1 18446744073709551617:1\n", 2, "feature id out of range"),
    ("1 7 5\n1 1:\n", 2, "'1:' has no finite number after the colon"),
    ("1 7 5\n1 1: 1\n", 2, "no finite number"),
    ("1 7 5\n1 1:nan\n", 2, "no finite number"),
    ("1 7 5\n1 1:inf\n", 2, "no finite number"),
    ("1 7 5\n1 1:-\n", 2, "no finite number"),
    ("1 7 5\n1 1:1e\n", 2, "no finite number"),
    ("1 7 5\n1 1:1.5.2\n", 2, "no finite number"),
    ("1 7 5\n1 1:1,5\n", 2, "no finite number"),
    ("1 7 5\n1 1:2:3\n", 2, "no finite number"),
    ("1 7 5\n1 1:1\0\n", 2, "no finite number"),
    ("1 7 5\n1 1:1e39\n", 2, "too large for 32 bits"),
    ("1 7 5\n1 1:-1e999999999999999999\n", 2, "too large for 32 bits"),
    ("1 7 5\n1 1:3.40282356779733661637539395458142568448e38\n", 2, "too large for 32 bits"),
    (f"3 7 5\n1 1:{HARD_NUMBER}\n\n1 1:{HARD_NUMBER} 2:3.40282356779733661637539395458142568448e38\n", 4, "too large"),
    ("1 7 5\n1 1:3e38 1:3e38\n", 2, "sum to infinity"),
    ("4 7 5\n\n1 1:1\n1 2:3e38 1:3e38 1:3e38\n1 1:3e38 1:3e38\n", 4, "sum to infinity"),
    ("1 7 5\n\u0661 1:1\n", 2, "expected label ids"),
    ("3 7 5\n1 1:1\n1 2:1 garbage" + "x" * 300 + "\n1 1:1\n", 3, "expected feature:value"),
    ("3 7 5\n" + "1," * 100 + "x\n", 2, "expected label ids"),
]


@pytest.mark.parametrize("block", [1, 16, 1 << 20])
@pytest.mark.parametrize(("text", "line", "message"), MALFORMED)
def test_malformed_files_are_refused_with_the_line(tmp_path, text, line, message, block):
    path = tmp_path / "file.txt"
    path.write_bytes(text.encode())
    if message is None:
        assert xmc_text.read(path, block)[0].n_rows == 1
        return
    with pytest.raises(InputError) as error:
        xmc_text.read(path, block)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}{'' if line is None else f', line {line}'}: ")
    assert len(str(error.value)) < 400


@given(st.binary(max_size=60), st.integers(1, 30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_malformed_arbitrary_bytes_never_crash(tmp_path, body, block):
    path = tmp_path / "file.txt"
    path.write_bytes(b"3 9 9\n" + body)
    with contextlib.suppress(InputError):
        X, Y = xmc_text.read(path, block)
        assert X.n_rows == Y.n_rows == 3


@given(st.text("0123456789:,. e-\n", max_size=60), st.integers(1, 30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_malformed_likely_characters_never_crash(tmp_path, body, block):
    test_malformed_arbitrary_bytes_never_crash.hypothesis.inner_test(tmp_path, body.encode(), block)


def test_endless_lines_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LONGEST_LINE", 1000)
    path = tmp_path / "file.txt"
    path.write_text("1 7 5\n" + "1," * 5000 + "1\n")
    with pytest.raises(InputError, match="line 2: a line of more than 1,000 bytes"):
        xmc_text.read(path, 16)


def test_no_kernel_leaves_its_arrays(tmp_path):
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "OVAFLOW_CACHE": str(tmp_path)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-k",
        "malformed or round_trip or hammered",
        "-p",
        "no:cacheprovider",
        __file__,
        Path(__file__).parents[2] / "fuzz" / "test_row_parser.py",
    ]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert " passed" in finished.stdout
