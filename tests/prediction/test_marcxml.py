"""Suggestions as MARCXML: pymarc reads back what was written."""

import io
import re
from datetime import date
from types import SimpleNamespace

import numpy as np
import pymarc
import pytest
from animals import train_animals
from commands import answers, ovaflow
from hypothesis import given
from hypothesis import strategies as st

from ovaflow import __version__
from ovaflow.prediction.answers import Record
from ovaflow.prediction.marcxml import MarcXml
from ovaflow.prediction.question import Answer, AnsweredLabel

# what MARC21slim.xsd demands
LEADER = re.compile(r"[\d ]{5}[\dA-Za-z ][\dA-Za-z][\dA-Za-z ]{3}[2 ][2 ][\d ]{5}[\dA-Za-z ]{3}(4500|    )")


def described(record):
    """Id, subjects and provenance of a record, as pymarc has them."""
    id = record["001"].data if "001" in record else None
    fields = record.get_fields("650", "883")
    return id, [(each.tag, *each.indicators, {part.code: part.value for part in each.subfields}) for each in fields]


def read(content):
    records = pymarc.parse_xml_to_array(io.BytesIO(content.encode()))
    assert all(LEADER.fullmatch(str(record.leader)) for record in records)
    return list(map(described, records))


def theirs(id, labels, source, process):
    subjects, provenance = [], []
    for number, label in enumerate(labels, 1):
        linked = {"8": f"{number}\\p"}
        known = {"2": source, "0": label.uri} if source and label.uri else {}
        subjects.append(("650", " ", "7" if known else "4", linked | {"a": label.name} | known))
        sure = {} if label.probability is None else {"c": f"{label.probability:.4f}"}
        provenance.append(("883", "0", " ", linked | {"a": process, "d": "20261127"} | sure))
    return id, subjects + provenance


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)
LABELS = st.builds(
    AnsweredLabel,
    id=st.just(0),
    name=NAMES,
    score=st.just(np.float32(-1)),
    probability=st.none() | st.floats(0, 1, width=32),
    uri=st.none() | NAMES.map("http://example.org/{}".format),
)


@given(st.lists(st.tuples(st.none() | NAMES, st.lists(LABELS, max_size=4)), max_size=3), st.sampled_from(["gnd", None]))
def test_pymarc_reads_what_was_written(answered, source):
    model = SimpleNamespace(checksum="0123456789abcdef", transform={})
    writer = MarcXml(SimpleNamespace(model=model, label_uris=[""]), source, date(2026, 11, 27))
    out = io.StringIO()
    writer.begin(out)
    for number, (name, labels) in enumerate(answered, 1):
        out.write(writer.write(Record(number, name, None, ()), Answer(labels, None, None)))
    writer.end(out, len(answered))
    process = f"ovaflow {__version__}, model 0123456789ab"
    assert read(out.getvalue()) == [theirs(*each, source, process) for each in answered]


@pytest.fixture(scope="module")
def animals(tmp_path_factory):
    return train_animals(tmp_path_factory.mktemp("animals"))


TEXTS = "id,text\nb1,black cats <purr> & bark\n\x01b&2,birds sing\n,dogs bark\n"


def test_a_file_becomes_records(animals, tmp_path, capsys):
    (tmp_path / "new.csv").write_text(TEXTS)
    asked, out = (animals, tmp_path / "new.csv", "--top-k=2"), tmp_path / "new.xml"
    ovaflow("predict", *asked, f"--output={out}")
    said = capsys.readouterr().err
    assert "650 $2 is animals, the name of a file: --marc-source says which vocabulary it is" in said
    assert "1 of 3 records have no id, and so no 001" in said
    ovaflow("predict", *asked, f"--output={out}", "--marc-source=animals/eng")
    assert "650" not in capsys.readouterr().err
    ovaflow("predict", *asked, f"--output={out}", "--id-column=text")
    assert "001" not in capsys.readouterr().err
    assert read(out.read_text())[2][0] == "dogs bark"
    ovaflow("predict", *asked, f"--output={out}", "--marc-source=animals/eng")
    records = read(out.read_text())
    assert [id for id, _ in records] == ["b1", "b&2", None]
    for (_, fields), answer in zip(records, answers(*asked), strict=True):
        subjects = [(each["a"], each["0"], each["2"]) for tag, *_, each in fields if tag == "650"]
        assert subjects == [(label["name"], label["uri"], "animals/eng") for label in answer["labels"]]
        assert all("c" not in each for tag, *_, each in fields if tag == "883"), "a score is no probability"
    # what is written is read as the records of a catalogue are
    [first, *_] = answers(animals, out, "--text-column=650")
    assert first["id"] == "b1"
    assert "--marc-source goes with marcxml, not jsonl" in ovaflow(
        "predict", *asked, "--marc-source=gnd", "--output=a.jsonl", status=2
    )


def test_without_a_vocabulary_there_is_no_source(tiny_models, capsys):
    written = ovaflow("predict", tiny_models / "one-vs-all.h5", "--text=word00", "--output-format=marcxml")
    [(id, fields)] = read(written)
    assert id is None
    assert {each[:3] for each in fields} == {("650", " ", "4"), ("883", "0", " ")}
    assert "$2" not in capsys.readouterr().err, "labels without identifiers need none"
