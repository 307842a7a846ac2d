"""Files as people write them, through ``ovaflow prepare``: prepared as stated, or refused in one
line.
"""

import bz2
import gzip
import io
import lzma
import os
import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse

from ovaflow.settings.source import holds_texts

PLAIN = ("--no-normalize", "--bias=0")
ALL_TOKENS = ("--min-df=1", "--max-df=1.0", "--tfidf=false", "--no-sublinear")
PACKED = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: pyarrow.compress(content, codec="zstd", asbytes=True),
}


def parquet(**columns):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def sparse(**changes):
    """scipy.sparse.save_npz's arrays, some of them replaced."""
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


def saved(matrix):
    buffer = io.BytesIO()
    scipy.sparse.save_npz(buffer, matrix)
    return buffer.getvalue()


# a line of the file, or None; a part of what is said
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
        *(
            (b"1 7 5\n1 1:%s\n" % value, 2, "no finite number")
            for value in (b"", b" 1", b"nan", b"1e", b"1,5", b"1\0")
        ),
        *(
            (b"1 7 5\n1 1:%s\n" % value, 2, "too large for 32 bits")
            for value in (b"3.5e38", b"-1e99999999")
        ),
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
            "lines end with carriage returns alone; they must end with a line feed",
        ),
        (b"a\t1 2 3\nb\t? !\n", None, "no token occurs in at least 1 and at most 2 of the 2"),
        (b'a\tb\n["a\tword\n', 2, "labels begin like a list, but are none"),
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
            "maximum recursion depth exceeded",
        ),
        (
            b'{"text": "one", "labels": [], "day": "9999-12-31T23:59:59-05:00"}',
            *(1, "is neither a number nor an ISO date", "--split=last", "--split-column=day"),
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
            "3 fields, the header has 2; quote fields that contain ','",
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
        (b"text,labels\rone,a\r", 1, "lines must end with a line feed"),
        (b"text,labels\none,a\rtwo,b\n", 2, "malformed record"),
        (b"text,labels\none,\"['a'\"\n", 2, "labels begin like a list, but are none"),
    ],
    "parquet": [
        (parquet(text=["one"], labels=["a"])[:-20], None, "not a readable Parquet file"),
        (parquet(text=["one"], tags=["a"]), None, "no column 'labels', there are 'text', 'tags'"),
        (parquet(text=[1.0, np.inf], labels=["a", "b"]), None, "row 2: a text is inf"),
        (parquet(text=["one"], labels=[1.5]), None, "row 1: a label is 1.5"),
        (
            parquet(text=pyarrow.array([1 << 61], pyarrow.timestamp("us")), labels=["a"]),
            None,
            "date value out",
        ),
    ],
    "npz": [
        (b"0 1:1\n", None, "not a matrix of scipy.sparse.save_npz or numpy.save"),
        (npy(np.array([[{}]])), None, "not a matrix"),
        (npy(np.eye(2) * 1j), None, "type complex128"),
        *(
            (npy(np.eye(2)).replace(b"(2, 2)", shape), None, "not a matrix")
            for shape in (b"((((((", b"(2, 2))", b"(2,\n  2) ,\n 1")
        ),
        (
            re.sub(b"(PK\x01\x02.{4})\x00", b"\\g<1>\x01", sparse(), flags=re.DOTALL),
            None,
            "is encrypted",
        ),
        (sparse()[:26] + b"\xe8\3" + sparse()[28:], None, "File name in directory"),
        (npy(np.ones((2, 2, 2))), None, "shape (2, 2, 2)"),
        (npy(np.array([[1e300, 1], [1, 1]])), None, "not finite in 32 bits"),
        (npy(np.eye(3)), None, "2 rows of labels for 3 rows of features"),
        *(
            (sparse(**changes), None, "not a matrix")
            for changes in (
                {"indices": [0, 3]},
                {"indptr": [0, 2]},
                {"shape": [2, 1 << 40]},
                {"data": [1.0, np.nan]},
                {"format": "bsr", "data": np.ones((2, 1, 1)), "indices": [0, 7]},
                {"format": "coo", "row": [0, 7], "col": [0, 1]},
            )
        ),
    ],
}

ONE = "1:1.0 = 0"
WORDS = "word = a\nother = b"
TWO_ROWS = "0:1.0 = 0\n2:1.0 = 1"

# features (values by id, or tokens) and labels of each instance
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
        (b"a\tword\nb\tother\n", WORDS, "--text-column=x,y", "--group-column=z"),
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
            *("one = a;b;c", "--labels-column=tags", "--labels-column=kind", "--label-separator=;"),
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
            parquet(text=[None, "one"], note=[np.nan, 2.0], labels=[["a"], None]),
            *(" = a\none = ", "--text-column=text,note"),
        ),
        (
            parquet(
                text=pyarrow.array(["word", "other"]).dictionary_encode(), labels=["a", '["b"]']
            ),
            WORDS,
        ),
        (parquet(text=["one", "two"], labels=[3.0, np.nan]), "one = 3\ntwo = "),
        (parquet(labels=[[1, 2], []], text=["one", "two"]), "one = 1;2\ntwo = "),
    ],
    "npz": [
        (sparse(data=[1.0, 2.0, 1.0], indices=[0, 0, 2], indptr=[0, 2, 3]), "0:3.0 = 0\n2:1.0 = 1"),
        (sparse(data=np.ones(2, np.int8)), TWO_ROWS),
        (saved(scipy.sparse.csc_array(np.array([[1.0, 0, 0], [0, 0, 1]]))), TWO_ROWS),
        (npy(np.asfortranarray([[1.0, 0, 0], [0, 0, 1]])), TWO_ROWS),
    ],
}


@pytest.fixture
def read(tmp_path, prepare):
    """Prepares a file, which is tested on, too."""

    def prepared(format, content, *options, **files):
        files = {"test": content} | files
        if format == "npz":
            files |= dict.fromkeys(("train-labels", "test-labels"), npy(np.eye(2)))
        for option, written in files.items():
            (tmp_path / option).write_bytes(written)
            options += (f"--{option}={tmp_path / option}",)
        tokens = ALL_TOKENS if holds_texts(format) else ()
        return prepare(content, f"--format={format}", *PLAIN, *tokens, *options, name="train")

    return prepared


def refused(read, message, line=None, file="train") -> None:
    """The one line of an error, below what was said of the files read before."""
    *_, said = read.said.splitlines()
    assert read.dataset is None
    assert said.startswith("ovaflow: error: ")
    assert len(said) < 1100
    assert message in said
    assert line is None or f"/{file}, line {line}: " in said


def named(table):
    return [
        pytest.param(kind, case, id=f"{kind} {k}")
        for kind, cases in table.items()
        for k, case in enumerate(cases)
    ]


@pytest.mark.parametrize(("format", "case"), named(REFUSED))
def test_refused(read, format, case) -> None:
    content, line, message, *options = case
    refused(read(format, content, *options), message, line)


@pytest.mark.parametrize(("format", "case"), named(LEGAL))
def test_legal(read, format, case) -> None:
    content, instances, *options = case
    assert describe_instances(read(format, content, *options).dataset) == instances


def describe_instances(dataset):
    """Return tokens, or values by id, and names of labels of each training instance."""
    X = dataset.train.X.to_scipy()
    Y = dataset.train.Y.to_scipy()
    X.eliminate_zeros()
    lines = []
    names = dataset.feature_names
    for i in range(X.shape[0]):
        x = X[[i]]
        y = Y[[i]]
        entries = [
            names[j] if names else f"{j}:{value!s}"
            for j, value in zip(x.indices, x.data, strict=True)
        ]
        lines.append(
            " ".join(sorted(entries))
            + " = "
            + ";".join(sorted(dataset.label_names[j] for j in y.indices))
        )
    return "\n".join(lines)


IDS = {"xmc-text": b"2 3 3\n0,2 1:1\n1 2:1\n", "text-tsv": b"0,2\tword\n1\tother\n"}
NOT_IDS = ["-1", "4", "1.5", "a", "\u0661", "9" * 5000]


@pytest.mark.parametrize(
    ("format", "content", "names", "line", "message"),
    [
        (
            "xmc-text",
            IDS["xmc-text"],
            b"zero\none\n",
            None,
            "2 names for 3 labels; give one line per label",
        ),
        ("xmc-text", IDS["xmc-text"], b"0\n1\n2\n3\n", None, "4 names for 3 labels"),
        ("xmc-text", IDS["xmc-text"], b"zero\n\xe4\ntwo\n", 2, "is not valid UTF-8"),
        *(
            (
                "text-tsv",
                f"0\tword\n{label}\tother\n".encode(),
                b"a\nb\nc\n",
                2,
                "is not an id from 0 to 2; leave out",
            )
            for label in NOT_IDS
        ),
    ],
)
def test_names_that_do_not_fit(read, format, content, names, line, message) -> None:
    refused(
        read(format, content, labels=names),
        message,
        line,
        "train" if content not in IDS.values() else "labels",
    )


MANY = b"30000 7 5\n" + b"".join(b"%d %d:1\n" % (i % 5, i % 7) for i in range(30_000))


def flipped(content):
    changed = bytearray(content)
    changed[len(changed) // 2] ^= 255
    return bytes(changed)


DAMAGES = {
    "cut": lambda pack: pack(MANY)[: len(pack(MANY)) // 2],
    "last bytes missing": lambda pack: pack(MANY)[:-3],
    "a byte changed": lambda pack: flipped(pack(MANY)),
    "second stream damaged": lambda pack: pack(MANY[:99]) + pack(MANY[99:])[:-30],
}


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_compressed_files(read, kind, damage) -> None:
    # zstd has no checksum here: the content is wrong
    said = f"truncated or damaged {kind} file" if damage != "a byte changed" else "train"
    refused(read("xmc-text", DAMAGES[damage](PACKED[kind])), said)


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize(
    ("format", "parts", "instances"),
    [
        ("xmc-text", [b"1 7 5\n", b"0 1:1\n"], ONE),
        ("text-tsv", [b"a\tword\nb\tot", b"her\n"], WORDS),
        ("parquet", [parquet(text=["word", "other"], labels=["a", "b"])], WORDS),
        ("npz", [sparse()], TWO_ROWS),
    ],
)
def test_compressed_files(read, kind, format, parts, instances) -> None:
    assert describe_instances(read(format, b"".join(map(PACKED[kind], parts))).dataset) == instances


@pytest.mark.parametrize("role", ["train", "labels", "label-map", "stop-words"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pipe", "is not a regular file"),
        ("", "[Ii]s a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("none", "No such file"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_is_not_a_file(tmp_path, prepare, role, name, message) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    read = prepare("text,labels\none,0\n", f"--{role}={tmp_path / name}")
    assert re.search(f"{tmp_path / name}.*{message}", read.said)
