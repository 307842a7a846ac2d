"""Legal files and mutations of their bytes: refused, or what the plain parsers of other packages find in them."""

import csv
import io
import itertools
import json
import random

import naive
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from ovaflow.console.errors import InputError
from ovaflow.data.readers import svmlight, xmc_text
from ovaflow.data.readers.formats import read_texts
from ovaflow.data.readers.instances import TextInstance

LABELS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\0,[ \t"), min_size=1), max_size=3, unique=True
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
ROWS = st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=4)
FEATURES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 4), max_size=3, unique=True),
        st.dictionaries(st.integers(1, 6), st.floats(-(2.0**100), 2.0**100, width=32), max_size=4),
    ),
    min_size=1,
    max_size=5,
)
MUTATIONS = st.lists(
    st.tuples(st.integers(0, 3), st.floats(0, 1), st.binary(min_size=1, max_size=3)), min_size=1, max_size=3
)
SLOW = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=60)


def mutated(data, mutations):
    """Bytes flipped, put in, taken out or doubled at some places."""
    for kind, place, piece in mutations:
        k = int(place * len(data))
        middle = (bytes(a ^ b for a, b in zip(data[k:], piece, strict=False)), piece, b"", data[k : k + 9] * 2)[kind]
        rest = data[k + (len(middle) if kind == 0 else 0 if kind == 1 else len(piece) if kind == 2 else 9) :]
        data = data[:k] + middle + rest
    return data


def lines_of(rows, first):
    pairs = [
        ",".join(map(str, labels))
        + "".join(f" {feature - 1 + first}:{value!r}" for feature, value in sorted(row.items()))
        for labels, row in rows
    ]
    return "\n".join([" " + pair if not pair[:1].isdigit() else pair for pair in pairs]).encode() + b"\n"


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


def summed(instances, first):
    """Instances of the plain parser as the readers give them: sorted, sums of float32, without zeros."""
    found = []
    for features, labels in instances:
        row = {}
        for feature, value in features:
            if value != 0:
                row[feature - first] = row.get(feature - first, np.float32(0)) + value
        found.append((dict(sorted((feature, float(value)) for feature, value in row.items())), sorted(set(labels))))
    return found


def equal(ours, theirs):
    """Sums of more than two values may be rounded in another order."""
    assert len(ours) == len(theirs)
    for (row, labels), (their_row, their_labels) in zip(ours, theirs, strict=True):
        assert labels == their_labels
        assert row.keys() == their_row.keys()
        np.testing.assert_allclose(list(row.values()), list(their_row.values()), rtol=1e-5, atol=1e25)


@given(rows=FEATURES, mutations=MUTATIONS, block=st.integers(1, 99))
@SLOW
def test_xmc_text(tmp_path, rows, mutations, block):
    body = lines_of(rows, 0)
    path = tmp_path / "file"
    path.write_bytes(b"%d 7 5\n" % len(rows) + body)
    # scikit-learn has no instances without labels and features
    if all(labels or row for labels, row in rows):
        theirs = load_svmlight_file(io.BytesIO(body), multilabel=True, zero_based=True, n_features=7)[0]
        np.testing.assert_array_equal(
            xmc_text.read(path, block)[0].to_scipy().toarray(), theirs.toarray().astype(np.float32)
        )
    body = mutated(body, mutations)
    path.write_bytes(b"%d 7 5\n" % len(rows) + body)
    instances, wrong = naive.parse_rows(body, len(rows), 0, 7, 5, False)
    ours = parsed(lambda: xmc_text.read(path, block))
    if wrong is not None:
        assert ours == wrong + 1
    elif len(instances) < len(rows):
        assert ours is None or isinstance(ours, int)
    else:
        equal(ours, summed(instances, 0))


@given(rows=FEATURES, mutations=MUTATIONS, block=st.integers(1, 99))
@SLOW
def test_svmlight(tmp_path, rows, mutations, block):
    body = lines_of(rows, 1)
    path = tmp_path / "file"
    path.write_bytes(body)
    if any(row for _, row in rows):
        theirs = load_svmlight_file(io.BytesIO(body), multilabel=True, zero_based=False)[0].astype(np.float32)
        np.testing.assert_array_equal(
            svmlight.read(path, False, block)[0].to_scipy().toarray()[:, : theirs.shape[1]], theirs.toarray()
        )
    body = mutated(body, mutations)
    path.write_bytes(body)
    text = body.removeprefix(b"\xef\xbb\xbf")
    instances, wrong = naive.parse_rows(text, -1, 1, 2**31 - 1, 10**7, True)
    ours = parsed(lambda: svmlight.read(path, False, block))
    if wrong is not None or not instances:
        assert ours == wrong
    else:
        equal(ours, summed(instances, 1))


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


def _plain(data):
    return data.decode().removeprefix("\ufeff").replace("\0", " ")


def from_csv(data):
    names, *records = [record for record in csv.reader(io.StringIO(_plain(data), newline=""), strict=True) if record]
    assert all(len(record) == len(names) for record in records)
    return [(record[names.index("text")], record[names.index("labels")].split(",")) for record in records]


def from_jsonl(data):
    entries = [json.loads(line) for line in data.decode().removeprefix("\ufeff").split("\n") if line.strip()]
    return [(entry["text"], entry["labels"]) for entry in entries]


def from_parquet(data):
    table = pyarrow.parquet.read_table(io.BytesIO(data)).to_pydict()
    return list(zip(table["text"], table["labels"], strict=True))


def from_tsv(data):
    lines = [line.removesuffix("\r") for line in _plain(data).split("\n")]
    return [
        (line.split("\t", 1)[1], line.split("\t", 1)[0].split(",")) for line in lines if line.strip() or "\t" in line
    ]


FORMATS = {
    "text-tsv": (as_tsv, from_tsv),
    "csv": (as_csv, from_csv),
    "jsonl": (as_jsonl, from_jsonl),
    "parquet": (as_parquet, from_parquet),
}


def cleaned(text):
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


@pytest.mark.parametrize("format", FORMATS)
@given(rows=ROWS, mutations=MUTATIONS)
@SLOW
def test_texts(tmp_path, format, rows, mutations):
    write, read = FORMATS[format]
    if format == "text-tsv":
        rows = [
            (
                text.replace("\n", " ").replace("\r", " "),
                [label.replace("\n", "").replace("\r", "") for label in labels],
            )
            for text, labels in rows
        ]
    if format == "csv":
        rows = [(text, [label.replace("\n", "").replace("\r", "") for label in labels]) for text, labels in rows]
    path = tmp_path / "file"
    for data in (write(rows), mutated(write(rows), mutations)):
        path.write_bytes(data)
        ours = found(format, path)
        if data == write(rows):
            assert ours is not None
        if ours is not None and is_plain(format, data):
            theirs = read(data)
            if all(isinstance(labels, list | None) for _, labels in theirs):
                assert ours == [instance_of(text, labels) for text, labels in theirs]


def found(format, path):
    try:
        return list(read_texts(format, path))
    except InputError:
        return None


def is_plain(format, data):
    """Whether the plain parser reads it likewise: no other delimiter, and no list of labels in a field."""
    return format in ("jsonl", "parquet") or (b"[" not in data and (format != "csv" or b"text,labels" in data[:15]))


def instance_of(text, labels):
    names = (cleaned(str(label)).strip() for label in labels or ())
    return TextInstance(cleaned(str(text or "")), tuple(dict.fromkeys(filter(None, names))))


@pytest.mark.parametrize("seed", range(4))
def test_parquet_mutated_a_thousand_times(tmp_path, seed):
    generator, path = random.Random(seed), tmp_path / "file"
    whole = as_parquet([(f"one text of {k}", ["a", f"b{k}"]) for k in range(50)])
    outcomes = {True: 0, False: 0}
    for _ in range(250):
        damaged = bytearray(whole)
        for _ in range(generator.choice((1, 1, 3))):
            damaged[generator.randrange(len(damaged))] ^= 1 << generator.randrange(8)
        path.write_bytes(damaged)
        try:
            outcomes[len(list(read_texts("parquet", path))) >= 0] += 1
        except InputError:
            outcomes[False] += 1
    assert outcomes[False] > 20
