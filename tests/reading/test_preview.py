"""Files as people have them, through ``ovaflow prepare``: read right, refused or remarked on;
advice is followed.
"""

import csv
import io
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

TOPICS = ["Science Fiction", "Drama", "Action", "Comedy", "Film noir", "Western"]
WORDS = [
    "river",
    "stone",
    "lamp",
    "paper",
    "engine",
    "harbour",
    "violin",
    "cloud",
    "garden",
    "winter",
    "market",
]
DRAW = random.Random(5)
RECORDS = [
    (" ".join(DRAW.choices(WORDS, k=6)) + f" w{n}", DRAW.sample(TOPICS, DRAW.choice([1, 2, 2, 3])))
    for n in range(120)
]
TEXTS = [text for text, _ in RECORDS]
LISTS = [labels for _, labels in RECORDS]
N_POSITIVES = sum(map(len, LISTS))
ALL = sorted(TOPICS), len(RECORDS), N_POSITIVES
IDS = list("012345"), len(RECORDS), N_POSITIVES
FLAGS = [[int(topic in labels) for topic in TOPICS] for labels in LISTS]
ONE_HOT = f"--labels-column={','.join(TOPICS)}"
BAR, SEMICOLON, SPACE = (f"--label-separator={mark}" for mark in "|; ")


def make_table(rows, header=("text", "labels"), **dialect):
    buffer = io.StringIO()
    csv.writer(buffer, **{"lineterminator": "\n"} | dialect).writerows([header, *rows])
    return buffer.getvalue()


def make_label_table(write, lists=LISTS, **dialect):
    """A table whose labels are written somehow."""
    return make_table(zip(TEXTS, map(write, lists), strict=False), **dialect)


def make_flag_table(write, rows=FLAGS):
    """A table with a column for each label."""
    return make_table(
        [(text, *map(write, row)) for text, row in zip(TEXTS, rows, strict=False)],
        ("text", *TOPICS),
    )


def join_by(mark):
    return lambda labels: mark.join(map(str, labels))


def make_json_lines(lists):
    return "".join(
        json.dumps({"text": text, "labels": each}) + "\n"
        for text, each in zip(TEXTS, lists, strict=True)
    )


def make_tsv(*columns):
    return "".join("\t".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


NUMBERS = [[TOPICS.index(label) for label in labels] for labels in LISTS]
FROM_1 = [[number + 1 for number in numbers] for numbers in NUMBERS]
NAMES = "--labels=names.txt"
TSV = ["--format=text-tsv"]
JSONL = ["--format=jsonl"]
WHOLE = "--label-separator=none"
COMMAS = [",".join(labels) for labels in LISTS]
OBJECTS = [[{"id": TOPICS.index(label), "name": label} for label in labels] for labels in LISTS]
BARS = make_label_table(join_by("|"))


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (make_label_table(lambda labels: json.dumps(dict(enumerate(labels)))), []),
        (make_label_table(join_by(" ; ")), [SEMICOLON]),
        (make_label_table(join_by("\n")), [r"--label-separator=\n"]),
        (BARS.encode("utf-16"), [BAR]),
        (BARS.encode("utf-32"), [BAR]),
        # the mark of UTF-8 says more than a setting for many files
        (BARS.encode("utf-8-sig"), [BAR, "--encoding=windows-1252"]),
        (make_flag_table(float), [ONE_HOT]),
        (make_flag_table("x".__mul__), [ONE_HOT]),
        (make_flag_table(str, np.where(FLAGS, TOPICS, "")), [ONE_HOT]),
        (make_json_lines(OBJECTS), JSONL),
    ],
)
def test_six_labels_whatever_way_they_are_written(prepare, content, options) -> None:
    read = prepare(content, *options)
    assert read.found == ALL, read.said


def write_names(names=TOPICS) -> None:
    Path("names.txt").write_text("\n".join(names))


@pytest.mark.parametrize("n", [2, 6])
def test_multi_hot_lists(prepare, n) -> None:
    write_names(TOPICS[:n])
    content = make_label_table(str, [row[:n] for row in FLAGS])
    positives = sum(sum(row[:n]) for row in FLAGS)
    read = prepare(content)
    assert read.found == (IDS[0][:n], 120, positives)
    assert "truth values, by their places" in read.said
    assert prepare(content, NAMES).found == (TOPICS[:n], 120, positives)


@pytest.mark.parametrize(
    ("yes", "no", "said"),
    [
        ("oui", "non", "oui"),
        (-1, 0, "-1"),
        (1, -1, "-1"),
        (0.7, 0.0, "0.7"),
        (3, 0, "3"),
        (2, "", "2"),
    ],
)
def test_columns_of_something_else_than_yes_and_no_are_refused(advised, yes, no, said) -> None:
    several = [row for row in FLAGS if sum(row) > 1]
    content, new = (make_flag_table(write, several) for write in ([no, yes].__getitem__, str))
    read = advised(content, [ONE_HOT], f", such as {said}", new=new)
    assert read.found[0] == sorted(TOPICS)
    advised(content, [ONE_HOT], "neither yes nor no; write 1 where", new=new)


def test_columns_of_ids_are_ids(prepare) -> None:
    rows = [
        (text, *map(TOPICS.index, labels), *[""] * (3 - len(labels))) for text, labels in RECORDS
    ]
    assert prepare(make_table(rows, ("text", "a", "b", "c")), "--labels-column=a,b,c").found == IDS


@pytest.mark.parametrize("mark", [" ", "\n", "/", "&", " & ", "#", ":", ";", ",", "|", "||"])
def test_separators_that_are_advised(prepare, mark) -> None:
    content = make_label_table(
        join_by(mark), [[label.replace(" ", "-") for label in labels] for labels in LISTS]
    )
    read = prepare(content, f"--label-separator={';' if mark == ',' else ','}")
    advice = re.search(r'set label_separator: "(.*?)"', read.said)[1]
    assert read.dataset is None
    assert f'label_separator: "{advice}" gives 6 labels' in read.said
    labels, *counts = prepare(content, f"--label-separator={advice}").found
    assert (len(labels), *counts) == (6, 120, N_POSITIVES)
    assert (mark.strip() or " ") in max(
        prepare(content, "--label-separator=none").found[0], key=len
    )


def test_one_row_per_label_without_ids(advised, prepare) -> None:
    rows = sorted(
        ((text, label) for text, labels in RECORDS for label in labels), key=lambda row: row[1]
    )
    assert prepare(make_table(rows)).found[1:] == (N_POSITIVES, N_POSITIVES)
    read = advised(
        make_table(rows), (), "repeated: join makes one record of each", "--repeated=join"
    )
    assert read.found == ALL
    assert f"{N_POSITIVES - 120:,} records are joined" in read.said
    assert "repeated: " not in read.said


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        (
            "id text labels",
            "cut -f 2- old.tsv > new.tsv), or write a header line and read it with format: csv",
        ),
        (
            "text labels id",
            "write a header line with a name for each field and read it with format: csv",
        ),
        (
            "text labels",
            "exchange the fields, or write a header line (text, labels) "
            "and read it with format: csv",
        ),
    ],
)
def test_fields_in_another_order(advised, header, advice) -> None:
    columns = {"id": [f"r{n}" for n in range(120)], "text": TEXTS, "labels": COMMAS}
    content = make_tsv(*map(columns.get, header.split()))
    new = header.replace(" ", "\t") + f"\n{content}"
    assert advised(content, TSV, advice, "--format=csv", new=new).found == ALL


def test_one_of_several_files_in_another_order(prepare) -> None:
    Path("1.tsv").write_text(make_tsv(COMMAS, TEXTS))
    Path("2.tsv").write_text(make_tsv(TEXTS, COMMAS))
    assert "2.tsv, line 1: expected labels, a tab" in prepare(Path("*.tsv"), *TSV).said


def test_names_where_ids_should_be(prepare) -> None:
    write_names()
    assert (
        "leave out the file of label names" in prepare(make_label_table(join_by(",")), NAMES).said
    )
    without_last = make_label_table(
        join_by(","), [[number for number in numbers if number < 6] for numbers in FROM_1]
    )
    advice = (
        "no training instance has the id 0, 'Science Fiction': "
        "if ids are counted from 1, set first_label: 1"
    )
    assert advice in prepare(without_last, NAMES).said


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("more", ["", " and more" * 6])
def test_no_header(prepare, delimiter, more) -> None:
    # commas make fewer columns than another separator would
    rows = [
        (text + more, "|".join(labels))
        for text, labels in sorted(RECORDS, key=lambda record: -len(record[1]))
    ]
    content = make_table(rows, delimiter=delimiter).partition("\n")[2]
    above = f"text{delimiter}labels"
    assert f"(echo '{above}'; ".replace("\t", " ") in prepare(content, BAR).said
    assert prepare(f"{above}\n{content}", BAR).found == ALL


@pytest.mark.parametrize(
    ("delimiter", "separator"), [(",", ";"), (";", ","), ("\t", ";"), ("|", ";")]
)
@pytest.mark.parametrize("last", [4, 5, 9, 90, None])
def test_quotes_that_swallow_records(advised, delimiter, separator, last) -> None:
    """A quote begins a text, and one ends a later text."""
    texts = ['"' * (n == 3) + text + '"' * (n == last) for n, text in enumerate(TEXTS)]
    rows = zip(map(str, range(120)), texts, map(join_by(separator), LISTS), strict=True)
    content = "".join(delimiter.join(row) + "\n" for row in [("id", "text", "labels"), *rows])
    read = advised(content, [f"--label-separator={separator}"], "quotes: none", "--quotes=none")
    assert read.found == ALL
    assert "quotes:" not in read.said


def make_repeated_table():
    """Two versions of each record, with the same id."""
    rows = [
        (n // 2, TEXTS[n // 2] + " again" * (n % 2), LISTS[n // 2][0] * (n % 2 + 1))
        for n in range(240)
    ]
    return make_table(rows, ("id", "text", "labels"))


SENTENCES = [f"Fees of {word}, {DRAW.choice(WORDS)} and the like" for word in WORDS * 3] * 4
BRACKETS = [f'["{labels[0]}" and more] {labels[0]}' for labels in LISTS]
TITLES = [[{"name": "x", "title": label} for label in labels] for labels in LISTS]
NUMBERED = [[{"id": number} for number in numbers] for numbers in NUMBERS]
LONG = [text.replace(" ", ",\n" if n % 3 else "\n") for n, text in enumerate(TEXTS)]
QUOTED = [text.replace(" ", '" ', 1) for text in TEXTS]
ESCAPED = make_table(
    zip(QUOTED, COMMAS, strict=True), quoting=csv.QUOTE_ALL, doublequote=False, escapechar="\\"
)
LATER = sorted(2 * topic for topic in TOPICS), 120, 120
NAMED = TOPICS, *ALL[1:]
SPANNING = ['"' * (n == 3) + text + '"' * (n == 5) for n, text in enumerate(TEXTS)]
SWALLOWED = (
    "line 5: a quote opened here closes 2 lines later, "
    "and these lines look like records; set quotes: none"
)
FROM_0 = "label '6' is not an id from 0 to 5; if ids are counted from 1, set first_label: 1"


@pytest.mark.parametrize(
    ("content", "options", "advice", "setting", "found"),
    [
        (
            make_label_table(str, SENTENCES),
            [],
            "remark: labels seem to be sentences that",
            WHOLE,
            (sorted({*SENTENCES}), 120, 120),
        ),
        (
            make_label_table(str, BRACKETS),
            [],
            "set label_separator: none if it is a name",
            WHOLE,
            (sorted({*BRACKETS}), 120, 120),
        ),
        (
            make_json_lines(TITLES),
            JSONL,
            "set label_key to one of 'name', 'title'",
            "--label-key=title",
            ALL,
        ),
        (
            make_json_lines(NUMBERED),
            JSONL,
            "set label_key to the key of the name",
            "--label-key=id",
            IDS,
        ),
        (
            make_repeated_table(),
            [],
            "repeated: last keeps the last record",
            "--repeated=last",
            LATER,
        ),
        (
            "text\tlabels\n" + make_tsv(TEXTS, COMMAS),
            TSV,
            "read it with format: csv",
            "--format=csv",
            ALL,
        ),
        (
            make_table(zip(LONG, COMMAS, strict=True)),
            [],
            "quotes: double if this is one text",
            "--quotes=double",
            ALL,
        ),
        ("text\tlabels\n" + make_tsv(SPANNING, COMMAS), [], SWALLOWED, "--quotes=none", ALL),
        (ESCAPED, [], 'or set quotes: backslash if \\" is a quote\n', "--quotes=backslash", ALL),
        (make_label_table(join_by(","), FROM_1), [NAMES], FROM_0, "--first-label=1", NAMED),
        (
            make_label_table(join_by(","), NUMBERS),
            [NAMES, "--first-label=1"],
            "set first_label: 0",
            "--first-label=0",
            NAMED,
        ),
        (
            make_label_table(join_by(" "), NUMBERS),
            [NAMES],
            'if it is several ids, set label_separator: " "',
            SPACE,
            NAMED,
        ),
    ],
)
def test_advice(advised, content, options, advice, setting, found) -> None:
    write_names()
    read = advised(content, options, advice, setting)
    assert read.found == found
    assert advice not in read.said
    assert "first_label" not in read.said


@pytest.mark.parametrize(
    ("word", "encoding", "said"),
    [
        ("Comédie", "windows-1252", "set encoding: windows-1252"),
        ("Œuvres – théâtre €", "windows-1252", "set encoding: windows-1252"),
        ("戏剧", "gb18030", "such as windows-1251, gb18030"),
        ("Драма", "windows-1251", "such as windows-1251"),
        ("Comédie", "utf-16-be", "set encoding: utf-16-be"),
    ],
)
def test_encodings(advised, word, encoding, said) -> None:
    content = BARS.replace("Drama", word).encode(encoding)
    labels, *counts = advised(content, [BAR], said, f"--encoding={encoding}").found
    assert (word in labels, *counts) == (True, 120, N_POSITIVES)


@pytest.mark.parametrize(
    "word", ["nan", "NaN", "None", "NULL", "null", "N/A", "n/a", "#N/A", "-", "<NA>", "NaT"]
)
def test_words_for_nothing(prepare, word) -> None:
    texts = [word if n % 4 == 1 else text for n, text in enumerate(TEXTS)]
    content = make_table(
        zip(texts, [word if n % 4 == 0 else each for n, each in enumerate(COMMAS)], strict=True)
    )
    read = prepare(content)
    assert read.found[0] == sorted(TOPICS)
    assert "30 labels are words for nothing" in read.said
    assert "30 cells of texts are words for nothing" in read.said
    for nothing in ("[]", "other"):
        read = prepare(content, f"--missing={nothing}")
        assert word in read.found[0]
        assert "for nothing" not in read.said


def test_columns_that_a_part_of_the_files_lacks(prepare) -> None:
    Path("1.csv").write_text(make_label_table(join_by(",")))
    for content, said in (
        (make_table([(text,) for text in TEXTS], ("text",)), "2.csv, line 1: no column 'labels'"),
        (
            make_label_table(join_by(",")).partition("\n")[2],
            "2.csv, line 1: no column 'text', 'labels'",
        ),
    ):
        Path("2.csv").write_text(content)
        assert said in prepare(Path("*.csv")).said
    Path("2.csv").write_text(make_table(zip(COMMAS, TEXTS, strict=True), ("labels", "text")))
    assert prepare(Path("*.csv")).found == (ALL[0], 240, 2 * N_POSITIVES)
