"""Text formats: the same instances out of each, and malformed files."""

import csv
import gzip
import io
import json

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.data.readers.formats import read_texts
from ovaflow.data.readers.instances import TextInstance

LABELS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n\t,["), min_size=1), max_size=3)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"))
INSTANCES = st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=5)


def as_tsv(instances):
    return "".join(f"{','.join(labels)}\t{text}\n" for text, labels in instances).encode()


def as_csv(instances):
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerows([("id", "labels", "text"), *((0, ",".join(labels), text) for text, labels in instances)])
    return buffer.getvalue().encode()


def as_jsonl(instances):
    return "".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in instances).encode()


def as_parquet(instances):
    buffer = io.BytesIO()
    kind = pyarrow.schema([("text", pyarrow.string()), ("labels", pyarrow.list_(pyarrow.string()))])
    rows = [{"text": text, "labels": labels} for text, labels in instances]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, kind), buffer)
    return buffer.getvalue()


WRITERS = {"text-tsv": as_tsv, "csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}


def instances_of(folder, format, content, name="file", **options):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_texts(format, path, **options))


@pytest.mark.parametrize("format", WRITERS)
@given(instances=INSTANCES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
def test_round_trip(tmp_path, format, instances):
    expected = [
        TextInstance(text, tuple(dict.fromkeys(label.strip() for label in labels if label.strip())))
        for text, labels in instances
    ]
    content = WRITERS[format](instances)
    assert instances_of(tmp_path, format, content) == expected
    assert instances_of(tmp_path, format, gzip.compress(content), "file.gz") == expected


@pytest.mark.parametrize("format", WRITERS)
def test_huge_fields(tmp_path, format):
    text = "word " * 200_000
    assert instances_of(tmp_path, format, WRITERS[format]([(text, ["a"])])) == [(text, ("a",))]


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_missing_columns_name_the_existing(tmp_path, format):
    content = WRITERS[format]([("x", ["a"])])
    with pytest.raises(InputError, match=r"no column 'title', 'tags', there are .*'labels'.*set text_column") as error:
        instances_of(tmp_path, format, content, text_column="title,text", labels_column="tags")
    assert str(tmp_path / "file") in str(error.value)


def test_text_of_several_columns(tmp_path):
    lines = [
        {"title": "T", "abstract": None, "n": 1984, "s": [3, "x", 3]},
        {"title": "", "abstract": "A", "n": 2.5, "s": "u;v"},
    ]
    content = "\n".join(map(json.dumps, lines))
    options = {"text_column": "title, abstract,n", "labels_column": "s", "label_separator": ";"}
    assert instances_of(tmp_path, "jsonl", content, **options) == [("T 1984", ("3", "x")), ("A 2.5", ("u", "v"))]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("labels,text\n", []),
        ('text,labels\n"a ""quoted"", \nb","x,y"\n', [('a "quoted", \nb', ("x", "y"))]),
        ('\ufefftext;labels\r\na, b;"x, y"\r\n\r\n', [("a, b", ("x", "y"))]),
        ('text\tlabels\na "b" c\t["x, y", 3]\n', [('a "b" c', ("x, y", "3"))]),
        ("text,labels\na\0b,\n", [("a b", ())]),
    ],
)
def test_kinds_of_csv(tmp_path, content, expected):
    assert instances_of(tmp_path, "csv", content) == expected


def test_names_may_begin_with_a_bracket(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("[Festschrift],Wien\ta text\n[1848] Revolution\tanother\n[]\tno labels\n")
    labels = [instance.labels for instance in read_texts("text-tsv", path)]
    assert labels == [("[Festschrift]", "Wien"), ("[1848] Revolution",), ()]


def test_separators_of_several_characters(tmp_path):
    ours = instances_of(tmp_path, "text-tsv", "a, b || c||\tx\ty\n\n\tz\n", label_separator="||")
    assert ours == [("x\ty", ("a, b", "c")), ("z", ())]


def test_lone_surrogates_and_nul_characters_are_replaced(tmp_path):
    ours = instances_of(tmp_path, "jsonl", r'{"text": "a\ud800b\u0000c \ud83d\ude00", "labels": null}')
    assert ours == [("a?b c \U0001f600", ())]


def test_parquet_kinds_of_labels(tmp_path):
    columns = {
        "text": pyarrow.array(["a", None, "c"]).dictionary_encode(),
        "labels": pyarrow.array([[1, 2], None, []], pyarrow.list_(pyarrow.int64())),
        "single": pyarrow.array([7, 8, None]),
        "joined": pyarrow.array(["x,y", '["u,v"]', ""]),
    }
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    for column, labels in (
        ("labels", [("1", "2"), (), ()]),
        ("single", [("7",), ("8",), ()]),
        ("joined", [("x", "y"), ("u,v",), ()]),
    ):
        ours = instances_of(tmp_path, "parquet", buffer.getvalue(), labels_column=column)
        assert ours == list(zip(["a", "", "c"], labels, strict=True))


@pytest.mark.parametrize(
    ("format", "content", "line", "message"),
    [
        ("text-tsv", "a\tb\nno tab here\n", 2, "found no tab in 'no tab here'"),
        ("text-tsv", b"a\tb\n\n\xff\t\n", 3, "is no UTF-8"),
        ("text-tsv", 'a\tb\n["a\tb\n', 2, "no JSON list"),
        ("csv", "", 1, "there are none"),
        ("csv", "a|b\n1|2\n", 1, "there are 'a|b'"),
        ("csv", "text,labels\na,b\na,b,c\n", 3, "3 fields, the header has 2"),
        ("csv", 'text,labels\n"a\nb",x\na\n', 4, "1 fields, the header has 2"),
        ("csv", 'text,labels\na,b\n"a,b\nc,d\n', 3, "malformed record"),
        ("csv", 'text,labels\na,b\n"a"x,b\n', 3, "malformed record"),
        ("csv", "text,labels\na,\"['x', 'y']\"\n", 2, "no JSON list"),
        ("csv", b"text,labels\na,b\n\xff,b\n", 3, "is no UTF-8"),
        ("jsonl", '{"text": "a", "labels": []}\n{"text": "a"\n', 2, "no JSON"),
        ("jsonl", '{"text": "a", "labels": []}\n\n{"text": "a"}\n', 3, "no column 'labels', there are 'text'"),
        ("jsonl", "[1, 2]\n", 1, "expected a JSON object"),
        ("jsonl", "[" * 100_000 + "\n", 1, "nested too deeply"),
        ("jsonl", '{"text": {"a": 1}, "labels": []}\n', 1, "the text is of type dict"),
        ("jsonl", '{"text": true, "labels": []}\n', 1, "the text is of type bool"),
        ("jsonl", '{"text": "a", "labels": [1.5]}\n', 1, "a label is of type float"),
        ("jsonl", '{"text": "a", "labels": {"b": 1}}\n', 1, "a label is of type dict"),
        ("jsonl", '{"text": ' + "1" * 5000 + ', "labels": 1}\n', 1, "no JSON"),
        ("parquet", b"", None, "not a readable Parquet file"),
        ("parquet", b"PAR1 nothing PAR1", None, "not a readable Parquet file"),
        ("parquet", as_parquet([("x", ["a"])])[:-20], None, "not a readable Parquet file"),
    ],
)
def test_malformed_files_are_refused_with_the_line(tmp_path, format, content, line, message):
    with pytest.raises(InputError) as error:
        instances_of(tmp_path, format, content)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'file'}{'' if line is None else f', line {line}'}: ")


@pytest.mark.parametrize("label", ["3", "-1", "a", "1.0", "²"])
def test_labels_that_are_no_ids_are_refused_with_the_line(tmp_path, label):
    with pytest.raises(InputError, match=r"file, line 2: label .* is no id from 0 to 2; leave out the file"):
        instances_of(tmp_path, "text-tsv", f"0,2\ta\n1,{label}\tb\n", n_labels=3)


@pytest.mark.parametrize("options", [{"text_column": " , "}, {"labels_column": ""}, {"label_separator": ""}])
def test_empty_settings_are_refused(tmp_path, options):
    with pytest.raises(InputError, match=f"setting {next(iter(options))} is empty"):
        read_texts("csv", tmp_path / "file", **options)


def test_real_texts(real_data):
    instances = list(read_texts("text-tsv", real_data / "kirjastonhoitaja" / "test_raw.tsv.gz"))
    assert len(instances) == 312
    assert all(instance.text and all(map(str.isdigit, instance.labels)) for instance in instances)
