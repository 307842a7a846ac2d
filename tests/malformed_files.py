"""Malformed and odd raw files: what each holds, and what preparing it says or makes."""

import bz2
import gzip
import io
import json
import lzma
import struct
import zipfile
from dataclasses import dataclass, field

import numpy as np
import pyarrow
import pyarrow.parquet
import scipy.sparse
import zstandard

PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.compress}


@dataclass(frozen=True)
class Case:
    """A file and what becomes of it.

    Attributes
    ----------
    format : str
    name : str
        What is odd about it.
    content : bytes
    line : int or None
        Line named in the refusal.
    refused : str or None
        Part of the refusal.
    legal : list or None
        Of each instance its features (values by id, or tokens) and its labels.
    suffix : str
    options : tuple of str
    files : dict
        Files beside it, by option.
    """

    format: str
    name: str
    content: bytes
    line: int | None = None
    refused: str | None = None
    legal: list | None = None
    suffix: str = ""
    options: tuple = ()
    files: dict = field(default_factory=dict)


def refused(format, name, content, line, message, **rest):
    return Case(format, name, content, line, message, **rest)


def legal(format, name, content, instances, **rest):
    return Case(format, name, content, legal=instances, **rest)


ONE = [({1: 1.0}, [0])]
HEADER = b"1 7 5\n"


def _xmc(name, row, message, line=2):
    return refused("xmc-text", name, HEADER + row, line, message)


XMC_TEXT = [
    refused("xmc-text", "empty", b"", 1, "expected a header"),
    refused("xmc-text", "white space only", b" \n\t\n \r\n", 1, "expected a header"),
    refused("xmc-text", "wrong header", b"instances features labels\n0 1:1\n", 1, "expected a header"),
    refused("xmc-text", "no header", b"0 1:1\n", 1, "expected a header"),
    refused("xmc-text", "header with a sign", b"-1 7 5\n0 1:1\n", 1, "expected a header"),
    refused("xmc-text", "header of 10^40", b"1 %d 5\n0 1:1\n" % 10**40, 1, "promises too many features"),
    refused("xmc-text", "header promises terabytes of rows", b"999999999999999 7 5\n0 1:1\n", 2, "the file has 1"),
    refused("xmc-text", "header promises 2^31 labels", b"1 7 2147483648\n0 1:1\n", 1, "promises too many labels"),
    refused("xmc-text", "more lines than promised", HEADER + b"0 1:1\n0 1:1\n", 3, "more instances than the 1"),
    refused(
        "xmc-text", "fewer lines than promised", b"3 7 5\n0 1:1\n0 1:1\n", 3, "promises 3 instances, the file has 2"
    ),
    refused("xmc-text", "cut in the middle of a line", b"2 7 5\n0 1:1\n0 2:", 3, "no finite number"),
    refused("xmc-text", "UTF-16", "1 7 5\n0 1:1\n".encode("utf-16"), 1, "expected a header"),
    legal("xmc-text", "byte order mark", b"\xef\xbb\xbf" + HEADER + b"0 1:1\n", ONE),
    legal("xmc-text", "carriage returns", b"2 7 5\r\n0 1:1\r\n0 1:1\n", ONE * 2),
    legal("xmc-text", "no line feed at the end", HEADER + b"0 1:1", ONE),
    legal("xmc-text", "blank lines behind the last", HEADER + b"0 1:1\n\n \r\n", ONE),
    legal(
        "xmc-text", "header promises 20 million features", b"1 20000000 5\n0 19999999:1\n", [({19_999_999: 1.0}, [0])]
    ),
    legal("xmc-text", "unsorted", HEADER + b"3,1 6:2 1:1\n", [({1: 1.0, 6: 2.0}, [1, 3])]),
    legal("xmc-text", "features that occur twice add up", HEADER + b"0 1:1 1:2.5\n", [({1: 3.5}, [0])]),
    legal("xmc-text", "labels that occur twice count once", HEADER + b"2,0,2 1:1\n", [({1: 1.0}, [0, 2])]),
    legal("xmc-text", "zeros are left out", HEADER + b"0 1:1 2:0 3:-0e9\n", ONE),
    legal("xmc-text", "denormal", HEADER + b"0 1:1e-45\n", [({1: 1e-45}, [0])]),
    legal("xmc-text", "vanishing", HEADER + b"0 1:1 2:1e-400\n", ONE),
    legal("xmc-text", "number of 300 digits", HEADER + b"0 1:1." + b"0" * 300 + b"\n", ONE),
    legal("xmc-text", "ids with zeros in front", HEADER + b"000 0001:1\n", ONE),
    _xmc("label out of range", b"5 1:1\n", "label id out of range in '5', ids run from 0 to 4"),
    _xmc("negative label", b"-1 1:1\n", "expected label ids"),
    _xmc("label of 2^63", b"9223372036854775808 1:1\n", "label id out of range"),
    _xmc("label of 10^40", b"%d 1:1\n" % 10**40, "label id out of range"),
    _xmc("fractional label", b"1.5 1:1\n", "expected label ids"),
    _xmc("feature out of range", b"0 7:1\n", "feature id out of range in '7:1', ids run from 0 to 6"),
    _xmc("negative feature", b"0 -3:1\n", "expected feature:value"),
    _xmc("feature of 2^31", b"0 2147483648:1\n", "feature id out of range"),
    _xmc("feature of 2^64 + 1", b"0 18446744073709551617:1\n", "feature id out of range"),
    _xmc("nan", b"0 1:nan\n", "no finite number"),
    _xmc("inf", b"0 1:-inf\n", "no finite number"),
    _xmc("1e400", b"0 1:1e400\n", "too large for 32 bits"),
    _xmc("3.5e38", b"0 1:3.5e38\n", "too large for 32 bits"),
    _xmc("exponent of 30 digits", b"0 1:1e" + b"9" * 30 + b"\n", "too large for 32 bits"),
    _xmc("sum beyond 32 bits", b"0 1:3e38 1:3e38\n", "sum to infinity"),
    _xmc("hexadecimal", b"0 1:0x1p3\n", "no finite number"),
    _xmc("decimal comma", b"0 1:1,5\n", "no finite number"),
    _xmc("underscore", b"0 1:1_0\n", "no finite number"),
    _xmc("NUL", b"0 1:1\0 2:1\n", "no finite number"),
    _xmc("Arabic digits", "0 1:\u0661\n".encode(), "no finite number"),
    _xmc("not UTF-8", b"0 \xff\xfe1:1\n", "expected feature:value"),
    _xmc("escape sequences", b"\x1b[2J\x1b]0;taken\x07 1:1\n", r"found '\x1b[2J\x1b]0;taken\x07'"),
    _xmc("garbage of one line", b"x" * 100_000 + b"\n", "expected label ids"),
    refused(
        "xmc-text", "no labels at all", b"2 7 5\n 1:1\n 2:1\n", None, "none of the 2 training instances has a label"
    ),
    refused("xmc-text", "no instances", b"0 7 5\n", None, "none of the 0 training instances has a label"),
]

SVMLIGHT = [
    refused("svmlight", "empty", b"", None, "has no instances"),
    refused("svmlight", "white space only", b" \n\t\r\n", None, "has no instances"),
    refused("svmlight", "comments only", b"# one\n # two", None, "has no instances"),
    legal("svmlight", "one line without an end", b"0 1:1", [({0: 1.0}, [0])]),
    legal("svmlight", "byte order mark", b"\xef\xbb\xbf0 1:1\n", [({0: 1.0}, [0])]),
    legal(
        "svmlight",
        "a feature 0 makes ids count from 0",
        b"0 0:1 2:1\n1 1:1\n",
        [({0: 1.0, 2: 1.0}, [0]), ({1: 1.0}, [1])],
    ),
    legal("svmlight", "comment of colons and commas", b"0 1:1 #" + b":," * 9 + b"\n", [({0: 1.0}, [0])]),
    refused("svmlight", "query id", b"0 1:1\n0 qid:1 1:1\n", 2, "expected feature:value, found 'qid:1'"),
    refused("svmlight", "regression target", b"0 1:1\n-0.5 1:1\n", 2, "expected label ids"),
    refused("svmlight", "labels +1 and -1", b"+1 1:1\n", 1, "expected label ids"),
    refused("svmlight", "label of 2^31", b"2147483648 1:1\n", 1, "label id out of range"),
    refused("svmlight", "label that asks for terabytes of names", b"2147483646 1:1\n", 1, "ids run from 0 to 9999999"),
    refused("svmlight", "feature of 2^31", b"0 1:1\n\n0 2147483648:1\n", 3, "feature id out of range"),
    refused("svmlight", "old Macintosh", b"0 1:1\r1 1:1\r", 1, "expected feature:value, found '1'"),
    refused("svmlight", "UTF-16", "0 1:1\n".encode("utf-16"), 1, "expected label ids"),
    refused("svmlight", "sum beyond 32 bits", b"#\n\n0 1:1\n #\n0 2:-3e38 1:1 2:-3e38\n", 5, "sum to infinity"),
    refused(
        "svmlight",
        "tf-idf of too many features",
        b"0 1:1 2147483646:1\n",
        None,
        "tf-idf counts at most 134,217,728",
        options=("--tfidf=true",),
    ),
    refused("svmlight", "tf-idf of what is no count", b"0 1:0.5\n", None, "not a count", options=("--tfidf=true",)),
]

TSV = [
    refused("text-tsv", "empty", b"", None, "no training texts"),
    refused("text-tsv", "white space only", b" \n\r\n", None, "no training texts"),
    refused("text-tsv", "no tab", b"a\tword\nno tab\n", 2, "found no tab in 'no tab'"),
    refused("text-tsv", "Latin-1", b"a\tword\na\tB\xe4r\n", 2, "byte 4 of the line (0xe4) is no UTF-8"),
    refused("text-tsv", "overlong NUL", b"a\two\xc0\x80rd\n", 1, "is no UTF-8"),
    refused("text-tsv", "surrogate in UTF-8", b"a\two\xed\xa0\x80rd\n", 1, "is no UTF-8"),
    refused("text-tsv", "cut in a character", "a\twordß".encode()[:-1], 1, "is no UTF-8"),
    refused("text-tsv", "UTF-16", "a\tword\n".encode("utf-16"), 1, "looks like UTF-16"),
    refused("text-tsv", "UTF-32", "a\tword\n".encode("utf-32"), 1, "looks like UTF-16"),
    refused("text-tsv", "old Macintosh", b"a\tword\rb\tother\r", 1, "lines end with carriage returns alone"),
    refused("text-tsv", "no tokens", b"a\t1 2 3\nb\t? !\n", None, "no token occurs"),
    refused("text-tsv", "no labels", b"\tword\n,,\tother\n", None, "has a label"),
    refused("text-tsv", "broken list of labels", b'["a\tword\n', 1, "are no JSON list"),
    legal("text-tsv", "byte order mark", "\ufeffa\tword\n".encode(), [({"word"}, {"a"})]),
    legal("text-tsv", "mixed line ends", b"a\tword\r\nb\tother\n", [({"word"}, {"a"}), ({"other"}, {"b"})]),
    legal("text-tsv", "NUL becomes a blank", b"a\0b\tone\0two\n", [({"one", "two"}, {"a b"})]),
    legal("text-tsv", "labels that occur twice count once", b"a, b,a,,\tword\n", [({"word"}, {"a", "b"})]),
    legal(
        "text-tsv",
        "line separators of Unicode are no line ends",
        "a\tone\u2028two\x85\n".encode(),
        [({"one", "two"}, {"a"})],
    ),
    legal("text-tsv", "right-to-left override in a label", "\u202ea\tword\n".encode(), [({"word"}, {"\u202ea"})]),
]

JSONL = [
    refused("jsonl", "empty", b"", None, "no training texts"),
    refused("jsonl", "white space only", b"\n \t\n", None, "no training texts"),
    refused("jsonl", "cut in the middle", b'{"text": "a', 1, "no JSON"),
    refused("jsonl", "trailing garbage", b'{"text": "one", "labels": "a"} x\n', 1, "no JSON (Extra data"),
    refused("jsonl", "one array instead of lines", b'[{"text": "one", "labels": "a"}]', 1, "expected a JSON object"),
    refused(
        "jsonl", "key that stands twice", b'{"text": "one", "labels": "a", "labels": "b"}', 1, "'labels' stands twice"
    ),
    refused("jsonl", "NaN", b'{"text": NaN, "labels": "a"}', 1, "NaN is no number of JSON"),
    refused("jsonl", "-Infinity", b'{"text": "one", "labels": "a", "x": -Infinity}', 1, "no number of JSON"),
    refused("jsonl", "1e400 as a text", b'{"text": 1e400, "labels": "a"}', 1, "not finite"),
    refused("jsonl", "1e400 as a label", b'{"text": "one", "labels": [1e400]}', 1, "a label is of type float"),
    refused("jsonl", "integer of 5000 digits", b'{"text": "one", "labels": %s}' % (b"1" * 5000), 1, "no JSON"),
    refused("jsonl", "nested 100,000 deep", b"[" * 100_000, 1, "nested too deeply"),
    refused("jsonl", "object nested 100,000 deep", b'{"text":' * 100_000, 1, "nested too deeply"),
    *(
        refused(
            "jsonl",
            f"text nested {depth} deep",
            b'{"labels": "a", "text": %s}' % (b"[" * depth + b"]" * depth),
            1,
            "nested too deeply",
        )
        for depth in (700, 960)
    ),
    refused("jsonl", "missing field", b'{"text": "one"}', 1, "no column 'labels', there are 'text'"),
    refused("jsonl", "field name of a megabyte", b'{"%s": 1}' % (b"x" * 1_000_000), 1, "no column 'text', 'labels'"),
    refused("jsonl", "boolean text", b'{"text": true, "labels": "a"}', 1, "the text is of type bool"),
    refused("jsonl", "object as label", b'{"text": "one", "labels": [{"a": 1}]}', 1, "a label is of type dict"),
    refused("jsonl", "not UTF-8", b'{"text": "one", "labels": "a"}\n{"text": "\xff", "labels": "a"}', 2, "is no UTF-8"),
    refused("jsonl", "single quotes", b"{'text': 'one', 'labels': 'a'}", 1, "no JSON"),
    legal(
        "jsonl",
        "lone surrogate becomes a question mark",
        rb'{"text": "one \ud800two", "labels": "a\udc00"}',
        [({"one", "two"}, {"a?"})],
    ),
    legal(
        "jsonl", "escaped NUL becomes a blank", rb'{"text": "one\u0000two", "labels": ["a"]}', [({"one", "two"}, {"a"})]
    ),
    legal(
        "jsonl",
        "numbers, null and lists",
        b'{"text": ["one", null, 2], "labels": [7, "7", 8]}',
        [({"one"}, {"7", "8"})],
    ),
    legal(
        "jsonl",
        "labels null",
        b'{"text": "one", "labels": null}\n{"text": "two", "labels": "a"}',
        [({"one"}, set()), ({"two"}, {"a"})],
    ),
]

CSV = [
    refused("csv", "empty", b"", 1, "there are none"),
    refused("csv", "white space only", b"  \n\n", 1, "no column 'text', 'labels'"),
    refused("csv", "header only", b"text,labels\n", None, "no training texts"),
    refused("csv", "missing column", b"text,tags\none,a\n", 1, "no column 'labels', there are 'text', 'tags'"),
    refused("csv", "column that stands twice", b"text,labels,text\none,a,two\n", 1, "there are several columns 'text'"),
    refused("csv", "a million columns", b"x," * 1_000_000 + b"\n", 1, "no column"),
    refused("csv", "too many cells", b"text,labels\none,a\none,a,b\n", 3, "3 fields, the header has 2"),
    refused("csv", "too few cells", b"text,labels\none,a\none\n", 3, "1 fields, the header has 2"),
    refused("csv", "quotes not closed", b'text,labels\none,a\n"two,b\nthree,c\n', 3, "unexpected end of data"),
    refused("csv", "quotes not closed in the header", b'text,"labels\none,a\n', 1, "no column"),
    refused("csv", "text behind a quote", b'text,labels\n"one"two,a\n', 2, "malformed record"),
    refused("csv", "old Macintosh", b"text,labels\rone,a\r", 1, "lines must end with a line feed"),
    refused("csv", "carriage return in a record", b"text,labels\none,a\rtwo,b\n", 2, "malformed record"),
    refused("csv", "Latin-1", b"text,labels\none,\xe4\n", 2, "is no UTF-8"),
    refused("csv", "UTF-16", "text,labels\none,a\n".encode("utf-16-le"), 1, "looks like UTF-16"),
    refused("csv", "broken list", b"text,labels\none,\"['a']\"\n", 2, "are no JSON list"),
    legal("csv", "byte order mark", "\ufefftext,labels\none,a\n".encode(), [({"one"}, {"a"})]),
    legal("csv", "mixed line ends", b"text,labels\r\none,a\ntwo,b\r\n", [({"one"}, {"a"}), ({"two"}, {"b"})]),
    legal("csv", "NUL becomes a blank", b"text,labels\none\0two,a\0b\n", [({"one", "two"}, {"a b"})]),
    legal("csv", "blank lines are none", b"text,labels\n\none,a\n\n", [({"one"}, {"a"})]),
    legal("csv", "quoted line end", b'labels,text\n"a","one\n""two"""\n', [({"one", "two"}, {"a"})]),
]


def _with_names(format, name, names, line, message):
    content = {"xmc-text": b"2 3 3\n0,2 1:1\n1 2:1\n", "text-tsv": b"0,2\tword\n1\tother\n"}[format]
    return Case(format, name, content, line, message, files={"labels": names})


def _named(format, name, names, expected):
    case = _with_names(format, name, names, None, None)
    rows = [{expected[0], expected[2]}, {expected[1]}]
    features = [{1: 1.0}, {2: 1.0}] if format == "xmc-text" else [{"word"}, {"other"}]
    return Case(format, name, case.content, legal=list(zip(features, rows, strict=True)), files=case.files)


LABEL_FILES = [
    _with_names("xmc-text", "fewer names than labels", b"zero\none\n", None, "2 names for 3 labels"),
    _with_names("xmc-text", "more names than labels", b"0\n1\n2\n3\n", None, "4 names for 3 labels"),
    _with_names("xmc-text", "empty names", b"", None, "0 names for 3 labels"),
    _with_names("text-tsv", "empty names", b"", None, "has no names"),
    _with_names("text-tsv", "fewer names than ids", b"zero\none\n", None, "label '2' is no id from 0 to 1"),
    _with_names("xmc-text", "names in Latin-1", b"zero\n\xe4\ntwo\n", 2, "is no UTF-8"),
    _with_names("xmc-text", "names in UTF-16", "a\nb\nc\n".encode("utf-16"), 1, "looks like UTF-16"),
    _named("xmc-text", "names that occur twice are told apart", b"a\na\nb\n", ["a (0)", "a (1)", "b"]),
    _named("xmc-text", "names that occur twice, with identifiers", b"x\ta\ny\ta\nz\tb\n", ["a (x)", "a (y)", "b"]),
    _named("xmc-text", "labels without names are called by number", b"a\n\nb\n", ["a", "label 1", "b"]),
    _named("text-tsv", "more names than ids", b"a\nb\nc\nd\n", ["a", "b", "c"]),
    _named("text-tsv", "carriage returns and a byte order mark", b"\xef\xbb\xbfa\r\nb\r\nc\r\n", ["a", "b", "c"]),
    *(
        refused(
            "text-tsv",
            f"label {label!r} where ids are meant",
            f"0\tword\n{label}\tother\n".encode(),
            2,
            "is no id from 0 to 1",
            files={"labels": b"a\nb\n"},
        )
        for label in ("-1", "2", "1.0", "a", "\u0661", "9" * 5000)
    ),
]


def parquet(columns, **options):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer, **options)
    return buffer.getvalue()


def _strings(blobs):
    offsets = np.cumsum([0, *map(len, blobs)]).astype(np.int32)
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"".join(blobs))]
    return pyarrow.StringArray.from_buffers(len(blobs), *buffers[1:])


def _nested(depth):
    array = pyarrow.array(["one"])
    for _ in range(depth):
        array = pyarrow.ListArray.from_arrays(pyarrow.array([0, len(array)], pyarrow.int32()), array)
    return array


_GOOD_PARQUET = parquet({"text": ["one", "two"], "labels": ["a", "b"]})
_FOOTER = struct.unpack("<I", _GOOD_PARQUET[-8:-4])[0]


def _with_footer(length):
    return _GOOD_PARQUET[:-8] + struct.pack("<I", length) + b"PAR1"


PARQUET = [
    refused("parquet", "empty", b"", None, "not a readable Parquet file"),
    refused("parquet", "wrong magic", b"PARX" + _GOOD_PARQUET[4:-4] + b"PARX", None, "not a readable Parquet file"),
    refused("parquet", "cut", _GOOD_PARQUET[: len(_GOOD_PARQUET) // 2], None, "not a readable Parquet file"),
    refused("parquet", "trailing garbage", _GOOD_PARQUET + b"garbage", None, "not a readable Parquet file"),
    refused("parquet", "footer of 4 GB", _with_footer(2**32 - 1), None, "not a readable Parquet file"),
    refused("parquet", "footer of 2 GB", _with_footer(2**31 - 1), None, "not a readable Parquet file"),
    refused("parquet", "footer of no bytes", _with_footer(0), None, "not a readable Parquet file"),
    refused("parquet", "footer of garbage", _with_footer(_FOOTER - 9), None, "not a readable Parquet file"),
    refused(
        "parquet",
        "no rows",
        parquet({"text": pyarrow.array([], pyarrow.string()), "labels": pyarrow.array([], pyarrow.string())}),
        None,
        "no training texts",
    ),
    refused(
        "parquet",
        "missing column",
        parquet({"text": ["one"], "tags": ["a"]}),
        None,
        "no column 'labels', there are 'text', 'tags'",
    ),
    refused(
        "parquet",
        "text is a struct",
        parquet({"text": [{"a": 1}], "labels": ["a"]}),
        None,
        "row 1: the text is of type dict",
    ),
    refused(
        "parquet",
        "text is binary",
        parquet({"text": [b"one"], "labels": ["a"]}),
        None,
        "row 1: the text is of type bytes",
    ),
    refused(
        "parquet",
        "text is infinite",
        parquet({"text": [1.0, np.inf], "labels": ["a", "b"]}),
        None,
        "row 2: the text is a number that is not finite",
    ),
    refused(
        "parquet",
        "text is no UTF-8",
        parquet({"text": _strings([b"one", b"\xff\xfe"]), "labels": ["a", "b"]}),
        None,
        "row 2, column 'text': 'utf-8' codec can't decode",
    ),
    refused(
        "parquet",
        "labels are timestamps",
        parquet({"text": ["one"], "labels": pyarrow.array([0], pyarrow.timestamp("s"))}),
        None,
        "row 1: a label is of type datetime",
    ),
    refused(
        "parquet",
        "labels are decimals of lists",
        parquet({"text": ["one"], "labels": [[["a"]]]}),
        None,
        "row 1: a label is of type list",
    ),
    refused(
        "parquet",
        "labels are fractions",
        parquet({"text": ["one"], "labels": [1.5]}),
        None,
        "row 1: a label is of type float",
    ),
    refused("parquet", "text nested 60 deep", parquet({"text": _nested(60), "labels": ["a"]}), None, "arquet"),
    legal(
        "parquet",
        "nulls and nan are empty texts",
        parquet({"text": [None, "one"], "note": [np.nan, 2.0], "labels": [["a"], None]}),
        [(set(), {"a"}), ({"one"}, set())],
        options=("--text-column=text,note",),
    ),
    legal(
        "parquet",
        "dictionaries",
        parquet({"text": pyarrow.array(["one", "two", "one"]).dictionary_encode(), "labels": ["a", "b", "b"]}),
        [({"one"}, {"a"}), ({"two"}, {"b"}), ({"one"}, {"b"})],
    ),
]


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array, **changes):
    """numpy.save's bytes, some text of the header replaced."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    content = buffer.getvalue()
    for old, new in changes.items():
        content = content.replace(old.encode(), new)
    return content


def _header(shape, dtype="<f8"):
    """A .npy of one row of eight numbers under a header that says otherwise."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + np.ones(8).tobytes()


def sparse(**changes):
    arrays = {"format": "csr", "shape": [2, 3], "data": np.ones(2), "indices": [0, 2], "indptr": [0, 1, 2]}
    return npz(**{name: np.asarray(array) for name, array in (arrays | changes).items()})


def _zip(members, **changes):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def _scipy(matrix):
    buffer = io.BytesIO()
    scipy.sparse.save_npz(buffer, matrix)
    return buffer.getvalue()


_Y = {"train-labels": npy(np.eye(2)), "test-labels": npy(np.eye(2))}
_TWO = [({0: 1.0}, [0]), ({2: 1.0}, [1])]
_NO_MATRIX = "no matrix of scipy.sparse.save_npz or numpy.save"


def _npz(name, content, message=_NO_MATRIX, suffix=".npz", labels=_Y):
    return refused("npz", name, content, None, message, suffix=suffix, files=labels)


NPZ = [
    _npz("empty", b""),
    _npz("text", b"0 1:1\n"),
    _npz("empty npy", b"", suffix=".npy"),
    _npz("cut", sparse()[:-40]),
    _npz("wrong magic", b"QK" + sparse()[2:]),
    _npz("trailing garbage behind npy", npy(np.eye(2)) + b"garbage", "has other", suffix=".npy"),
    _npz("header promises terabytes", _header((10**6, 10**7)), "promises", suffix=".npy"),
    _npz("header promises 2^70 values", _header((2**35, 2**35)), "promises", suffix=".npy"),
    _npz("header with a negative shape", _header((-1, 8)), "shape (-1, 8)", suffix=".npy"),
    _npz("header with a fractional shape", _header("(1.0, 8)"), suffix=".npy"),
    _npz("header that is code", _header("__import__('os').abort()"), suffix=".npy"),
    _npz("header of another type", _header((8, 1), "<f4"), "promises", suffix=".npy"),
    _npz("version 9", b"\x93NUMPY\x09\x00" + npy(np.eye(2))[8:], suffix=".npy"),
    _npz("pickled objects", npy(np.array([[{}]])), "allow_pickle=False", suffix=".npy"),
    _npz("pickled objects in npz", npz(a=np.array([[{}]])), "allow_pickle=False"),
    _npz("records", npy(np.zeros((2, 2), "i4,f4")), "type", suffix=".npy"),
    _npz("nan", npy(np.array([[np.nan, 1], [1, 1]])), "not finite", suffix=".npy"),
    _npz("beyond 32 bits", npy(np.array([[1e300, 1], [1, 1]])), "not finite", suffix=".npy"),
    _npz("three dimensions", npy(np.ones((2, 2, 2))), "3 dimensions", suffix=".npy"),
    _npz("complex", npy(np.eye(2) * 1j), "type complex128", suffix=".npy"),
    _npz("column beyond the shape", sparse(indices=[0, 3])),
    _npz("negative column", sparse(indices=[-1, 0])),
    _npz("rows beyond the entries", sparse(indptr=[0, 1, 99])),
    _npz("rows that fall", sparse(indptr=[0, 9, 2])),
    _npz("shape of 2^40", sparse(shape=[2, 1 << 40]), "shape (2, 1099511627776)"),
    _npz(
        "coordinates that promise 2^31 rows",
        sparse(format="coo", shape=[2**31 - 2, 3], row=[0, 1], col=[0, 1]),
        "shape",
    ),
    _npz("unknown layout", sparse(format="load")),
    _npz("bomb", _zip({"a.npy": _header((1, 8))[:-64] + bytes(2 << 30)}), "unpacks to more than 1,073,741,824 bytes"),
    _npz("member cut", _zip({"a.npy": npy(np.eye(2))[:-8]}), "promises"),
    _npz("member without a header", _zip({"a.npy": b"x" * 99})),
    _npz("rows of labels are missing", npy(np.eye(3)), "2 rows of labels for 3 rows of features", suffix=".npy"),
    _npz(
        "labels that ask for terabytes of names",
        npy(np.eye(2)),
        "shape (2, 2000000000)",
        suffix=".npy",
        labels={name: _scipy(scipy.sparse.csr_array((2, 2_000_000_000))) for name in _Y},
    ),
    legal(
        "npz",
        "duplicates add up",
        sparse(data=[1.0, 2.0, 1.0], indices=[0, 0, 2], indptr=[0, 2, 3]),
        [({0: 3.0}, [0]), ({2: 1.0}, [1])],
        suffix=".npz",
        files=_Y,
    ),
    legal("npz", "whole numbers", sparse(data=np.ones(2, np.int8)), _TWO, suffix=".npz", files=_Y),
    legal(
        "npz",
        "columns first",
        _scipy(scipy.sparse.csc_array(np.array([[1.0, 0, 0], [0, 0, 1]]))),
        _TWO,
        suffix=".npz",
        files=_Y,
    ),
    legal("npz", "Fortran order", npy(np.asfortranarray([[1.0, 0, 0], [0, 0, 1]])), _TWO, suffix=".npy", files=_Y),
]

_ROWS = b"".join(b"%d %d:1\n" % (i % 5, i % 7) for i in range(30_000))
_MANY = b"30000 7 5\n" + _ROWS


def _packed(suffix):
    pack = PACKED[suffix]
    whole = pack(_MANY)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    kind = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}[suffix]
    one = {"format": "xmc-text", "suffix": f".txt{suffix}"}
    return [
        Case(name=f"{kind}: empty", content=b"", refused=f"is empty, so it is no {kind} file", **one),
        Case(name=f"{kind}: not packed", content=_MANY, refused=f"its content is not {kind}", **one),
        Case(name=f"{kind}: cut", content=whole[: len(whole) // 2], refused=f"truncated or damaged {kind} file", **one),
        Case(
            name=f"{kind}: last bytes missing", content=whole[:-3], refused=f"truncated or damaged {kind} file", **one
        ),
        Case(name=f"{kind}: a byte changed", content=bytes(flipped), refused="", **one),
        Case(name=f"{kind}: trailing garbage", content=whole + b"garbage" * 9, refused=f"damaged {kind} file", **one),
        Case(
            name=f"{kind}: the second of two streams damaged",
            content=pack(_MANY[:99]) + b"?" + pack(_MANY[99:])[1:],
            refused=f"damaged {kind} file",
            **one,
        ),
        Case(
            name=f"{kind}: named otherwise",
            content=whole,
            refused=f"name it {suffix}",
            format="xmc-text",
            suffix=".zst" if suffix != ".zst" else ".gz",
        ),
        legal("xmc-text", f"{kind}: two streams", pack(HEADER) + pack(b"0 1:1\n"), ONE, suffix=suffix),
    ]


COMPRESSED = [case for suffix in PACKED for case in _packed(suffix)]

CASES = [*XMC_TEXT, *SVMLIGHT, *TSV, *JSONL, *CSV, *LABEL_FILES, *PARQUET, *NPZ, *COMPRESSED]
"""All of them; huge files and what is no file stand in the tests."""


def row(text, labels):
    """A line of JSON Lines."""
    return json.dumps({"text": text, "labels": labels}).encode() + b"\n"
