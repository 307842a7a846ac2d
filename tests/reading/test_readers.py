"""Readers against plain parsers of other packages: scikit-learn's svmlight, csv, json, pyarrow,
SciPy and NumPy.
"""

import contextlib
import os
import re
import subprocess
import sys
import unicodedata

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


@st.composite
def bodies(draw):
    """Lines of labels and features."""
    lines = []
    for _ in range(draw(st.integers(0, 9))):
        row = draw(st.lists(st.tuples(st.integers(0, 6), VALUES), max_size=6))
        labels = ",".join(map(str, draw(st.lists(st.integers(0, 4), max_size=6))))
        tokens = [labels or draw(BLANKS), *(f"{feature}:{value}" for feature, value in row)]
        lines.append(draw(BLANKS).join(tokens) + draw(st.sampled_from(["", " ", "\r", "\t "])))
    return "\n".join(lines).encode()


def mutate_bytes(data, mutations):
    """Bytes flipped, put in, taken out or doubled at some places."""
    for kind, place, piece in mutations:
        k = int(place * len(data))
        n = len(piece)
        rest = data[k:]
        flipped = bytes(a ^ b for a, b in zip(rest, piece, strict=False))
        data = data[:k] + (flipped + rest[n:], piece + rest, rest[n:], rest[:9] + rest)[kind]
    return data


def parse_or_find_line(read):
    """Return features and labels of a reader, or the number of the wrong line."""
    try:
        X, Y = read()
    except InputError as error:
        line = re.search(r", line (\d+):", str(error))
        return line and int(line[1])
    assert [array.dtype for array in (*X.arrays, *Y.arrays)] == [np.float32, np.int32, np.int64] * 2
    return X.to_scipy(), Y.to_scipy()


def assert_equal(ours, instances, first) -> None:
    """Instances of the plain parser as the readers give them: sorted, summed, without zeros."""
    features = [
        [(feature - first, value) for feature, value in row if value != 0] for row, _ in instances
    ]
    labels = [[(label, 1) for label in {*row}] for _, row in instances]
    for matrix, rows in zip(ours, (features, labels), strict=True):
        theirs = summed(rows, matrix.shape[1])
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(matrix, name), getattr(theirs, name))


@given(st.one_of(bodies(), st.binary(max_size=60)), MUTATIONS, st.integers(1, 99), st.booleans())
@settings(ALIKE, max_examples=300)
@example(b"\n\n\n", [], 1, False)
@example(b"\n \n\n \n\n", [], 3, False)
@example(b"0001,4 0:1 \r\n1 1:16777217.00000000000000000001\n\n", [], 3, False)
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
        assert_equal(ours, instances, int(comments))
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
    _, splits = read_svmlight(
        paths, first=None if zero_based == "auto" else int(not zero_based), block=16
    )
    ours = [each.to_scipy() for split in splits for each in split]
    theirs = load_svmlight_files(paths, multilabel=True, zero_based=zero_based, dtype=np.float32)
    for k in (0, 2):
        np.testing.assert_array_equal(ours[k].toarray(), theirs[k].toarray())
        assert ours[k + 1].tolil().rows.tolist() == [
            sorted(map(int, each)) for each in theirs[k + 1]
        ]


def join_frame_labels(frame):
    return frame.assign(labels=frame["labels"].map(",".join))


FORMATS = {
    "text-tsv": lambda frame: "".join(
        f"{labels}\t{text}\n" for text, labels in join_frame_labels(frame).values
    ),
    "csv": lambda frame: join_frame_labels(frame).to_csv(index=False, lineterminator="\r\n"),
    "jsonl": lambda frame: frame.to_json(orient="records", lines=True),
    "parquet": pandas.DataFrame.to_parquet,
}


@pytest.mark.parametrize("format", FORMATS)
@given(rows=st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=4), mutations=MUTATIONS)
@ALIKE
def test_texts(tmp_path, format, rows, mutations) -> None:
    if format == "text-tsv":
        rows = [(re.sub("[\n\r]", " ", text), labels) for text, labels in rows]
    path = tmp_path / "file"
    data = FORMATS[format](pandas.DataFrame(rows, columns=["text", "labels"]))
    data = data.encode() if isinstance(data, str) else data
    settings = PrepareSource(format=format, missing=[])
    path.write_bytes(data)
    assert [instance[:2] for instance in read_file(settings, path)] == [
        make_instance(*row) for row in rows
    ]
    path.write_bytes(mutate_bytes(data, mutations))
    with contextlib.suppress(InputError):
        list(read_file(settings, path))


def make_instance(text, labels):
    names = (" ".join(unicodedata.normalize("NFC", cleaned(label)).split()) for label in labels)
    return cleaned(text), tuple(dict.fromkeys(filter(None, names)))


def cleaned(text):
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def test_lines_end_at_line_feeds_only(tmp_path) -> None:
    (tmp_path / "file").write_bytes("\ufeffone\r\ntwo\u2028\x0b\x0c\x85\rthree\n\nlast".encode())
    expected = [(1, "one"), (2, "two\u2028\x0b\x0c\x85\rthree"), (3, ""), (4, "last")]
    assert list(read_lines(tmp_path / "file")) == expected


SAVED = {
    "dense.npy": lambda path, matrix: np.save(path, matrix.toarray()),
    "dense.npz": lambda path, matrix: np.savez(path, matrix.toarray()),
}
for layout in ("csr", "csc", "coo", "bsr", "dia"):
    SAVED[f"{layout}.npz"] = lambda path, matrix, layout=layout: scipy.sparse.save_npz(
        path, matrix.asformat(layout)
    )


@pytest.mark.parametrize("kind", SAVED)
def test_arrays_and_matrices(tmp_path, kind, monkeypatch) -> None:
    monkeypatch.setattr(npz, "_BLOCK_ENTRIES", 50)
    random = np.random.default_rng(0)
    ending = kind[-3:]
    X = scipy.sparse.random_array((30, 12), density=0.2, rng=random)
    Y = scipy.sparse.random_array(
        (30, 5), density=0.2, rng=random, data_sampler=lambda size: np.ones(size)
    )
    SAVED[kind](tmp_path / f"X.trn.{ending}", X)
    SAVED[f"dense.{ending}"](tmp_path / f"Y.trn.{ending}", Y)
    for ours, theirs in zip(npz.read_pair(tmp_path / f"X.trn.{ending}"), (X, Y), strict=True):
        assert [array.dtype for array in ours.arrays] == [np.float32, np.int32, np.int64]
        assert len(ours.data) == theirs.nnz
        np.testing.assert_array_equal(
            ours.to_scipy().toarray(), theirs.toarray().astype(np.float32)
        )


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


def summed(rows, n_columns):
    """Rows of (column, value), sorted and summed by SciPy."""
    columns, values = np.array([pair for row in rows for pair in row], float).reshape(-1, 2).T
    arrays = values.astype(np.float32), columns.astype(int), np.cumsum([0, *map(len, rows)])
    matrix = scipy.sparse.csr_array(arrays, (len(rows), n_columns))
    matrix.sum_duplicates()
    return matrix
