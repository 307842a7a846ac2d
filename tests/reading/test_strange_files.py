"""Files as people write them, through ``ovaflow prepare``: prepared as stated, or refused in one
line.
"""

import bz2
import gzip
import io
import lzma
import os
import re
from collections.abc import Callable

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse

from ovaflow.settings.source import holds_texts

PLAIN_FEATURES = ["--no-normalize", "--bias=0"]
ALL_TOKENS = ["--min-df=1", "--max-df=1.0", "--tfidf=false", "--no-sublinear"]


def compress_by_zstd(content) -> bytes:
    return pyarrow.compress(content, codec="zstd", asbytes=True)


COMPRESSIONS = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": compress_by_zstd,
}


def make_parquet(**columns) -> bytes:
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def make_npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def make_npz(**changes) -> bytes:
    """Make the arrays of scipy.sparse.save_npz, some of them replaced."""
    arrays = {
        "format": "csr",
        "shape": [2, 3],
        "data": np.ones(2),
        "indices": [0, 2],
        "indptr": [0, 1, 2],
    }
    buffer = io.BytesIO()
    np.savez(buffer, **{name: np.asarray(array) for name, array in (arrays | changes).items()})
    return buffer.getvalue()


def make_scipy_npz(matrix) -> bytes:
    buffer = io.BytesIO()
    scipy.sparse.save_npz(buffer, matrix)
    return buffer.getvalue()


def make_square_npy(shape) -> bytes:
    """Make a matrix of two rows whose header says another shape."""
    return make_npy(np.eye(2)).replace(b"(2, 2)", shape)


def make_encrypted_npz() -> bytes:
    """Make arrays whose archive says that one is encrypted."""
    directory_entry = b"(PK\x01\x02.{4})\x00"
    return re.sub(directory_entry, b"\\g<1>\x01", make_npz(), flags=re.DOTALL)


NOT_A_NUMBER = "has no finite number after the colon"
TOO_LARGE = "too large for 32 bits"
NOT_A_MATRIX = "not a matrix of scipy.sparse.save_npz or numpy.save"

REFUSED = {
    "xmc-text": [
        (b"", 1, "expected a header"),
        (b"0 1:1\n", 1, "expected a header 'instances features labels'"),
        (b"1 7 2147483648\n0 1:1\n", 1, "promises too many labels (at most 10,000,000)"),
        (
            b"3 7 5\n0 1:1\n0 1:1\n",
            3,
            "promises 3 instances, the file has 2; the file is cut off or its header is",
        ),
        (b"1 7 5\n0 1:1\n\n\n0 1:1\n", 5, "more instances than the 1 promised"),
        (b"2 7 5\n0 1:1\n0 2:", 3, "'2:' has no finite number after the colon"),
        (b"2 7 5\n0 1:1\n5 1:1\n", 3, "label id out of range in '5', ids run from 0 to 4"),
        (b"1 7 5\nsport 1:1\n", 2, "expected label ids separated by commas, found 'sport'"),
        (b"1 7 5\n1 2 1:1\n", 2, "expected feature:value, found '2'"),
        (b"1 7 5\n1 7:1\n", 2, "feature id out of range in '7:1', ids run from 0 to 6"),
        (b"1 7 5\n1 1:\n", 2, NOT_A_NUMBER),
        (b"1 7 5\n1 1: 1\n", 2, NOT_A_NUMBER),
        (b"1 7 5\n1 1:nan\n", 2, NOT_A_NUMBER),
        (b"1 7 5\n1 1:1e\n", 2, NOT_A_NUMBER),
        (b"1 7 5\n1 1:1,5\n", 2, NOT_A_NUMBER),
        (b"1 7 5\n1 1:1\0\n", 2, NOT_A_NUMBER),
        (b"1 7 5\n1 1:3.5e38\n", 2, TOO_LARGE),
        (b"1 7 5\n1 1:-1e99999999\n", 2, TOO_LARGE),
        (b"4 7 5\n\n1 1:1\n1 2:3e38 1:3e38 1:3e38\n1 1:1\n", None, "twice sum to infinity"),
        (b"1 7 5\n\x1b[2J\x07 1:1\n", 2, r"found '\x1b[2J\x07'"),
        (b"2 7 5\n 1:1\n 2:1\n", None, "none of the 2 training instances has a label"),
    ],
    "svmlight": [
        (b"", None, "has no instances"),
        (b"0 1:1\n0 qid:1 1:1\n", 2, "expected feature:value, found 'qid:1'"),
        (
            b"2147483646 1:1\n",
            1,
            "label id out of range in '2147483646', ids run from 0 to 9999999",
        ),
        (b"0 1:1\r1 1:1\r", 1, "expected feature:value, found '1'"),
        (b"0 1:0.5\n", None, "not a count", "--tfidf=true"),
    ],
    "text-tsv": [
        (b" \n\r\n", None, "no training texts"),
        (b"a\tword\nno tab\n", 2, "found no tab in 'no tab'"),
        (
            b"a\tword\na\tB\xe4r\n",
            2,
            "byte 4 of the line (0xe4) is not valid UTF-8; set encoding: windows-1252, if",
        ),
        (
            b"a\tword\rb\tother\r",
            1,
            "lines end with carriage returns alone; convert them to line feeds: tr",
        ),
        (b"a\t1 2 3\nb\t? !\n", None, "no token occurs in at least 1 and at most 2 of the 2"),
        (b'a\tb\n["a\tword\n', 2, "labels begin like a list, but are not one"),
    ],
    "jsonl": [
        (b"\n \t\n", None, "no training texts"),
        (b'{"text": "a", "labels": []}\n\n{"text": "a', 3, "not valid JSON (Unterminated string"),
        (b'[{"text": "one", "labels": "a"}]', 1, "expected a JSON object"),
        (
            b'{"text": "one", "labels": [1.5]}',
            1,
            "a label is 1.5, neither a name nor a whole number",
        ),
        (
            b'{"text": "one"}\n{"note": 1}',
            None,
            "no column 'labels', there are 'text', 'note'; set text_column and",
        ),
        (
            b'{"text": %s, "labels": []}' % (b"[" * 600 + b"]" * 600),
            1,
            "a cell has too many lists inside one another; correct or delete the line",
        ),
        (
            b'{"text": "one", "labels": [], "day": "9999-12-31T23:59:59-05:00"}',
            1,
            "is neither a number nor an ISO date",
            "--split=last",
            "--split-column=day",
        ),
    ],
    "csv": [
        (b"", None, "is empty; export it again"),
        (
            "text,labels\none,a\n".encode("utf-16-le"),
            None,
            "without its mark; set encoding: utf-16-le",
        ),
        (
            "\ufefftext;labels\none;a\n\ufefftext;labels\n".encode(),
            3,
            "the header occurs a second time; if files were",
        ),
        (b"text,labels\n", None, "no training texts"),
        (
            b"a|b\n1|2\n",
            1,
            "no column 'text', 'labels', there are 'a', 'b'; set text_column and labels_column",
        ),
        (
            b"text,labels,text\none,a,two\n",
            1,
            "there are several columns 'text'; rename all but one",
        ),
        (
            b"text,labels\none,a\none,a,b\n",
            3,
            "3 fields, the header has 2; put quotes around fields that contain ','",
        ),
        (b'text,labels\n"a\nb",x\na\n', 4, "1 fields, the header has 2"),
        (
            b"text,labels,id\none,a,1\n",
            1,
            "no column 'nr', there are 'text', 'labels', 'id'; set",
            "--id-column=nr",
        ),
        (
            b'text,labels\none,a\n"two,b\nthree,c\n',
            3,
            "malformed record (unexpected end of data); check the quotes",
        ),
        (b"text,labels\rone,a\r", 1, "; convert them to line feeds: tr"),
        (b"text,labels\none,a\rtwo,b\n", 2, "malformed record"),
        (b"text,labels\none,\"['a'\"\n", 2, "labels begin like a list, but are not one"),
    ],
    "parquet": [
        (make_parquet(text=["one"], labels=["a"])[:-20], None, "not a readable Parquet file"),
        (
            make_parquet(text=["one"], tags=["a"]),
            None,
            "no column 'labels', there are 'text', 'tags'",
        ),
        (make_parquet(text=[1.0, np.inf], labels=["a", "b"]), None, "row 2: a text is inf"),
        (make_parquet(text=["one"], labels=[1.5]), None, "row 1: a label is 1.5"),
        (
            make_parquet(text=pyarrow.array([1 << 61], pyarrow.timestamp("us")), labels=["a"]),
            None,
            "date value out",
        ),
    ],
    "npz": [
        (b"0 1:1\n", None, NOT_A_MATRIX),
        (make_npy(np.array([[{}]])), None, NOT_A_MATRIX),
        (make_npy(np.eye(2) * 1j), None, "type complex128"),
        (make_square_npy(b"(((((("), None, NOT_A_MATRIX),
        (make_square_npy(b"(2, 2))"), None, NOT_A_MATRIX),
        (make_square_npy(b"(2,\n  2) ,\n 1"), None, NOT_A_MATRIX),
        (make_encrypted_npz(), None, "is encrypted"),
        (make_npz()[:26] + b"\xe8\3" + make_npz()[28:], None, "File name in directory"),
        (make_npy(np.ones((2, 2, 2))), None, "shape (2, 2, 2)"),
        (make_npy(np.array([[1e300, 1], [1, 1]])), None, "not finite in 32 bits"),
        (make_npy(np.eye(3)), None, "2 rows of labels for 3 rows of features"),
        (make_npz(indices=[0, 3]), None, NOT_A_MATRIX),
        (make_npz(indptr=[0, 2]), None, NOT_A_MATRIX),
        (make_npz(shape=[2, 1 << 40]), None, NOT_A_MATRIX),
        (make_npz(data=[1.0, np.nan]), None, NOT_A_MATRIX),
        (make_npz(format="bsr", data=np.ones((2, 1, 1)), indices=[0, 7]), None, NOT_A_MATRIX),
        (make_npz(format="coo", row=[0, 7], col=[0, 1]), None, NOT_A_MATRIX),
    ],
}
"""By format: content, line of the error or None, a part of the message, and options."""

ONE = "1:1.0 = 0"
WORDS = "word = a\nother = b"
TWO_ROWS = "0:1.0 = 0\n2:1.0 = 1"

LEGAL = {
    "xmc-text": [
        (b"\xef\xbb\xbf1 7 5\n0 1:1\n", ONE),
        (b"2 7 5\r\n0 1:1\r\n0 1:1", f"{ONE}\n{ONE}"),
        (b"1 7 5\n0 1:1\n\n \r\n", ONE),
        (b"1 20000000 5\n0 19999999:1\n", "19999999:1.0 = 0"),
        (b"1 7 5\n3,1 6:2 1:1\n", "1:1.0 6:2.0 = 1;3"),
        (b"1 7 5\n2,0,2 1:1 1:2.5\n", "1:3.5 = 0;2"),
        (b"1 7 5\n000 0001:1 2:0 3:-0e9 4:1e-400\n", ONE),
        (b"1 7 5\n0 1:1e-45\n", "1:1e-45 = 0"),
        (b"1 7 5\n0 1:1." + b"0" * 300 + b"\n", ONE),
    ],
    "svmlight": [
        (b"\xef\xbb\xbf0 1:1", "0:1.0 = 0"),
        (b"0 1:1 #" + b":," * 9 + b"\n\n", "0:1.0 = 0"),
    ],
    "text-tsv": [
        ("\ufeffa\tword\r\nb\tother\n".encode(), WORDS),
        (b"a\0b\tone\0two\n", "one two = a b"),
        (b"a, b,a,,\tword\n", "word = a;b"),
        ("a\tone\u2028two\x85\n".encode(), "one two = a"),
        (b"[Festschrift],Wien\tword\n[]\tother", "word = Wien;[Festschrift]\nother = "),
        (b"a, b || c||\tword\tother\n", "other word = a, b;c", "--label-separator=||"),
    ],
    "jsonl": [
        (rb'{"text": "one \ud800two", "labels": "a\udc00"}', "one two = a?"),
        (rb'{"text": "one\u0000two", "labels": ["a"]}', "one two = a"),
        (b'{"text": ["one", null, 2], "labels": [7, "7", 8]}', "one = 7;8"),
        (
            b'{"text": "one", "labels": null}\n\n{"text": "2020-01-01 two", "labels":'
            b' ["2020-01-01"]}',
            "one = \ntwo = 2020-01-01",
        ),
        (
            b'{"text": "one", "tags": ["a", "b"], "kind": "b;c"}',
            "one = a;b;c",
            "--labels-column=tags",
            "--labels-column=kind",
            "--label-separator=;",
        ),
    ],
    "csv": [
        ("\ufefftext;labels\r\nword;a\nother;b\r\n\r\n".encode(), WORDS),
        (b'text\tlabels\none "two"\t["x, y", 3]\n', "one two = 3;x, y"),
        (b"text,labels\none\0two,a\0b\n", "one two = a b"),
        (b'labels,text\n\n"a","one\n""two"""\n', "one two = a"),
        (b"text,b,labels\none,two,a\n", "one two = a", "--text-column= text, b"),
        (b"text,b,labels\none,two,a\n", "one two = a", "--text-column=text", "--text-column=b"),
        (b'text,labels\n"%s",a\n' % (b"word " * 200_000), "word = a"),
    ],
    "parquet": [
        (
            make_parquet(text=[None, "one"], note=[np.nan, 2.0], labels=[["a"], None]),
            " = a\none = ",
            "--text-column=text,note",
        ),
        (
            make_parquet(
                text=pyarrow.array(["word", "other"]).dictionary_encode(), labels=["a", '["b"]']
            ),
            WORDS,
        ),
        (make_parquet(text=["one", "two"], labels=[3.0, np.nan]), "one = 3\ntwo = "),
        (make_parquet(labels=[[1, 2], []], text=["one", "two"]), "one = 1;2\ntwo = "),
    ],
    "npz": [
        (
            make_npz(data=[1.0, 2.0, 1.0], indices=[0, 0, 2], indptr=[0, 2, 3]),
            "0:3.0 = 0\n2:1.0 = 1",
        ),
        (make_npz(data=np.ones(2, np.int8)), TWO_ROWS),
        (make_scipy_npz(scipy.sparse.csc_array(np.array([[1.0, 0, 0], [0, 0, 1]]))), TWO_ROWS),
        (make_npy(np.asfortranarray([[1.0, 0, 0], [0, 0, 1]])), TWO_ROWS),
    ],
}
"""By format: content, features (values by id, or tokens) and labels of each instance, and options.
"""


@pytest.fixture
def read(tmp_path, prepare) -> Callable:
    """Prepare a file of some format, which is tested on, too."""

    def read_content(format, content, options=(), label_names=None):
        files = {"test": content}
        if label_names is not None:
            files["labels"] = label_names
        if format == "npz":
            files["train-labels"] = make_npy(np.eye(2))
            files["test-labels"] = make_npy(np.eye(2))
        words = [f"--format={format}", *PLAIN_FEATURES, *options]
        if holds_texts(format):
            words += ALL_TOKENS
        for role, file_content in files.items():
            path = tmp_path / role
            path.write_bytes(file_content)
            words.append(f"--{role}={path}")
        return prepare(content, words, name="train")

    return read_content


def assert_refused(read, message, line=None, file="train") -> None:
    """Check the one line of an error, below what was said of the files read before."""
    *_, said = read.said.splitlines()
    assert read.dataset is None
    assert said.startswith("ovaflow: error: ")
    assert len(said) < 1100
    assert message in said
    assert line is None or f"/{file}, line {line}: " in said


def list_cases(cases_by_format) -> list:
    """List formats with their cases, numbered for the names of tests."""
    listed = []
    for format, cases in cases_by_format.items():
        for number, case in enumerate(cases):
            listed.append(pytest.param(format, case, id=f"{format} {number}"))
    return listed


@pytest.mark.parametrize(("format", "case"), list_cases(REFUSED))
def test_refused(read, format, case) -> None:
    content, line, message, *options = case
    assert_refused(read(format, content, options), message, line)


@pytest.mark.parametrize(("format", "case"), list_cases(LEGAL))
def test_legal(read, format, case) -> None:
    content, instances, *options = case
    assert describe_instances(read(format, content, options).dataset) == instances


def describe_instances(dataset) -> str:
    """Describe tokens, or values by id, and names of labels of each training instance."""
    X = dataset.train.X.to_scipy()
    Y = dataset.train.Y.to_scipy()
    X.eliminate_zeros()
    names = dataset.feature_names
    lines = []
    for i in range(X.shape[0]):
        x = X[[i]]
        if names:
            features = [names[feature] for feature in x.indices]
        else:
            pairs = zip(x.indices, x.data, strict=True)
            features = [f"{feature}:{value!s}" for feature, value in pairs]
        labels = [dataset.label_names[label] for label in Y[[i]].indices]
        lines.append(f"{' '.join(sorted(features))} = {';'.join(sorted(labels))}")
    return "\n".join(lines)


THREE_LABELS = b"2 3 3\n0,2 1:1\n1 2:1\n"


@pytest.mark.parametrize(
    ("names", "line", "message"),
    [
        (b"zero\none\n", None, "2 names for 3 labels; give one line per label"),
        (b"0\n1\n2\n3\n", None, "4 names for 3 labels"),
        (b"zero\n\xe4\ntwo\n", 2, "is not valid UTF-8"),
    ],
)
def test_names_that_do_not_fit(read, names, line, message) -> None:
    refused = read("xmc-text", THREE_LABELS, label_names=names)
    assert_refused(refused, message, line, file="labels")


@pytest.mark.parametrize("label", ["-1", "4", "1.5", "a", "\u0661", "9" * 5000])
def test_labels_that_are_no_ids_of_the_names(read, label) -> None:
    content = f"0\tword\n{label}\tother\n".encode()
    refused = read("text-tsv", content, label_names=b"a\nb\nc\n")
    assert_refused(refused, "is not an id from 0 to 2; leave out", line=2)


def make_many_rows() -> bytes:
    rows = b""
    for i in range(30_000):
        rows += b"%d %d:1\n" % (i % 5, i % 7)
    return b"30000 7 5\n" + rows


MANY_ROWS = make_many_rows()


def cut_off(compress) -> bytes:
    packed = compress(MANY_ROWS)
    return packed[: len(packed) // 2]


def cut_last_bytes(compress) -> bytes:
    return compress(MANY_ROWS)[:-3]


def change_a_byte(compress) -> bytes:
    changed = bytearray(compress(MANY_ROWS))
    changed[len(changed) // 2] ^= 255
    return bytes(changed)


def cut_the_second_stream(compress) -> bytes:
    return compress(MANY_ROWS[:99]) + compress(MANY_ROWS[99:])[:-30]


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("damage", [cut_off, cut_last_bytes, change_a_byte, cut_the_second_stream])
def test_damaged_compressed_files(read, kind, damage) -> None:
    said = f"truncated or damaged {kind} file"
    if damage is change_a_byte:
        # zstd has no checksum here: the content is wrong
        said = "train"
    assert_refused(read("xmc-text", damage(COMPRESSIONS[kind])), said)


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize(
    ("format", "parts", "instances"),
    [
        ("xmc-text", [b"1 7 5\n", b"0 1:1\n"], ONE),
        ("text-tsv", [b"a\tword\nb\tot", b"her\n"], WORDS),
        ("parquet", [make_parquet(text=["word", "other"], labels=["a", "b"])], WORDS),
        ("npz", [make_npz()], TWO_ROWS),
    ],
)
def test_compressed_files(read, kind, format, parts, instances) -> None:
    compress = COMPRESSIONS[kind]
    content = b"".join(compress(part) for part in parts)
    assert describe_instances(read(format, content).dataset) == instances


NO_FILES = {
    "pipe": "is not a regular file",
    "": "[Ii]s a directory",
    "loop": "Too many levels of symbolic links",
    "none": "No such file",
    "x" * 300: "File name too long",
}


@pytest.mark.parametrize("role", ["train", "labels", "label-map", "stop-words"])
@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_not_a_file(tmp_path, prepare, role, name) -> None:
    message = NO_FILES[name]
    if role == "train" and not name:
        # a folder is its files
        message = NO_FILES["loop"]
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    read = prepare("text,labels\none,0\n", [f"--{role}={tmp_path / name}"])
    assert re.search(f"{tmp_path / name}.*{message}", read.said)
