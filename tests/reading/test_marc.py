"""Library records, binary and as XML; pymarc writes those that are binary, others are written by hand."""

import csv
import gzip
import json

import pytest
from pymarc import Field, Indicators, Record, Subfield

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import Identified, Reading
from ovaflow.reading.streams import File
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

BEES, WAX = "http://id.example.org/bees", "http://id.example.org/wax"


def binary(records):
    """Records, each of fields such as ``("245", "a", "Title", "b", "rest")``, as MARC 21 in UTF-8."""
    content = b""
    for fields in records:
        record = Record()
        for tag, *parts in fields:
            if len(parts) == 1:
                record.add_field(Field(tag, data=parts[0]))
            else:
                subfields = [Subfield(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
                record.add_field(Field(tag, Indicators(" ", "0"), subfields))
        content += record.as_marc()
    return content


def xml(records, space='xmlns="http://www.loc.gov/MARC21/slim"', prefix=""):
    parts = []
    for fields in records:
        parts.append(f"<{prefix}record><{prefix}leader>short</{prefix}leader>")
        for tag, *subs in fields:
            if len(subs) == 1:
                parts.append(f'<{prefix}controlfield tag="{tag}">{subs[0]}</{prefix}controlfield>')
                continue
            pairs = zip(subs[::2], subs[1::2], strict=True)
            inner = "".join(f'<{prefix}subfield code="{code}">{text}</{prefix}subfield>' for code, text in pairs)
            parts.append(f'<{prefix}datafield tag="{tag}" ind1=" " ind2="0">{inner}</{prefix}datafield>')
        parts.append(f"</{prefix}record>\n")
    return f"<{prefix}collection {space}>{''.join(parts)}</{prefix}collection>".encode()


WRITERS = {
    "marc": binary,
    "marcxml": xml,
    "marcxml without namespace": lambda records: xml(records, ""),
    "marcxml with a prefix": lambda records: xml(records, 'xmlns:m="http://www.loc.gov/MARC21/slim"', "m:"),
    "marcxml in an answer of OAI-PMH": lambda records: (
        b"<OAI-PMH>"
        + b"".join(
            b"<record><header/><metadata>" + each[each.index(b"<record") : -13] + b"</metadata></record>"
            for each in (xml([record], "") for record in records)
        )
        + b"</OAI-PMH>"
    ),
}


def instances_of(path, kind, content, **settings):
    path.write_bytes(content)
    reading = Reading(**FORMATS_COLUMNS | settings)
    return list(FORMATS[kind.split()[0]].read(File(path), reading)), reading


FORMATS_COLUMNS = {"texts": ["245", "246", "520", "505"], "labels": ["650", "655"]}
RECORDS = [
    [
        ("001", "n1"),
        ("245", "a", "Bees and honey :", "b", "a guide /", "c", "by Ann.", "6", "880-01"),
        ("520", "a", "All about bees."),
        ("650", "a", "Bees.", "0", "(DE-588)4113937-9", "0", BEES),
        ("650", "a", "Bees", "x", "Diseases", "z", "Finland.", "0", "sh1"),
        ("650", "a", "Honey.", "2", "local"),
        ("655", "a", "Guides (etc.),", "0", "g1"),
    ],
    [
        ("001", "n2"),
        ("245", "a", "Wäx"),
        ("650", "a", "Bee (insects)", "0", BEES),
        ("650", "a", "Bees", "0", "other"),
        ("650", "a", "Honey"),
        ("653", "a", "honeycombs", "a", "candles"),
    ],
]


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_fields_headings_and_ids(tmp_path, kind, pack):
    ours, reading = instances_of(tmp_path / "a", kind, pack(WRITERS[kind](RECORDS)))
    text = "Bees and honey : a guide / by Ann. All about bees."
    first, second = ours
    assert (first.id, first.text) == ("n1", text)
    assert first.labels == ("Bees", "Bees -- Diseases -- Finland", "Honey", "Guides (etc.)")
    # the same identifier by the same name, another one by another
    assert (second.id, second.text, second.labels) == ("n2", "Wäx", ("Bees", "Bees (other)", "Honey"))
    assert reading.identified.identifiers["Bees"] == BEES
    assert reading.identified.identifiers["Bees -- Diseases -- Finland"] == "sh1"
    assert (reading.counts["headings"], reading.counts["headings_without_identifier"]) == (7, 2)
    known, _ = instances_of(tmp_path / "b", kind, WRITERS[kind](RECORDS), identified=Identified([BEES, ""]))
    assert [each.labels[0] for each in known] == [BEES, BEES]


@pytest.mark.parametrize("kind", WRITERS)
def test_subfields_are_chosen(tmp_path, kind):
    chosen = {"texts": ["245$ab"], "labels": ["650$a", "653"], "id_column": "650$0", "kept": ("245$c",)}
    ours, _ = instances_of(tmp_path / "a", kind, WRITERS[kind](RECORDS), **chosen)
    assert [each.text for each in ours] == ["Bees and honey : a guide /", "Wäx"]
    assert ours[1].labels == ("Bee (insects)", "Bees", "Honey", "honeycombs", "candles")
    assert ours[0].id == f"(DE-588)4113937-9 {BEES} sh1"
    assert ours[0].kept == ("by Ann.",)


def test_names_of_persons(tmp_path):
    person = ("600", "a", "Smith, J.,", "d", "1835-1910,", "e", "author.", "x", "Letters.")
    ours, _ = instances_of(tmp_path / "a", "marc", binary([[person, ("600", "a", "Twain, M.")]]), labels=["600"])
    assert ours[0].labels == ("Smith, J., 1835-1910 -- Letters", "Twain, M.")


def with_leader(record, mark):
    return record[:9] + mark + record[10:]


def made(title):
    """A record by hand: its leader says MARC-8."""
    fields = [b"n1\x1e", b"00\x1fa" + title + b"\x1e"]
    entries = b"001" + b"%04d%05d" % (len(fields[0]), 0) + b"245" + b"%04d%05d" % (len(fields[1]), len(fields[0]))
    start = 24 + len(entries) + 1
    content = entries + b"\x1e" + b"".join(fields) + b"\x1d"
    return b"%05dnam  22%05d   4500" % (24 + len(content), start) + content


@pytest.mark.parametrize(
    ("record", "title", "replaced"),
    [
        (made(b"Caf\xe2e"), "Café", 0),
        (made(b"\x1b(NOPT\x1b(B"), "опт", 0),
        (made("Café".encode()), "Café", 0),
        (with_leader(made("Café".encode()), b"a"), "Café", 0),
        (with_leader(made("Café".encode("latin-1")), b"a"), "Caf\ufffd", 1),
        (made(b"Plain"), "Plain", 0),
    ],
)
def test_marc8_and_utf8(tmp_path, record, title, replaced, capsys):
    ours, reading = instances_of(tmp_path / "a", "marc", record)
    assert ours[0].text == title
    assert reading.counts["records_not_in_utf8"] == replaced
    assert capsys.readouterr().err == ""


def test_what_stands_between_records(tmp_path):
    content = b"\r\n" + made(b"one") + b"\n\n" + made(b"two") + b"\x1a\n"
    ours, _ = instances_of(tmp_path / "a", "marc", content)
    assert [each.text for each in ours] == ["one", "two"]


GOOD = made(b"Title")
BOMB = (
    "<!DOCTYPE r [<!ENTITY a0 'ha'>"
    + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12))
    + "]><record><datafield tag='245'><subfield code='a'>&a11;</subfield></datafield></record>"
)


@pytest.mark.parametrize(
    ("kind", "content", "complaint"),
    [
        ("marc", GOOD + GOOD[:-5], "record 2 is damaged"),
        ("marc", GOOD + b"abcde" + GOOD, "record 2 is damaged"),
        ("marc", GOOD + b"00009" + GOOD, "record 2 is damaged"),
        ("marc", GOOD[:12] + b"99999" + GOOD[17:], "record 1 is damaged"),
        ("marc", GOOD[:25] + b"\xff" + GOOD[26:], "record 1 is damaged"),
        ("marc", b"", "has no records"),
        ("marc", xml(RECORDS), "record 1 is damaged"),
        ("marcxml", b"", "has no MARC records"),
        ("marcxml", GOOD, "line 1: not valid XML"),
        ("marcxml", b"<a>\n<b></a>", "line 2: not valid XML"),
        ("marcxml", b"<rss><record><title>x</title></record></rss>", "has no MARC records"),
        ("marcxml", b"<record>\n<controlfield>x</controlfield></record>", "line 2: a field or subfield has no tag"),
        ("marcxml", b"<record><datafield tag='1'><subfield/></datafield></record>", "has no code"),
        ("marcxml", BOMB.encode(), "not valid XML (limit on input amplification"),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(tmp_path, kind, content, complaint, capsys):
    (tmp_path / "a").write_bytes(content)
    assert main(["prepare", f"--format={kind}", f"--train={tmp_path}/a", f"--output={tmp_path}/a.h5"]) == 2
    message = capsys.readouterr().err
    assert complaint in message
    assert "; export" in message
    assert message.count("\n") == 1


def test_entities_of_other_files_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("secret")
    start = f"<!DOCTYPE r [<!ENTITY a SYSTEM '{tmp_path}/secret'>]>"
    content = start + "<record><datafield tag='245'><subfield code='a'>x&a;y</subfield></datafield></record>"
    ours, _ = instances_of(tmp_path / "a", "marcxml", content.encode())
    assert ours[0].text == "xy"


def test_what_is_no_field(tmp_path, capsys):
    (tmp_path / "a.mrc").write_bytes(GOOD)
    asked = ["prepare", "--format=marc", f"--train={tmp_path}/a.mrc", f"--output={tmp_path}/a.h5"]
    assert main([*asked, "--text-column=title"]) == 2
    assert (
        "'title' is not a field of MARC; name fields such as 245, or subfields such as 650$a" in capsys.readouterr().err
    )


SUBJECTS = {"bees": ("Bees", BEES), "wax": ("Wax", WAX), "ants": ("Ants", "(local)7"), "plants": ("Plants", None)}


def catalogue(n=10, names=str):
    """Records of one subject each, a word of which tells it."""
    records = []
    for i in range(n):
        for word, (name, identifier) in SUBJECTS.items():
            heading = ("650", "a", names(name), *(["0", identifier] if identifier else []))
            records.append([("001", f"{word}{i}"), ("245", "a", f"{word} number{i}"), heading])
    return records


@pytest.fixture(params=["marc", "marcxml"])
def prepared(request, tmp_path, capsys):
    """Prepare a catalogue with options: the format, the dataset and what was printed."""

    def prepare(*options):
        path = tmp_path / "catalogue.data"
        path.write_bytes(WRITERS[request.param](catalogue()))
        asked = [f"--format={request.param}", f"--train={path}", f"--output={tmp_path}/a.h5"]
        assert main(["prepare", *asked, "--min-df=1", "--max-df=1.0", *options]) == 0
        return request.param, open_dataset(tmp_path / "a.h5"), capsys.readouterr().out

    return prepare


def test_predictions_have_names_and_uris(tmp_path, prepared, capsys):
    kind, dataset, log = prepared()
    assert "10 of 40 headings have no identifier ($0)" in log
    assert dict(zip(dataset.label_names, dataset.label_uris, strict=True)) == {
        name: identifier or "" for name, identifier in SUBJECTS.values()
    }
    model, asked = tmp_path / "model.h5", tmp_path / "new.data"
    train_model(dataset, TrainLabels(), 0.0).write(model)
    # others call the same subject by another name
    asked.write_bytes(WRITERS[kind](catalogue(1, "The {}.".format)))
    assert main(["predict", str(model), str(asked), f"--format={kind}", "--top-k=1"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["id"] for answer in answers] == [f"{word}0" for word in SUBJECTS]
    found = [(label["name"], label.get("uri")) for answer in answers for label in answer["labels"]]
    assert found == [*SUBJECTS.values()]
    out = tmp_path / "out.csv"
    assert main(["predict", str(model), str(asked), f"--format={kind}", "--joined=|", f"--output={out}"]) == 0
    assert [row["uris"].count("|") for row in csv.DictReader(out.open(encoding="utf-8"))] == [3] * 4
    chosen = ["--top-k=4", "--exclude", BEES, "--exclude=Plants"]
    assert main(["predict", str(model), str(asked), f"--format={kind}", *chosen]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all({label["name"] for label in answer["labels"]} == {"Wax", "Ants"} for answer in answers)
    assert main(["evaluate", str(asked), f"--model={model}", f"--format={kind}", f"--output={tmp_path}/m.json"]) == 0
    metrics = json.loads((tmp_path / "m.json").read_text())["models"][0]["metrics"]
    # "The Plants" has no identifier, so nothing says that it is "Plants"; one of four records has no known label
    assert (metrics["P@1"], metrics["unknown labels"]) == (0.75, 1)


def test_a_model_of_a_table_reads_records(tmp_path, capsys):
    rows = "".join(f"{word} number{i},{word}\n" for i in range(10) for word in SUBJECTS)
    (tmp_path / "a.csv").write_text(f"text,labels\n{rows}")
    asked = ["prepare", "--format=csv", f"--train={tmp_path}/a.csv", f"--output={tmp_path}/a.h5"]
    assert main([*asked, "--min-df=1", "--max-df=1.0"]) == 0
    train_model(open_dataset(tmp_path / "a.h5"), TrainLabels(), 0.0).write(tmp_path / "model.h5")
    (tmp_path / "new.mrc").write_bytes(binary(catalogue(1)))
    capsys.readouterr()
    assert main(["predict", f"{tmp_path}/model.h5", f"{tmp_path}/new.mrc", "--top-k=1"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["labels"][0]["name"] for answer in answers] == [*SUBJECTS]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--exclude=Bees"], ["Ants", "Plants", "Wax"]),
        (["--exclude", BEES], ["Ants", "Plants", "Wax"]),
        (["--include", "http://id.example.org/*"], ["Bees", "Wax"]),
        (["--include=Plants", "--include=(local)7"], ["Ants", "Plants"]),
    ],
)
def test_labels_are_chosen_by_name_and_by_identifier(prepared, options, kept):
    _, dataset, _ = prepared(*options)
    assert dataset.label_names == kept


def test_labels_are_renamed_by_name(tmp_path, prepared):
    (tmp_path / "map.csv").write_text("Bees,Insects\nAnts,Insects\n")
    _, dataset, _ = prepared(f"--label-map={tmp_path}/map.csv")
    assert list(zip(dataset.label_names, dataset.label_uris, strict=True)) == [
        ("Insects", ""),
        ("Plants", ""),
        ("Wax", WAX),
    ]


def test_a_vocabulary_names_subjects_by_their_uris(tmp_path, prepared):
    (tmp_path / "v.tsv").write_text(f"<{BEES}>\tMehiläiset\n<{WAX}>\tVaha\n<http://id.example.org/p>\tPlants\n")
    _, dataset, log = prepared(f"--vocabulary={tmp_path}/v.tsv")
    assert dataset.label_names == ["Mehiläiset", "Plants", "Vaha"]
    assert "10 subjects of instances are not in the vocabulary" in log
    named = dataset.parameters["named_labels"]
    assert len(dataset.train.Y.indices) + len(dataset.test.Y.indices) == 30 + named


def test_what_is_left_out_of_a_vocabulary_is_no_label_of_the_same_name(tmp_path, prepared):
    (tmp_path / "v.tsv").write_text(f"<{BEES}>\tApis\n<{WAX}>\tBees\n")
    _, dataset, log = prepared(f"--vocabulary={tmp_path}/v.tsv", "--exclude", BEES, "--no-label-names")
    assert dataset.label_names == ["Bees"]
    assert len(dataset.train.Y.indices) + len(dataset.test.Y.indices) == 10
    assert "1 labels are left out by include and exclude, 10 times in instances" in log


def test_a_catalogue_without_identifiers_is_not_remarked_on(tmp_path, capsys):
    bare = [[field[:3] if field[0] == "650" else field for field in fields] for fields in catalogue()]
    (tmp_path / "a.mrc").write_bytes(binary(bare))
    asked = ["--format=marc", f"--train={tmp_path}/a.mrc", f"--output={tmp_path}/a.h5"]
    assert main(["prepare", *asked, "--min-df=1", "--max-df=1.0"]) == 0
    assert "identifier ($0):" not in capsys.readouterr().out
    dataset = open_dataset(tmp_path / "a.h5")
    assert [*dataset.label_names] == ["Ants", "Bees", "Plants", "Wax"]
    assert len(dataset.label_uris) == 0
