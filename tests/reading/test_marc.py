"""Library records, binary and as XML; and what is made of their headings."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import list_label_values, ovaflow, predict_answers
from marc_records import make_marc, make_marcxml

from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import IdentifiedNames, Reading, TextInstance
from ovaflow.reading.streams import RecordFile

ALL_WORDS = ("--min-df=1", "--max-df=1.0")
BEES = "http://id.example.org/bees"
WAX = "http://id.example.org/wax"


def make_marcxml_without_namespace(records) -> bytes:
    return make_marcxml(records, b"")


def make_marcxml_with_prefix(records) -> bytes:
    """Make MARCXML whose elements have the prefix ``m:``."""
    prefixed = re.sub(b"<(/?)", rb"<\1m:", make_marcxml(records))
    return prefixed.replace(b"xmlns", b"xmlns:m")


def make_oai_pmh(records) -> bytes:
    """Make an answer of OAI-PMH, whose records are around those of MARC."""
    return make_marcxml(records, b"", b"<record><header/><metadata>%b</metadata></record>")


WRITERS = {
    "marc": make_marc,
    "marcxml": make_marcxml,
    "marcxml without namespace": make_marcxml_without_namespace,
    "marcxml with a prefix": make_marcxml_with_prefix,
    "marcxml in an answer of OAI-PMH": make_oai_pmh,
}


def read_instances(path, kind, content, **settings) -> tuple[list[TextInstance], Reading]:
    """Read the records of some content; return them with the reading, which has counts."""
    path.write_bytes(content)
    columns = {"texts": ["245", "246", "520", "505"], "labels": ["650", "655"]}
    reading = Reading(**columns | settings)
    format = FORMATS[kind.split()[0]]
    return list(format.read(RecordFile(path), reading)), reading


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
def test_fields_headings_and_ids(tmp_path, kind) -> None:
    ours, reading = read_instances(tmp_path / "a", kind, WRITERS[kind](RECORDS))
    # the same identifier by the same name, another one by another
    assert [(each.id, each.text, each.labels) for each in ours] == [
        (
            "n1",
            "Bees and honey : a guide / by Ann. All about bees.",
            ("Bees", "Bees -- Diseases -- Finland", "Honey", "Guides (etc.)"),
        ),
        ("n2", "Wäx", ("Bees", "Bees (other)", "Honey")),
    ]
    assert reading.identified.identifiers == {
        "Bees": BEES,
        "Bees -- Diseases -- Finland": "sh1",
        "Guides (etc.)": "g1",
        "Bees (other)": "other",
    }
    assert reading.counts == {"headings": 7, "headings_without_identifier": 2}
    known, _ = read_instances(
        tmp_path / "b", kind, WRITERS[kind](RECORDS), identified=IdentifiedNames([BEES, ""])
    )
    assert [each.labels[0] for each in known] == [BEES, BEES]


@pytest.mark.parametrize("kind", WRITERS)
def test_subfields_are_chosen(tmp_path, kind) -> None:
    chosen = {
        "texts": ["245$ab"],
        "labels": ["650$a", "653"],
        "id_column": "650$0",
        "kept_columns": ("245$c",),
    }
    ours, _ = read_instances(tmp_path / "a", kind, WRITERS[kind](RECORDS), **chosen)
    assert [each.text for each in ours] == ["Bees and honey : a guide /", "Wäx"]
    assert ours[1].labels == ("Bee (insects)", "Bees", "Honey", "honeycombs", "candles")
    assert (ours[0].id, ours[0].kept_texts) == (f"(DE-588)4113937-9 {BEES} sh1", ("by Ann.",))


def test_names_of_persons(tmp_path) -> None:
    person = ("600", "a", "Smith, J.,", "d", "1835-1910,", "e", "author.", "x", "Letters.")
    content = make_marc([[person, ("600", "a", "Twain, M.")]])
    ours, _ = read_instances(tmp_path / "a", "marc", content, labels=["600"])
    assert ours[0].labels == ("Smith, J., 1835-1910 -- Letters", "Twain, M.")


def make_record(title, mark=b" ") -> bytes:
    """Make a record with any bytes as title; by default its leader says MARC-8."""
    placeholder = "?" * len(title)
    content = make_marc([[("001", "n1"), ("245", "a", placeholder)]])
    content = content.replace(placeholder.encode(), title)
    return content[:9] + mark + content[10:]


@pytest.mark.parametrize(
    ("record", "title", "replaced"),
    [
        (make_record(b"Caf\xe2e"), "Café", 0),
        (make_record(b"\x1b(NOPT\x1b(B"), "опт", 0),
        (make_record("Café".encode()), "Café", 0),
        (make_record("Café".encode(), b"a"), "Café", 0),
        (make_record("Café".encode("latin-1"), b"a"), "Caf\ufffd", 1),
        (make_record(b"Plain"), "Plain", 0),
    ],
)
def test_marc8_and_utf8(tmp_path, record, title, replaced, capsys) -> None:
    ours, reading = read_instances(tmp_path / "a", "marc", record)
    assert ours[0].text == title
    assert reading.counts["records_not_in_utf8"] == replaced
    assert capsys.readouterr().err == ""


def test_bytes_between_records_are_skipped(tmp_path) -> None:
    content = b"\r\n" + make_record(b"one") + b"\n\n" + make_record(b"two") + b"\x1a\n"
    ours, _ = read_instances(tmp_path / "a", "marc", content)
    assert [each.text for each in ours] == ["one", "two"]


GOOD = make_record(b"Title")


def make_title_record(title) -> str:
    """Make a record of MARCXML with a title."""
    title_field = f"<datafield tag='245'><subfield code='a'>{title}</subfield></datafield>"
    return f"<record>{title_field}</record>"


def make_entity_bomb() -> bytes:
    """Make a record whose title is an entity of ten entities, each of ten entities, and so on."""
    entities = "<!ENTITY a0 'ha'>"
    for level in range(1, 12):
        parts = f"&a{level - 1};" * 10
        entities += f"<!ENTITY a{level} '{parts}'>"
    return f"<!DOCTYPE r [{entities}]>{make_title_record('&a11;')}".encode()


@pytest.mark.parametrize(
    ("kind", "content", "complaint"),
    [
        ("marc", GOOD + GOOD[:-5], "record 2 is damaged"),
        ("marc", GOOD + b"abcde" + GOOD, "record 2 is damaged"),
        ("marc", GOOD + b"00009" + GOOD, "record 2 is damaged"),
        ("marc", GOOD[:12] + b"99999" + GOOD[17:], "record 1 is damaged"),
        ("marc", GOOD[:25] + b"\xff" + GOOD[26:], "record 1 is damaged"),
        ("marc", b"", "has no records"),
        ("marc", make_marcxml(RECORDS), "record 1 is damaged"),
        ("marcxml", b"", "has no MARC records"),
        ("marcxml", GOOD, "line 1: not valid XML"),
        ("marcxml", b"<a>\n<b></a>", "line 2: not valid XML"),
        ("marcxml", b"<rss><record><title>x</title></record></rss>", "has no MARC records"),
        (
            "marcxml",
            b"<record>\n<controlfield>x</controlfield></record>",
            "line 2: a field or subfield has no tag",
        ),
        ("marcxml", b"<record><datafield tag='1'><subfield/></datafield></record>", "has no code"),
        ("marcxml", make_entity_bomb(), "not valid XML (limit on input amplification"),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(prepare, kind, content, complaint) -> None:
    said = prepare(content, [f"--format={kind}"]).said
    assert complaint in said
    assert "; export" in said
    assert said.count("\n") == 1


def test_entities_of_other_files_are_not_read(tmp_path) -> None:
    (tmp_path / "secret").write_text("secret")
    doctype = f"<!DOCTYPE r [<!ENTITY a SYSTEM '{tmp_path}/secret'>]>"
    content = doctype + make_title_record("x&a;y")
    ours, _ = read_instances(tmp_path / "a", "marcxml", content.encode())
    assert ours[0].text == "xy"


def test_what_is_no_field(prepare) -> None:
    said = prepare(GOOD, ["--text-column=title"], name="a.mrc").said
    remedy = "name fields such as 245, or subfields such as 650$a"
    assert f"'title' is not a field of MARC; {remedy}" in said


SUBJECTS = {
    "bees": ("Bees", BEES),
    "wax": ("Wax", WAX),
    "ants": ("Ants", "(local)7"),
    "plants": ("Plants", None),
}


def make_catalogue(n=10, heading="{}", *, identifiers=True) -> list[list[tuple]]:
    """Make n records of each subject, whose word is in the title.

    The name of the subject is in its heading, followed by its identifier if it has one.
    """
    records = []
    for number in range(n):
        for word, (name, identifier) in SUBJECTS.items():
            subject = ("650", "a", heading.format(name))
            if identifier and identifiers:
                subject += ("0", identifier)
            title = ("245", "a", f"{word} number{number}")
            records.append([("001", f"{word}{number}"), title, subject])
    return records


@pytest.fixture(params=["marc", "marcxml"])
def kind(request) -> str:
    """The format."""
    return request.param


@pytest.fixture
def prepare_catalogue(kind, prepare) -> Callable:
    """Prepare a catalogue with some options."""

    def prepare_with(options=()):
        content = WRITERS[kind](make_catalogue())
        return prepare(content, [f"--format={kind}", *ALL_WORDS, *options])

    return prepare_with


@pytest.fixture
def catalogue_model(prepare_catalogue, trained) -> Path:
    """A model of the catalogue."""
    return trained(prepare_catalogue().dataset)


@pytest.fixture
def new_records(tmp_path, kind) -> Path:
    """A record of each subject, of another catalogue that calls it by another name."""
    path = tmp_path / "new.data"
    path.write_bytes(WRITERS[kind](make_catalogue(1, "The {}.")))
    return path


def test_labels_have_the_identifiers_of_their_headings(prepare_catalogue) -> None:
    read = prepare_catalogue()
    assert "10 of 40 headings have no identifier ($0)" in read.said
    uris = dict(zip(read.dataset.label_names, read.dataset.label_uris, strict=True))
    assert uris == dict(SUBJECTS.values()) | {"Plants": ""}


def test_predictions_have_names_and_uris(kind, catalogue_model, new_records) -> None:
    answers = predict_answers(catalogue_model, new_records, f"--format={kind}", "--top-k=1")
    assert [answer["id"] for answer in answers] == [f"{word}0" for word in SUBJECTS]
    ours = []
    for answer in answers:
        [label] = answer["labels"]
        ours.append((label["name"], label.get("uri")))
    assert ours == list(SUBJECTS.values())


def test_uris_are_in_a_column_of_csv(kind, catalogue_model, new_records) -> None:
    output = ovaflow(
        "predict",
        catalogue_model,
        new_records,
        f"--format={kind}",
        "--joined=|",
        "--output-format=csv",
    )
    rows = csv.DictReader(output.splitlines())
    assert [row["uris"].count("|") for row in rows] == [3] * 4


def test_predicted_labels_are_excluded_by_uri_and_by_name(
    kind, catalogue_model, new_records
) -> None:
    answers = predict_answers(
        catalogue_model,
        new_records,
        f"--format={kind}",
        "--top-k=4",
        "--exclude",
        BEES,
        "--exclude=Plants",
    )
    names = list_label_values(answers, "name")
    assert [sorted(each) for each in names] == [["Ants", "Wax"]] * 4


def test_labels_of_another_catalogue_are_known_by_their_identifiers(
    kind, catalogue_model, new_records
) -> None:
    model = f"--model={catalogue_model}"
    ovaflow("evaluate", new_records, model, f"--format={kind}", "--output=out.json")
    metrics = json.loads(Path("out.json").read_text())["models"][0]["metrics"]
    # "The Plants" has no identifier, so nothing says that it is "Plants"; one of four records has
    # no known label
    assert (metrics["P@1"], metrics["unknown labels"]) == (0.75, 1)


def test_a_model_of_a_table_reads_records(prepare, trained) -> None:
    table = "text,labels\n"
    for number in range(10):
        for word in SUBJECTS:
            table += f"{word} number{number},{word}\n"
    model = trained(prepare(table, ALL_WORDS).dataset)
    Path("new.mrc").write_bytes(make_marc(make_catalogue(1)))
    names = list_label_values(predict_answers(model, "new.mrc", "--top-k=1"), "name")
    assert names == [[word] for word in SUBJECTS]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--exclude", BEES], ["Ants", "Plants", "Wax"]),
        (["--include", "http://id.example.org/*"], ["Bees", "Wax"]),
        (["--include=Plants", "--include=(local)7"], ["Ants", "Plants"]),
    ],
)
def test_labels_are_chosen_by_name_and_by_identifier(prepare_catalogue, options, kept) -> None:
    assert prepare_catalogue(options).found[0] == kept


def test_labels_are_renamed_by_name(prepare_catalogue) -> None:
    Path("map.csv").write_text("Bees,Insects\nAnts,Insects\n")
    names = prepare_catalogue(["--label-map=map.csv"]).dataset.names
    assert list(names.labels) == ["Insects", "Plants", "Wax"]
    assert list(names.uris) == ["", "", WAX]


def test_a_vocabulary_names_subjects_by_their_uris(prepare_catalogue) -> None:
    Path("v.tsv").write_text(
        f"<{BEES}>\tMehiläiset\n<{WAX}>\tVaha\n<http://id.example.org/p>\tPlants\n"
    )
    read = prepare_catalogue(["--vocabulary=v.tsv"])
    assert read.found == (["Mehiläiset", "Plants", "Vaha"], 40, 30)
    assert "10 subjects of instances are not in the vocabulary" in read.said


def test_what_is_left_out_of_a_vocabulary_is_no_label_of_the_same_name(prepare_catalogue) -> None:
    Path("v.tsv").write_text(f"<{BEES}>\tApis\n<{WAX}>\tBees\n")
    read = prepare_catalogue(["--vocabulary=v.tsv", "--exclude", BEES, "--no-label-names"])
    assert read.found == (["Bees"], 40, 10)
    assert "1 labels are left out by include and exclude, 10 times in instances" in read.said


def test_a_catalogue_without_identifiers_is_not_remarked_on(prepare) -> None:
    content = make_marc(make_catalogue(identifiers=False))
    read = prepare(content, ALL_WORDS, name="a.mrc")
    assert "identifier ($0):" not in read.said
    assert read.found[0] == ["Ants", "Bees", "Plants", "Wax"]
    assert len(read.dataset.label_uris) == 0
