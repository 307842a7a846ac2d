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
from following import follow_command

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


def draw_record(number) -> tuple[str, list[str]]:
    """Draw a text of its own words, and one to three topics."""
    words = " ".join(DRAW.choices(WORDS, k=6))
    n_topics = DRAW.choice([1, 2, 2, 3])
    return f"{words} w{number}", DRAW.sample(TOPICS, n_topics)


RECORDS = [draw_record(number) for number in range(120)]
TEXTS = [text for text, _ in RECORDS]
LISTS = [labels for _, labels in RECORDS]
N_POSITIVES = sum(len(labels) for labels in LISTS)
ALL = sorted(TOPICS), len(RECORDS), N_POSITIVES
IDS = list("012345"), len(RECORDS), N_POSITIVES


def make_flags(labels) -> list[int]:
    return [int(topic in labels) for topic in TOPICS]


FLAGS = [make_flags(labels) for labels in LISTS]
ONE_HOT = f"--labels-column={','.join(TOPICS)}"
BAR = "--label-separator=|"
SEMICOLON = "--label-separator=;"
SPACE = "--label-separator= "


def make_table(rows, header=("text", "labels"), **dialect) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, **{"lineterminator": "\n"} | dialect).writerows([header, *rows])
    return buffer.getvalue()


def make_label_table(write_labels, lists=LISTS) -> str:
    """Make a table whose labels a function writes."""
    rows = []
    for text, labels in zip(TEXTS, lists, strict=False):
        rows.append((text, write_labels(labels)))
    return make_table(rows)


def make_flag_table(write_flag, flags=FLAGS) -> str:
    """Make a table with a column for each label, whose cells a function writes."""
    rows = []
    for text, flags_of_text in zip(TEXTS, flags, strict=False):
        rows.append((text, *(write_flag(flag) for flag in flags_of_text)))
    return make_table(rows, ("text", *TOPICS))


def join_by(mark):
    """Make a function that joins labels by a mark."""
    return lambda labels: mark.join(str(label) for label in labels)


def make_json_lines(lists) -> str:
    lines = ""
    for text, labels in zip(TEXTS, lists, strict=True):
        lines += json.dumps({"text": text, "labels": labels}) + "\n"
    return lines


def make_tsv(columns) -> str:
    lines = ""
    for row in zip(*columns, strict=True):
        lines += "\t".join(row) + "\n"
    return lines


def list_ids(labels) -> list[int]:
    return [TOPICS.index(label) for label in labels]


def count_from_1(labels) -> list[int]:
    return [number + 1 for number in list_ids(labels)]


def make_objects(labels) -> list[dict]:
    return [{"id": TOPICS.index(label), "name": label} for label in labels]


NUMBERS = [list_ids(labels) for labels in LISTS]
FROM_1 = [count_from_1(labels) for labels in LISTS]
NAMES = "--labels=names.txt"
TSV = ["--format=text-tsv"]
JSONL = ["--format=jsonl"]
WHOLE = "--label-separator=none"
COMMAS = [",".join(labels) for labels in LISTS]
OBJECTS = [make_objects(labels) for labels in LISTS]
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
    read = prepare(content, options)
    assert read.found == ALL, read.said


def write_names(names=TOPICS) -> None:
    """Write the file that the option ``NAMES`` gives."""
    Path("names.txt").write_text("\n".join(names))


@pytest.mark.parametrize("n", [2, 6])
def test_multi_hot_lists(prepare, n) -> None:
    write_names(TOPICS[:n])
    flags = [row[:n] for row in FLAGS]
    n_positives = sum(sum(row) for row in flags)
    content = make_label_table(str, flags)
    read = prepare(content)
    assert read.found == (IDS[0][:n], 120, n_positives)
    assert "truth values, by their places" in read.said
    assert prepare(content, [NAMES]).found == (TOPICS[:n], 120, n_positives)


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
def test_columns_of_something_else_than_yes_and_no_are_refused(prepare, yes, no, said) -> None:
    several = [row for row in FLAGS if sum(row) > 1]
    content = make_flag_table([no, yes].__getitem__, several)
    assert f", such as {said}" in prepare(content, [ONE_HOT]).said
    assert "neither yes nor no; write 1 where" in prepare(content, [ONE_HOT]).said
    as_advised = make_flag_table(str, several)
    assert prepare(as_advised, [ONE_HOT]).found[0] == sorted(TOPICS)


def test_columns_of_ids_are_ids(prepare) -> None:
    rows = []
    for text, labels in RECORDS:
        empty = [""] * (3 - len(labels))
        rows.append([text, *list_ids(labels), *empty])
    content = make_table(rows, ("text", "a", "b", "c"))
    assert prepare(content, ["--labels-column=a,b,c"]).found == IDS


@pytest.mark.parametrize("mark", [" ", "\n", "/", "&", " & ", "#", ":", ";", ",", "|", "||"])
def test_separators_that_are_advised(prepare, mark) -> None:
    one_word_names = [[label.replace(" ", "-") for label in labels] for labels in LISTS]
    content = make_label_table(join_by(mark), one_word_names)
    wrong = ";" if mark == "," else ","
    read = prepare(content, [f"--label-separator={wrong}"])
    advice = re.search(r'set label_separator: "(.*?)"', read.said)[1]
    assert read.dataset is None
    assert f'label_separator: "{advice}" gives 6 labels' in read.said
    labels, *counts = prepare(content, [f"--label-separator={advice}"]).found
    assert (len(labels), *counts) == (6, 120, N_POSITIVES)
    cells = prepare(content, [WHOLE]).found[0]
    assert (mark.strip() or " ") in max(cells, key=len)


def test_one_row_per_label_without_ids(advised, prepare) -> None:
    rows = []
    for text, labels in RECORDS:
        rows += [(text, label) for label in labels]
    content = make_table(sorted(rows, key=lambda row: row[1]))
    assert prepare(content).found[1:] == (N_POSITIVES, N_POSITIVES)
    read = advised(content, [], "repeated: join makes one record of each", "--repeated=join")
    assert read.found == ALL
    assert f"{N_POSITIVES - 120:,} records are joined" in read.said
    assert "repeated: " not in read.said


RECORD_IDS = [f"r{number}" for number in range(120)]


@pytest.mark.parametrize(
    ("header", "columns", "advice"),
    [
        (
            "id\ttext\tlabels\n",
            [RECORD_IDS, TEXTS, COMMAS],
            "cut -f 2- old.tsv > new.tsv), or read it with format: csv, below a header line",
        ),
        (
            "text\tlabels\tid\n",
            [TEXTS, COMMAS, RECORD_IDS],
            "read it with format: csv, below a header line with a name for each field",
        ),
        (
            "text\tlabels\n",
            [TEXTS, COMMAS],
            "exchange the fields, or read it with format: csv, below a header line (text, labels)",
        ),
    ],
)
def test_fields_in_another_order(advised, header, columns, advice) -> None:
    content = make_tsv(columns)
    read = advised(content, TSV, advice, "--format=csv", new=header + content)
    assert read.found == ALL


def test_one_of_several_files_in_another_order(prepare) -> None:
    Path("1.tsv").write_text(make_tsv([COMMAS, TEXTS]))
    Path("2.tsv").write_text(make_tsv([TEXTS, COMMAS]))
    assert "2.tsv, line 1: expected labels, a tab" in prepare(Path("*.tsv"), TSV).said


def test_names_where_ids_should_be(prepare) -> None:
    write_names()
    said = prepare(make_label_table(join_by(",")), [NAMES]).said
    assert "leave out the file of label names" in said


def test_ids_that_may_be_counted_from_1(prepare) -> None:
    write_names()
    without_last = [[number for number in numbers if number < 6] for numbers in FROM_1]
    said = prepare(make_label_table(join_by(","), without_last), [NAMES]).said
    advice = "if ids are counted from 1, set first_label: 1"
    assert f"no training instance has the id 0, 'Science Fiction': {advice}" in said


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("more", ["", " and more" * 6])
def test_no_header(prepare, tmp_path, delimiter, more) -> None:
    # commas make fewer columns than another separator would
    rows = []
    for text, labels in sorted(RECORDS, key=lambda record: -len(record[1])):
        rows.append((text + more, "|".join(labels)))
    content = make_table(rows, delimiter=delimiter).partition("\n")[2]
    (tmp_path / "records.csv").write_text(content)
    said = prepare(tmp_path / "records.csv", [BAR]).said
    new = follow_command(said, tmp_path / "records.csv")
    assert new.read_text() == f"text{delimiter}labels\n{content}"
    assert prepare(new, [BAR]).found == ALL


def quote_texts(first, last) -> list[str]:
    """Begin a text with a quote, and end a later one, or none, with another."""
    texts = list(TEXTS)
    texts[first] = '"' + texts[first]
    if last is not None:
        texts[last] += '"'
    return texts


@pytest.mark.parametrize(
    ("delimiter", "separator"), [(",", ";"), (";", ","), ("\t", ";"), ("|", ";")]
)
@pytest.mark.parametrize("last", [4, 5, 9, 90, None])
def test_quotes_that_swallow_records(advised, delimiter, separator, last) -> None:
    """A quote begins a text, and one ends a later text."""
    content = delimiter.join(["id", "text", "labels"]) + "\n"
    for number, text in enumerate(quote_texts(3, last)):
        labels = separator.join(LISTS[number])
        content += delimiter.join([str(number), text, labels]) + "\n"
    read = advised(content, [f"--label-separator={separator}"], "quotes: none", "--quotes=none")
    assert read.found == ALL
    assert "quotes:" not in read.said


def make_repeated_table() -> str:
    """Make a table of two versions of each record, with the same id."""
    rows = []
    for number, (text, labels) in enumerate(RECORDS):
        rows.append((number, text, labels[0]))
        rows.append((number, f"{text} again", labels[0] * 2))
    return make_table(rows, ("id", "text", "labels"))


def break_words(number, text) -> str:
    """Put each word on a line of its own, two thirds of the texts with commas before."""
    return text.replace(" ", ",\n" if number % 3 else "\n")


SENTENCES = [f"Fees of {word}, {DRAW.choice(WORDS)} and the like" for word in WORDS * 3] * 4
BRACKETS = [f'["{labels[0]}" and more] {labels[0]}' for labels in LISTS]
TITLES = [[{"name": "x", "title": label} for label in labels] for labels in LISTS]
NUMBERED = [[{"id": number} for number in numbers] for numbers in NUMBERS]
LONG = [break_words(number, text) for number, text in enumerate(TEXTS)]
QUOTED = [text.replace(" ", '" ', 1) for text in TEXTS]
ESCAPED = make_table(
    zip(QUOTED, COMMAS, strict=True), quoting=csv.QUOTE_ALL, doublequote=False, escapechar="\\"
)
LATER = sorted(2 * topic for topic in TOPICS), 120, 120
NAMED = TOPICS, *ALL[1:]
SPANNING = quote_texts(3, 5)
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
            "set label_key to the key that has the name, one of 'name', 'title'",
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
            make_flag_table(lambda flag: 0.77 if flag else 0.24),
            [ONE_HOT],
            "or set label_threshold to the least value of labels that are meant",
            "--label-threshold=0.5",
            ALL,
        ),
        (
            make_repeated_table(),
            [],
            "repeated: last keeps the last record",
            "--repeated=last",
            LATER,
        ),
        (
            "text\tlabels\n" + make_tsv([TEXTS, COMMAS]),
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
        ("text\tlabels\n" + make_tsv([SPANNING, COMMAS]), [], SWALLOWED, "--quotes=none", ALL),
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
    texts = list(TEXTS)
    texts[1::4] = [word] * 30
    labels = list(COMMAS)
    labels[0::4] = [word] * 30
    content = make_table(zip(texts, labels, strict=True))
    read = prepare(content)
    assert read.found[0] == sorted(TOPICS)
    assert "30 labels are words for an empty cell" in read.said
    assert "30 cells of texts hold a word for an empty cell" in read.said
    for nothing in ("[]", "other"):
        read = prepare(content, [f"--missing={nothing}"])
        assert word in read.found[0]
        assert "empty cell" not in read.said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            make_table([[text] for text in TEXTS], ["text"]),
            "2.csv, line 1: no column 'labels'",
        ),
        (
            make_label_table(join_by(",")).partition("\n")[2],
            "2.csv, line 1: the first line is not the header of an earlier file",
        ),
    ],
)
def test_columns_that_one_of_several_files_lacks(prepare, content, said) -> None:
    Path("1.csv").write_text(make_label_table(join_by(",")))
    Path("2.csv").write_text(content)
    assert said in prepare(Path("*.csv")).said


def test_files_may_have_their_columns_in_different_orders(prepare) -> None:
    Path("1.csv").write_text(make_label_table(join_by(",")))
    Path("2.csv").write_text(make_table(zip(COMMAS, TEXTS, strict=True), ("labels", "text")))
    assert prepare(Path("*.csv")).found == (ALL[0], 240, 2 * N_POSITIVES)
