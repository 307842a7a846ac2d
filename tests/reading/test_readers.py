"""Readers against plain parsers of other packages: scikit-learn's svmlight, csv, json, pyarrow, SciPy and NumPy."""

import contextlib
import csv
import io
import itertools
import json
import unicodedata

import naive
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_files

from ovaflow.console.errors import InputError
from ovaflow.data.source import read_file
from ovaflow.reading import npz
from ovaflow.reading.instances import TextInstance
from ovaflow.reading.sparse_text import read_svmlight, read_xmc_text
from ovaflow.reading.streams import read_lines
from ovaflow.settings.prepare import PrepareSource

ALIKE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
LABELS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cf"], exclude_characters="\0,[({< \t\r\n"), min_size=1),
    max_size=3,
    unique=True,
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
VALUES = st.one_of(
    st.sampled_from(["1", "-1", "0", "0.5", "+2.5e-3", "1e-46", "16777217.00000000000000000001", ".5", "5."]),
    st.floats(-(2.0**100), 2.0**100, width=32).map(repr),
    st.floats(-1e30, 1e30).map(repr),
)
BLANKS = st.text(" \t\r", min_size=1, max_size=3)
MUTATIONS = st.lists(
    st.tuples(st.integers(0, 3), st.floats(0, 1), st.binary(min_size=1, max_size=3)), min_size=1, max_size=3
)


@st.composite
def xmc_files(draw):
    """A file's text, and what it holds: rows of labels, rows of (feature, text of the value)."""
    features = st.lists(st.tuples(st.integers(0, 6), VALUES), max_size=6, unique_by=lambda entry: entry[0])
    instances = draw(st.lists(st.tuples(st.lists(st.integers(0, 4), max_size=6), features), max_size=8))
    lines = [f"{len(instances)} 7 5\n"]
    for labels, row in instances:
        tokens = [",".join(map(str, labels)), *(f"{feature}:{value}" for feature, value in row)]
        line = draw(BLANKS) if not labels else draw(st.sampled_from(["", " "]))
        line += draw(BLANKS).join(filter(None, tokens)) + draw(st.sampled_from(["", " ", "\r", "\t "]))
        lines.append(line + "\n")
    text = "".join(lines)
    return text.removesuffix("\n") if draw(st.booleans()) and instances else text, instances


@given(xmc_files(), st.integers(1, 80))
@ALIKE
@example(("2 7 5\n\n\n", [([], []), ([], [])]), 1)
@example(("1 7 5\n\n\n \n\n", [([], [])]), 3)
@example(("1 7 5\r\n0001,4 0:1 \r\n", [([1, 4], [(0, "1")])]), 3)
@example(("\ufeff1 7 5\n1\n", [([1], [])]), 3)
def test_round_trip(tmp_path, file, block):
    text, instances = file
    (tmp_path / "file").write_bytes(text.encode())
    X, Y = read_xmc_text(tmp_path / "file", block)
    their_X, their_Y = np.zeros((len(instances), 7), np.float32), np.zeros((len(instances), 5), np.float32)
    for row, (labels, features) in enumerate(instances):
        their_Y[row, labels] = 1
        for feature, value in features:
            their_X[row, feature] = float(value)
    for matrix, theirs in ((X, their_X), (Y, their_Y)):
        assert [array.dtype for array in matrix.arrays] == [np.float32, np.int32, np.int64]
        ours = matrix.to_scipy()
        assert ours.has_canonical_format
        np.testing.assert_array_equal(ours.toarray(), theirs)


def mutated(data, mutations):
    """Bytes flipped, put in, taken out or doubled at some places."""
    for kind, place, piece in mutations:
        k = int(place * len(data))
        middle = (bytes(a ^ b for a, b in zip(data[k:], piece, strict=False)), piece, b"", data[k : k + 9] * 2)[kind]
        rest = data[k + (len(middle) if kind == 0 else 0 if kind == 1 else len(piece) if kind == 2 else 9) :]
        data = data[:k] + middle + rest
    return data


def parsed(read):
    """What a reader says: rows of features and labels, or the number of the wrong line."""
    try:
        X, Y = read()
    except InputError as error:
        words = str(error).split(", line ")
        return int(words[1].split(":")[0]) if len(words) > 1 else None
    X, Y = X.to_scipy(), Y.to_scipy()
    return [
        (dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)), Y.indices[c:d].tolist())
        for (a, b), (c, d) in zip(itertools.pairwise(X.indptr), itertools.pairwise(Y.indptr), strict=True)
    ]


def assert_equal(ours, instances, first):
    """Instances of the plain parser as the readers give them: sorted, summed, without zeros."""
    assert len(ours) == len(instances)
    for (row, labels), (features, their_labels) in zip(ours, instances, strict=True):
        assert labels == sorted(set(their_labels))
        theirs = {}
        for feature, value in features:
            if value != 0:
                theirs[feature - first] = theirs.get(feature - first, np.float32(0)) + value
        assert list(row) == sorted(theirs)
        # sums of more than two values may be rounded in another order
        np.testing.assert_allclose([row[j] for j in row], [theirs[j] for j in row], rtol=1e-5, atol=1e25)


@given(st.one_of(xmc_files().map(lambda file: file[0].partition("\n")[2].encode()), st.binary(max_size=60)),
       MUTATIONS, st.integers(1, 99), st.booleans())  # fmt: skip
@settings(ALIKE, max_examples=200)
def test_mutations_equal_the_plain_parser(tmp_path, body, mutations, block, comments):
    body = mutated(body, mutations).removeprefix(b"\xef\xbb\xbf")
    path = tmp_path / "file"
    if comments:
        path.write_bytes(body)
        instances, wrong = naive.parse_rows(body, -1, 1, 2**31 - 1, 10**7, True)
        ours = parsed(lambda: read_svmlight([path], False, block)[1][0])
    else:
        path.write_bytes(b"3 7 5\n" + body)
        instances, wrong = naive.parse_rows(body, 3, 0, 7, 5, False)
        wrong = None if wrong is None else wrong + 1
        ours = parsed(lambda: read_xmc_text(path, block))
    if wrong is not None:
        assert ours == wrong
    elif not isinstance(ours, list):
        # no instances, fewer than promised, or a sum beyond float32, whose line is not told
        assert len(instances) < 3 or ours is None
    else:
        assert_equal(ours, instances, int(comments))


LINES = st.one_of(
    st.sampled_from(["", "   ", "# only a comment", "  # so here"]),
    st.tuples(
        st.lists(st.integers(0, 9), max_size=4, unique=True).map(lambda labels: ",".join(map(str, labels))),
        st.dictionaries(st.integers(1, 12), st.sampled_from(["1", "0", "-2.5", "3e-4"]), max_size=5).map(
            lambda row: " ".join(f"{feature}:{value}" for feature, value in sorted(row.items()))
        ),
        st.sampled_from(["", " ", " # 3:4 5,6", "\r", "\t#"]),
    ).map(" ".join),
)


@given(
    st.lists(st.lists(LINES, max_size=9), min_size=1, max_size=3), st.sampled_from([True, False, "auto"]), st.booleans()
)
@ALIKE
def test_svmlight_equals_sklearn(tmp_path, files, zero_based, with_zero):
    paths = [tmp_path / str(k) for k in range(len(files))]
    for path, lines in zip(paths, files, strict=True):
        extra = "3 0:1 2:1" if with_zero and zero_based is not False else "3,1 2:1"
        path.write_text("\n".join([*lines, extra]))
    _, splits = read_svmlight(paths, zero_based, block=16)
    theirs = load_svmlight_files(paths, multilabel=True, zero_based=zero_based, dtype=np.float32)
    for (X, Y), their_X, their_labels in zip(splits, theirs[::2], theirs[1::2], strict=True):
        np.testing.assert_array_equal(X.to_scipy().toarray(), their_X.toarray())
        assert label_rows(Y) == [tuple(sorted(map(int, labels))) for labels in their_labels]


def label_rows(Y):
    return [tuple(Y.indices[a:b].tolist()) for a, b in itertools.pairwise(Y.indptr)]


def as_tsv(rows):
    return "".join(f"{','.join(labels)}\t{text}\n" for text, labels in rows).encode()


def as_csv(rows):
    buffer = io.StringIO()
    csv.writer(buffer).writerows([("text", "labels"), *((text, ",".join(labels)) for text, labels in rows)])
    return buffer.getvalue().encode()


def as_jsonl(rows):
    return "".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows).encode()


def as_parquet(rows):
    buffer = io.BytesIO()
    columns = {"text": [text for text, _ in rows], "labels": [labels for _, labels in rows]}
    kind = pyarrow.schema([("text", pyarrow.string()), ("labels", pyarrow.list_(pyarrow.string()))])
    pyarrow.parquet.write_table(pyarrow.table(columns, kind), buffer)
    return buffer.getvalue()


FORMATS = {"text-tsv": as_tsv, "csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}


@pytest.mark.parametrize("format", FORMATS)
@given(rows=st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=4), mutations=MUTATIONS)
@ALIKE
def test_texts(tmp_path, format, rows, mutations):
    if format == "text-tsv":
        rows = [(text.replace("\n", " ").replace("\r", " "), labels) for text, labels in rows]
    path, data = tmp_path / "file", FORMATS[format](rows)
    path.write_bytes(data)
    found = [(each.text, each.labels) for each in read_file(PrepareSource(format=format, missing=[]), path)]
    assert found == [instance_of(text, labels) for text, labels in rows]
    path.write_bytes(mutated(data, mutations))
    with contextlib.suppress(InputError):
        assert all(
            isinstance(instance, TextInstance) for instance in read_file(PrepareSource(format=format, missing=[]), path)
        )


def instance_of(text, labels):
    names = (" ".join(unicodedata.normalize("NFC", cleaned(str(label))).split()) for label in labels or ())
    return cleaned(str(text or "")), tuple(dict.fromkeys(filter(None, names)))


def cleaned(text):
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def test_lines_end_at_line_feeds_only(tmp_path):
    (tmp_path / "file").write_bytes("\ufeffone\r\ntwo\u2028\x0b\x0c\x85\rthree\n\nlast".encode())
    expected = [(1, "one"), (2, "two\u2028\x0b\x0c\x85\rthree"), (3, ""), (4, "last")]
    assert list(read_lines(tmp_path / "file")) == expected


SAVED = {
    **{
        layout: (lambda path, matrix, layout=layout: scipy.sparse.save_npz(path, matrix.asformat(layout)))
        for layout in ("csr", "csc", "coo", "bsr", "dia")
    },
    "npy": lambda path, matrix: np.save(path, matrix.toarray()),
    "savez": lambda path, matrix: np.savez(path, matrix.toarray()),
}


@pytest.mark.parametrize("kind", SAVED)
def test_arrays_and_matrices(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(npz, "_BLOCK", 50)
    random = np.random.default_rng(0)
    theirs = scipy.sparse.random_array((30, 12), density=0.2, rng=random)
    their_labels = scipy.sparse.random_array((30, 5), density=0.2, rng=random, data_sampler=lambda size: np.ones(size))
    suffix = ".npy" if kind == "npy" else ".npz"
    SAVED[kind](tmp_path / f"X.trn{suffix}", theirs)
    SAVED["npy" if kind == "npy" else "savez"](tmp_path / f"Y.trn{suffix}", their_labels)
    X, Y = npz.read_pair(tmp_path / f"X.trn{suffix}")
    np.testing.assert_array_equal(X.to_scipy().toarray(), theirs.toarray().astype(np.float32))
    np.testing.assert_array_equal(Y.to_scipy().toarray(), their_labels.toarray())
    assert (X.data != 0).all()
    assert [array.dtype for array in (*X.arrays, *Y.arrays)] == 2 * [np.float32, np.int32, np.int64]


def test_files_of_labels_are_found(tmp_path):
    np.save(tmp_path / "XML-X.npy", np.eye(2))
    with pytest.raises(InputError, match=r"XML-Y.npy: cannot be read \(No such file"):
        npz.read_pair(tmp_path / "XML-X.npy")
    np.save(tmp_path / "features.npy", np.eye(2))
    with pytest.raises(InputError, match=r"name the two files X.npz and Y.npz"):
        npz.read_pair(tmp_path / "features.npy")
