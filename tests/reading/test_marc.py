"""Library records, binary and as XML; and what is made of their headings."""

import csv
import json
import re
from pathlib import Path

import pytest
from commands import list_label_values, ovaflow, predict_answers
from marc_records import make_marc, make_marcxml

from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import IdentifiedNames, Reading
from ovaflow.reading.streams import RecordFile

ALL_WORDS = ("--min-df=1", "--max-df=1.0")
BEES = "http://id.example.org/bees"
WAX = "http://id.example.org/wax"


WRITERS = {
    "marc": make_marc,
    "marcxml": make_marcxml,
    "marcxml without namespace": lambda records: make_marcxml(records, b""),
    "marcxml with a prefix": lambda records: re.sub(
        b"<(/?)", rb"<\1m:", make_marcxml(records)
    ).replace(b"xmlns", b"xmlns:m"),
    "marcxml in an answer of OAI-PMH": lambda records: make_marcxml(
        records, b"", b"<record><header/><metadata>%b</metadata></record>"
    ),
}


def read_instances(path, kind, content, **settings):
    path.write_bytes(content)
    reading = Reading(
        **{"texts": ["245", "246", "520", "505"], "labels": ["650", "655"]} | settings
    )
    return list(FORMATS[kind.split()[0]].read(RecordFile(path), reading)), reading


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
    ours, _ = read_instances(
        tmp_path / "a", "marc", make_marc([[person, ("600", "a", "Twain, M.")]]), labels=["600"]
    )
    assert ours[0].labels == ("Smith, J., 1835-1910 -- Letters", "Twain, M.")


def made(title, mark=b" "):
    """A record whose leader says MARC-8, with any bytes."""
    content = make_marc([[("001", "n1"), ("245", "a", "?" * len(title))]]).replace(
        b"?" * len(title), title
    )
    return content[:9] + mark + content[10:]


@pytest.mark.parametrize(
    ("record", "title", "replaced"),
    [
        (made(b"Caf\xe2e"), "Café", 0),
        (made(b"\x1b(NOPT\x1b(B"), "опт", 0),
        (made("Café".encode()), "Café", 0),
        (made("Café".encode(), b"a"), "Café", 0),
        (made("Café".encode("latin-1"), b"a"), "Caf\ufffd", 1),
        (made(b"Plain"), "Plain", 0),
    ],
)
def test_marc8_and_utf8(tmp_path, record, title, replaced, capsys) -> None:
    ours, reading = read_instances(tmp_path / "a", "marc", record)
    assert ours[0].text == title
    assert reading.counts["records_not_in_utf8"] == replaced
    assert capsys.readouterr().err == ""


def test_what_stands_between_records(tmp_path) -> None:
    content = b"\r\n" + made(b"one") + b"\n\n" + made(b"two") + b"\x1a\n"
    ours, _ = read_instances(tmp_path / "a", "marc", content)
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
        ("marcxml", BOMB.encode(), "not valid XML (limit on input amplification"),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(prepare, kind, content, complaint) -> None:
    said = prepare(content, f"--format={kind}").said
    assert complaint in said
    assert "; export" in said
    assert said.count("\n") == 1


def test_entities_of_other_files_are_not_read(tmp_path) -> None:
    (tmp_path / "secret").write_text("secret")
    start = f"<!DOCTYPE r [<!ENTITY a SYSTEM '{tmp_path}/secret'>]>"
    content = (
        start
        + "<record><datafield tag='245'><subfield code='a'>x&a;y</subfield></datafield></record>"
    )
    ours, _ = read_instances(tmp_path / "a", "marcxml", content.encode())
    assert ours[0].text == "xy"


def test_what_is_no_field(prepare) -> None:
    said = prepare(GOOD, "--text-column=title", name="a.mrc").said
    assert (
        "'title' is not a field of MARC; name fields such as 245, or subfields such as 650$a"
        in said
    )


SUBJECTS = {
    "bees": ("Bees", BEES),
    "wax": ("Wax", WAX),
    "ants": ("Ants", "(local)7"),
    "plants": ("Plants", None),
}


def catalogue(n=10, names=str):
    """Records of one subject each, a word of which tells it."""
    records = []
    for i in range(n):
        for word, (name, identifier) in SUBJECTS.items():
            heading = ("650", "a", names(name), *(["0", identifier] if identifier else []))
            records.append([("001", f"{word}{i}"), ("245", "a", f"{word} number{i}"), heading])
    return records


@pytest.fixture(params=["marc", "marcxml"])
def kind(request):
    return request.param


@pytest.fixture
def prepared(kind, prepare):
    """Prepares a catalogue with options."""
    return lambda *options: prepare(
        WRITERS[kind](catalogue()), f"--format={kind}", *ALL_WORDS, *options
    )


def test_predictions_have_names_and_uris(kind, prepared, trained) -> None:
    read = prepared()
    assert "10 of 40 headings have no identifier ($0)" in read.said
    uris = dict(zip(read.dataset.label_names, read.dataset.label_uris, strict=True))
    assert uris == dict(SUBJECTS.values()) | {"Plants": ""}
    model = trained(read.dataset)
    asked = Path("new.data")
    # others call the same subject by another name
    asked.write_bytes(WRITERS[kind](catalogue(1, "The {}.".format)))
    given = model, asked, f"--format={kind}"
    found = predict_answers(*given, "--top-k=1")
    assert [answer["id"] for answer in found] == [f"{word}0" for word in SUBJECTS]
    assert [
        (label["name"], label.get("uri")) for answer in found for label in answer["labels"]
    ] == [*SUBJECTS.values()]
    rows = csv.DictReader(
        ovaflow("predict", *given, "--joined=|", "--output-format=csv").splitlines()
    )
    assert [row["uris"].count("|") for row in rows] == [3] * 4
    left = list_label_values(
        predict_answers(*given, "--top-k=4", "--exclude", BEES, "--exclude=Plants"), "name"
    )
    assert list(map(sorted, left)) == [["Ants", "Wax"]] * 4
    ovaflow("evaluate", asked, f"--model={model}", f"--format={kind}", "--output=out.json")
    metrics = json.loads(Path("out.json").read_text())["models"][0]["metrics"]
    # "The Plants" has no identifier, so nothing says that it is "Plants"; one of four records has
    # no known label
    assert (metrics["P@1"], metrics["unknown labels"]) == (0.75, 1)


def test_a_model_of_a_table_reads_records(prepare, trained) -> None:
    rows = "".join(f"{word} number{i},{word}\n" for i in range(10) for word in SUBJECTS)
    model = trained(prepare(f"text,labels\n{rows}", *ALL_WORDS).dataset)
    Path("new.mrc").write_bytes(make_marc(catalogue(1)))
    assert list_label_values(predict_answers(model, "new.mrc", "--top-k=1"), "name") == [
        [word] for word in SUBJECTS
    ]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--exclude", BEES], ["Ants", "Plants", "Wax"]),
        (["--include", "http://id.example.org/*"], ["Bees", "Wax"]),
        (["--include=Plants", "--include=(local)7"], ["Ants", "Plants"]),
    ],
)
def test_labels_are_chosen_by_name_and_by_identifier(prepared, options, kept) -> None:
    assert prepared(*options).found[0] == kept


def test_labels_are_renamed_by_name(prepared) -> None:
    Path("map.csv").write_text("Bees,Insects\nAnts,Insects\n")
    names = prepared("--label-map=map.csv").dataset.names
    assert (names.labels[:], names.uris[:]) == (["Insects", "Plants", "Wax"], ["", "", WAX])


def test_a_vocabulary_names_subjects_by_their_uris(prepared) -> None:
    Path("v.tsv").write_text(
        f"<{BEES}>\tMehiläiset\n<{WAX}>\tVaha\n<http://id.example.org/p>\tPlants\n"
    )
    read = prepared("--vocabulary=v.tsv")
    assert read.found == (["Mehiläiset", "Plants", "Vaha"], 40, 30)
    assert "10 subjects of instances are not in the vocabulary" in read.said


def test_what_is_left_out_of_a_vocabulary_is_no_label_of_the_same_name(prepared) -> None:
    Path("v.tsv").write_text(f"<{BEES}>\tApis\n<{WAX}>\tBees\n")
    read = prepared("--vocabulary=v.tsv", "--exclude", BEES, "--no-label-names")
    assert read.found == (["Bees"], 40, 10)
    assert "1 labels are left out by include and exclude, 10 times in instances" in read.said


def test_a_catalogue_without_identifiers_is_not_remarked_on(prepare) -> None:
    bare = [
        [field[:3] if field[0] == "650" else field for field in fields] for fields in catalogue()
    ]
    read = prepare(make_marc(bare), *ALL_WORDS, name="a.mrc")
    assert "identifier ($0):" not in read.said
    assert read.found[0] == ["Ants", "Bees", "Plants", "Wax"]
    assert len(read.dataset.label_uris) == 0
