"""Suggestions as MARCXML: pymarc reads back what was written."""

import io
import re
from datetime import date
from types import SimpleNamespace

import pymarc
from animals import HERE, train_animals
from commands import ovaflow, predict_answers
from hypothesis import given
from hypothesis import strategies as st

from ovaflow import __version__
from ovaflow.prediction.answer import Answer, AnsweredLabel
from ovaflow.prediction.answer_files import AnsweredRecord
from ovaflow.prediction.marcxml import MarcXml

# pattern of a leader in MARC21slim.xsd
LEADER = re.compile(
    r"[\d ]{5}[\dA-Za-z ][\dA-Za-z][\dA-Za-z ]{3}[2 ][2 ][\d ]{5}[\dA-Za-z ]{3}(4500|    )"
)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)


def read(content: str) -> list[list[str]]:
    """Read the fields of each record as pymarc prints them."""
    records = []
    for record in pymarc.parse_xml_to_array(io.BytesIO(content.encode())):
        assert LEADER.fullmatch(str(record.leader))
        records.append([str(field) for field in record])
    return records


@given(NAMES, st.lists(st.tuples(NAMES, st.none() | NAMES), max_size=3), st.none() | st.just(0.25))
def test_pymarc_reads_what_was_written(id, labels, probability) -> None:
    answered = []
    for name, uri in labels:
        label = AnsweredLabel(id=0, name=name, uri=uri, score=-1, probability=probability)
        answered.append(label)
    model = SimpleNamespace(checksum="0123456789abcdef")
    writer = MarcXml(SimpleNamespace(model=model, label_uris=[]), "gnd", date(2026, 11, 27))
    written = writer.write(AnsweredRecord(1, id, None, ()), Answer.model_construct(labels=answered))
    sure = "" if probability is None else "$c0.2500"
    subjects = []
    provenance = []
    for n, (name, uri) in enumerate(labels, 1):
        if uri:
            subjects.append(rf"=650  \7$8{n}\p$a{name}$2gnd$0{uri}")
        else:
            subjects.append(rf"=650  \4$8{n}\p$a{name}")
        provenance.append(
            rf"=883  0\$8{n}\p$aovaflow {__version__}, model 0123456789ab{sure}$d20261127"
        )
    [ours] = read(writer.head + written + writer.tail)
    assert ours == [f"=001  {id}", *subjects, *provenance]


def test_a_file_becomes_records(tmp_path, capsys) -> None:
    """Records without remarks, which ovaflow itself can read."""
    model = train_animals(tmp_path)
    out = tmp_path / "new.xml"
    (tmp_path / "new.csv").write_text(
        "id,text,shelf\nb1,black cats <purr>,s1\n\x01b&2,birds sing,s2\n,dogs bark,s3\n"
    )
    arguments = ["predict", model, tmp_path / "new.csv", "--top-k=1", f"--output={out}"]
    ovaflow(arguments)
    said = capsys.readouterr().err
    assert "650 $2 is animals, the name of a file: --marc-source" in said
    remark = (
        "1 of 3 records have no id, and so no 001: give a table, and name its column with "
        "--id-column"
    )
    assert remark in said
    assert [fields[0] for fields in read(out.read_text())[:2]] == ["=001  b1", "=001  b&2"]
    ovaflow(arguments, "--marc-source=a/eng", "--id-column=shelf")
    assert "ovaflow:" not in capsys.readouterr().err
    ours = [fields[:2] for fields in read(out.read_text())]
    theirs = []
    for number, name in enumerate(["cats", "birds", "dogs"], 1):
        theirs.append([f"=001  s{number}", rf"=650  \7$81\p$a{name}$2a/eng$0{HERE}{name}"])
    assert ours == theirs
    assert predict_answers(model, out, "--text-column=650")[0]["id"] == "s1"
