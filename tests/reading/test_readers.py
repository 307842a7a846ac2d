"""Readers against plain parsers of other packages: scikit-learn's svmlight, csv, json, pyarrow,
SciPy and NumPy.
"""

import contextlib
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import chain

import naive
import numpy as np
import pandas
import pytest
import scipy.sparse
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_files

from ovaflow.console.errors import InputError
from ovaflow.reading import npz
from ovaflow.reading.sparse_text import read_svmlight, read_xmc_text
from ovaflow.reading.streams import read_lines
from ovaflow.records.source import read_file
from ovaflow.settings.prepare import PrepareSource

ALIKE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
LABELS = st.lists(
    st.text(
        st.characters(
            codec="utf-8", exclude_categories=["Cf"], exclude_characters="\0,[({< \t\r\n"
        ),
        min_size=1,
    ),
    max_size=3,
    unique=True,
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
VALUES = st.one_of(
    st.sampled_from(
        ["1", "-1", "0", "0.5", "+2.5e-3", "1e-46", "16777217.00000000000000000001", ".5", "5."]
    ),
    st.floats(-(2.0**100), 2.0**100, width=32).map(repr),
    st.floats(-1e30, 1e30).map(repr),
)
BLANKS = st.text(" \t\r", min_size=1, max_size=3)
MUTATIONS = st.lists(
    st.tuples(st.integers(0, 3), st.floats(0, 1), st.binary(min_size=1, max_size=3)), max_size=3
)


ROWS = st.lists(st.tuples(st.integers(0, 6), VALUES), max_size=6)
LABEL_IDS = st.lists(st.integers(0, 4), max_size=6)
LINE_ENDS = st.sampled_from(["", " ", "\r", "\t "])


@st.composite
def bodies(draw):
    """Draw lines of labels and features."""
    lines = []
    for _ in range(draw(st.integers(0, 9))):
        features = [f"{feature}:{value}" for feature, value in draw(ROWS)]
        labels = ",".join(str(label) for label in draw(LABEL_IDS))
        tokens = [labels or draw(BLANKS), *features]
        lines.append(draw(BLANKS).join(tokens) + draw(LINE_ENDS))
    return "\n".join(lines).encode()


def mutate_bytes(data, mutations) -> bytes:
    """Flip, insert, remove or repeat bytes at some places."""
    for kind, place, piece in mutations:
        start = int(place * len(data))
        rest = data[start:]
        after_piece = rest[len(piece) :]
        flipped = bytes(a ^ b for a, b in zip(rest, piece, strict=False))
        changed = [flipped + after_piece, piece + rest, after_piece, rest[:9] + rest]
        data = data[:start] + changed[kind]
    return data


def parse_or_find_line(read):
    """Return features and labels of a reader, or the number of the wrong line."""
    try:
        X, Y = read()
    except InputError as error:
        line = re.search(r", line (\d+):", str(error))
        return line and int(line[1])
    for matrix in (X, Y):
        types = [array.dtype for array in matrix.arrays]
        assert types == [np.float32, np.int32, np.int64]
    return X.to_scipy(), Y.to_scipy()


def sum_rows(rows, n_columns) -> scipy.sparse.csr_array:
    """Make a matrix of rows of (column, value), sorted and summed by SciPy."""
    pairs = list(chain.from_iterable(rows))
    columns = np.array([column for column, _ in pairs], int)
    values = np.array([value for _, value in pairs], np.float32)
    indptr = np.cumsum([0] + [len(row) for row in rows])
    matrix = scipy.sparse.csr_array((values, columns, indptr), (len(rows), n_columns))
    matrix.sum_duplicates()
    return matrix


def assert_equal(ours, theirs) -> None:
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def assert_equal_instances(ours, instances, first) -> None:
    """Compare with instances of the plain parser, which are not sorted, not summed, with zeros."""
    X, Y = ours
    features = []
    labels = []
    for row, labels_of_row in instances:
        features.append([(feature - first, value) for feature, value in row if value != 0])
        labels.append([(label, 1) for label in set(labels_of_row)])
    assert_equal(X, sum_rows(features, X.shape[1]))
    assert_equal(Y, sum_rows(labels, Y.shape[1]))


LONG_NUMBER = b"0001,4 0:1 \r\n1 1:16777217.00000000000000000001\n\n"


@given(
    body=st.one_of(bodies(), st.binary(max_size=60)),
    mutations=MUTATIONS,
    block=st.integers(1, 99),
    comments=st.booleans(),
)
@settings(ALIKE, max_examples=300)
@example(body=b"\n\n\n", mutations=[], block=1, comments=False)
@example(body=b"\n \n\n \n\n", mutations=[], block=3, comments=False)
@example(body=LONG_NUMBER, mutations=[], block=3, comments=False)
def test_lines_equal_those_of_the_plain_parser(tmp_path, body, mutations, block, comments) -> None:
    body = mutate_bytes(body, mutations).removeprefix(b"\xef\xbb\xbf")
    path = tmp_path / "file"
    if comments:
        path.write_bytes(body)
        instances, wrong = naive.parse_rows(body, -1, 1, 2**31 - 1, 10**7, True)
        ours = parse_or_find_line(lambda: read_svmlight([path], first=1, block=block)[1][0])
    else:
        path.write_bytes(b"3 7 5\n" + body)
        instances, wrong = naive.parse_rows(body, 3, 0, 7, 5, False)
        wrong = None if wrong is None else wrong + 1
        ours = parse_or_find_line(lambda: read_xmc_text(path, block))
    if wrong is not None:
        assert ours == wrong
    elif isinstance(ours, tuple):
        assert_equal_instances(ours, instances, int(comments))
    else:
        # no instances, fewer than promised, or a sum beyond float32, whose line is not told
        assert len(instances) < 3 or ours is None


@pytest.mark.long
def test_no_kernel_leaves_its_arrays(tmp_path) -> None:
    """The same with Numba's checks."""
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "OVAFLOW_CACHE": str(tmp_path)}
    test = f"{__file__}::{test_lines_equal_those_of_the_plain_parser.__name__}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert "1 passed" in finished.stdout


@pytest.mark.parametrize(
    ("zero_based", "lowest"),
    [(True, 0), (True, 1), (False, 1), ("auto", 0), ("auto", 1), ("auto", 2)],
)
def test_svmlight_equals_sklearn(tmp_path, zero_based, lowest) -> None:
    files = [
        f"3,1 2:1 4:-2.5 # 3:4 5,6\n\n# only a comment\n  7:3e-4\t#\n 5:0\n0 {lowest}:1 9:0",
        "8 2:1\r\n12 3:1",
    ]
    paths = [tmp_path / "1", tmp_path / "2"]
    for path, content in zip(paths, files, strict=True):
        path.write_text(content, newline="")
    first = None if zero_based == "auto" else int(not zero_based)
    _, pairs = read_svmlight(paths, first=first, block=16)
    theirs = load_svmlight_files(paths, multilabel=True, zero_based=zero_based, dtype=np.float32)
    assert len(theirs) == 2 * len(pairs)
    for (X, Y), X_theirs, labels in zip(pairs, theirs[::2], theirs[1::2], strict=True):
        np.testing.assert_array_equal(X.to_scipy().toarray(), X_theirs.toarray())
        assert Y.to_scipy().tolil().rows.tolist() == [sorted(each) for each in labels]


def write_text_tsv(frame) -> str:
    lines = ""
    for text, labels in frame.values:
        lines += f"{','.join(labels)}\t{text}\n"
    return lines


def write_csv(frame) -> str:
    joined = frame.assign(labels=frame["labels"].map(",".join))
    return joined.to_csv(index=False, lineterminator="\r\n")


def write_json_lines(frame) -> str:
    return frame.to_json(orient="records", lines=True)


WRITERS = {
    "text-tsv": write_text_tsv,
    "csv": write_csv,
    "jsonl": write_json_lines,
    "parquet": pandas.DataFrame.to_parquet,
}


def clean_plainly(text) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def clean_labels_plainly(labels) -> tuple[str, ...]:
    names = {}
    for label in labels:
        composed = unicodedata.normalize("NFC", clean_plainly(label))
        names[" ".join(composed.split())] = None
    names.pop("", None)
    return tuple(names)


@pytest.mark.parametrize("format", WRITERS)
@given(rows=st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=4), mutations=MUTATIONS)
@ALIKE
def test_texts(tmp_path, format, rows, mutations) -> None:
    if format == "text-tsv":
        rows = [(re.sub("[\n\r]", " ", text), labels) for text, labels in rows]
    path = tmp_path / "file"
    data = WRITERS[format](pandas.DataFrame(rows, columns=["text", "labels"]))
    if isinstance(data, str):
        data = data.encode()
    settings = PrepareSource(format=format, missing=[])
    path.write_bytes(data)
    ours = [(instance.text, instance.labels) for instance in read_file(settings, path, Counter())]
    theirs = [(clean_plainly(text), clean_labels_plainly(labels)) for text, labels in rows]
    assert ours == theirs
    path.write_bytes(mutate_bytes(data, mutations))
    with contextlib.suppress(InputError):
        list(read_file(settings, path, Counter()))


def test_lines_end_at_line_feeds_only(tmp_path) -> None:
    (tmp_path / "file").write_bytes("\ufeffone\r\ntwo\u2028\x0b\x0c\x85\rthree\n\nlast".encode())
    expected = [(1, "one"), (2, "two\u2028\x0b\x0c\x85\rthree"), (3, ""), (4, "last")]
    assert list(read_lines(tmp_path / "file")) == expected


def save_array(path, matrix) -> None:
    """Save a dense matrix as npy or npz, as the name of the file says."""
    save = np.save if path.suffix == ".npy" else np.savez
    save(path, matrix.toarray())


def save_by(layout):
    """Make a function that saves a sparse matrix in a layout."""
    return lambda path, matrix: scipy.sparse.save_npz(path, matrix.asformat(layout))


SAVING_FUNCTIONS = {
    "dense.npy": save_array,
    "dense.npz": save_array,
    "csr.npz": save_by("csr"),
    "csc.npz": save_by("csc"),
    "coo.npz": save_by("coo"),
    "bsr.npz": save_by("bsr"),
    "dia.npz": save_by("dia"),
}


@pytest.mark.parametrize("kind", SAVING_FUNCTIONS)
def test_arrays_and_matrices(tmp_path, kind, monkeypatch) -> None:
    monkeypatch.setattr(npz, "_BLOCK_ENTRIES", 50)
    random = np.random.default_rng(0)
    ending = kind.rpartition(".")[2]
    path = tmp_path / f"X.trn.{ending}"
    X = scipy.sparse.random_array((30, 12), density=0.2, rng=random)
    Y = scipy.sparse.random_array((30, 5), density=0.2, rng=random)
    Y.data[:] = 1
    SAVING_FUNCTIONS[kind](path, X)
    save_array(tmp_path / f"Y.trn.{ending}", Y)
    for ours, theirs in zip(npz.read_pair(path), (X, Y), strict=True):
        assert [array.dtype for array in ours.arrays] == [np.float32, np.int32, np.int64]
        assert len(ours.data) == theirs.nnz
        expected = theirs.toarray().astype(np.float32)
        np.testing.assert_array_equal(ours.to_scipy().toarray(), expected)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("XML-X.npy", r"XML-Y.npy: cannot be read \(No such file"),
        ("features.npy", "name the two files X.npz and Y.npz"),
    ],
)
def test_files_of_labels_are_found(tmp_path, name, said) -> None:
    np.save(tmp_path / name, np.eye(2))
    with pytest.raises(InputError, match=said):
        npz.read_pair(tmp_path / name)
