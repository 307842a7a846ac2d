"""Files as people have them, from a folder that OVAFLOW_CASES names: read right, refused, or
remarked on.
"""

import os
import re
from pathlib import Path

import pytest
from prediction_reading import assert_predict_reads_the_same

GENRES = (
    ["Action", "Comedy", "Crime", "Drama", "Horror", "Romance", "Science Fiction", "Western"],
    400,
    2.0,
)
TOXIC = ["adult", "hate", "insult", "obscene", "severe", "spam", "threat", "toxic"], 400, 2.0
SUBJECTS = (
    [
        "Bücher",
        "Crime",
        "Côte d’Ivoire",
        "L’État",
        "Prix en €",
        "Western",
        "Œuvres – théâtre",
        "Žižkov",
    ],
    400,
    2.0,
)
CODES = [f"C{n}" for n in range(15, 23)], 400, 2.0
ICD = ["010", "1e3", "250.1", "250.10", "401.9", "8", "NO", "SE"]
RECORDS = GENRES[0], 700, 2.0

EXCEL = ("--text-column=Titre", "--labels-column=Sujets", "--label-separator=|")
SEMICOLON = ("--label-separator=;",)
PRODUCTS = ("--text-column=title", "--labels-column=category")
LINES = ("--format=text-tsv",)
TABS = ("--format=csv",)


@pytest.fixture(scope="module")
def cases():
    folder = os.environ.get("OVAFLOW_CASES")
    if not folder:
        pytest.skip("OVAFLOW_CASES names no folder of files")
    return {path.name[:2]: path for path in Path(folder).iterdir() if path.is_dir()}


def summarize_labels(prepared):
    """Labels, number of records and labels per record."""
    labels, n, positives = prepared.found
    return labels, n, round(positives / n, 1)


@pytest.fixture
def read(cases, prepare):
    return lambda file, *options: prepare(cases[file[:2]] / file[3:], *options)


MOVIES = ("--text-column=overview", "--labels-column=genres")
ONE_HOT = (
    "--text-column=comment_text",
    "--labels-column=toxic,severe,obscene,threat,insult,hate,spam,adult",
)
DSPACE = (
    "--text-column=dc.title[en],dc.title",
    "--labels-column=dc.subject[en],dc.subject[]",
    "--label-separator=||",
)
ABSTRACTS = ("--text-column=title,abstract", *SEMICOLON)
BAR = ("--label-separator=|",)
READ = [
    *((f"01/{name}.csv", MOVIES, GENRES) for name in ("tmdb", "movies_metadata", "cmu")),
    *(
        (f"04/{name}", ONE_HOT, TOXIC)
        for name in ("train.csv", "train.parquet", "booleans.csv", "booleans.jsonl")
    ),
    ("04/object.jsonl", ONE_HOT[:1], TOXIC),
    ("06/header2.tsv", LINES, GENRES),
    ("07/lists.csv", SEMICOLON, RECORDS),
    ("07/new.csv", SEMICOLON, (GENRES[0], 150, 2.0)),
    *((f"08/{name}.csv", EXCEL, SUBJECTS) for name in ("bom", "sep")),
    ("13/dspace.csv", DSPACE, GENRES),
    *((f"13/{name}.csv", SEMICOLON, GENRES) for name in ("index", "pipe", "upper")),
    *(
        ("13/comma.csv", (f"--text-column={name}", "--labels-column=Subject", *SEMICOLON), GENRES)
        for name in ("Title, remainder", '"Title, remainder"', "title,REMAINDER")
    ),
    *(
        (
            "13/forms.csv",
            (
                f"--text-column=What happened?{end}Please describe.",
                "--labels-column=Kind, or kinds",
                *SEMICOLON,
            ),
            GENRES,
        )
        for end in ("\n", "\\n", " ")
    ),
    *((f"20/{name}.csv", ABSTRACTS, (GENRES[0], 400, 1.6)) for name in ("asstr", "none")),
    ("20/inlist.csv", ABSTRACTS, GENRES),
    ("20/columns.csv", ("--text-column=title", "--labels-column=tag1,tag2,tag3"), GENRES),
    ("28/codes.csv", BAR, (ICD, 300, 1.9)),
]


@pytest.mark.parametrize(("file", "options", "outcome"), READ)
def test_read(read, file, options, outcome) -> None:
    prepared = read(file, *options)
    assert summarize_labels(prepared) == outcome
    if file.startswith("20"):
        assert "words for nothing" in prepared.said


AS_ADVISED = [
    ("06/rcv1-2.txt", (*LINES, "--label-separator= ")),
    ("06/header.tsv", TABS),
    ("07/pairs.csv", ("--repeated=join",)),
    ("07/pairs.csv", ("--repeated=last",)),
    ("08/excel.csv", (*EXCEL, "--encoding=windows-1252")),
    *((f"09/{name}.tsv", (*TABS, *SEMICOLON, "--quotes=none")) for name in ("dialogue", "inside")),
    ("09/backslash.csv", (*SEMICOLON, "--quotes=backslash")),
    ("22/jsonlist.csv", PRODUCTS),
]


@pytest.mark.parametrize(("file", "options"), [*(each[:2] for each in READ), *AS_ADVISED])
def test_predict_reads_them_as_training_does(read, cases, tmp_path, file, options) -> None:
    path = cases[file[:2]] / file[3:]
    assert_predict_reads_the_same(read(file, *options, f"--test={path}").dataset, path, tmp_path)


@pytest.mark.parametrize("code", ICD)
def test_codes_are_chosen_as_they_are_written(read, code) -> None:
    for option, labels in (
        ("include", [code]),
        ("exclude", [each for each in ICD if each != code]),
    ):
        assert read("28/codes.csv", *BAR, f"--{option}={code}").found[:2] == (labels, 300)


@pytest.mark.parametrize("separator", [",", ";", "|", "/", "none"])
@pytest.mark.parametrize("file", ["plain.csv", "jsonlist.csv", "lists.jsonl", "lists.parquet"])
def test_one_long_name_each(read, file, separator) -> None:
    labels, n, _ = read(f"22/{file}", *PRODUCTS, f"--label-separator={separator}").found
    assert (len(labels), n) == (189, 400)
    assert all(label.count(" > ") == 2 for label in labels)


SWALLOWED = (
    "line 8: a quote opened here closes 2 lines later, "
    "and these lines look like records; set quotes: none"
)


@pytest.mark.parametrize(
    ("file", "options", "advice", "setting", "outcome"),
    [
        ("06/rcv1-2.txt", LINES, 'set label_separator: " "', "--label-separator= ", CODES),
        ("06/header.tsv", LINES, "read it with format: csv", "--format=csv", GENRES),
        ("07/lists.csv", (), 'set label_separator: ";"', *SEMICOLON, RECORDS),
        ("07/pairs.csv", (), "repeated: join makes one record of each", "--repeated=join", RECORDS),
        ("08/excel.csv", EXCEL, "set encoding: windows-1252", "--encoding=windows-1252", SUBJECTS),
        ("09/dialogue.tsv", (*TABS, *SEMICOLON), SWALLOWED, "--quotes=none", GENRES),
        (
            "09/inside.tsv",
            (*TABS, *SEMICOLON),
            "set quotes: none if they mean nothing",
            "--quotes=none",
            GENRES,
        ),
        ("09/backslash.csv", SEMICOLON, "set quotes: backslash", "--quotes=backslash", GENRES),
    ],
)
def test_advice(cases, advised, file, options, advice, setting, outcome) -> None:
    assert (
        summarize_labels(advised(cases[file[:2]] / file[3:], options, advice, setting)) == outcome
    )


@pytest.mark.parametrize("with_names", [False, True])
@pytest.mark.parametrize(
    ("file", "order", "labels"),
    [("goemotions", "text labels id", list("01234567")), ("prose", "text labels", GENRES[0])],
)
def test_columns_in_another_order(cases, advised, file, order, labels, with_names) -> None:
    path = cases["06"] / f"{file}.tsv"
    options = [f"--labels={cases['06'] / 'names.txt'}"] * with_names
    new = order.replace(" ", "\t") + "\n" + path.read_text(encoding="utf-8")
    read = advised(path, [*LINES, *options], "header line", "--format=csv", new=new)
    if with_names and file == "prose":
        assert "leave out the file of label names" in read.said
    else:
        ours, *counts = summarize_labels(read)
        assert (len(ours), *counts) == (8, *GENRES[1:])
        assert with_names or ours == labels


def test_lines_that_begin_with_an_id(cases, advised) -> None:
    path = cases["06"] / "rcv1.txt"
    new = "".join(line.partition("\t")[2] for line in path.read_text().splitlines(True))
    read = advised(
        path, LINES, "expected labels, a tab and the text", "--label-separator= ", new=new
    )
    assert summarize_labels(read) == CODES
    advised(path, LINES, "cut -f 2-", "--label-separator= ", new=new)


def test_no_header(read, cases, prepare) -> None:
    header = re.search("echo '(.*)';", read("13/noheader.csv", *SEMICOLON).said)[1]
    new = header + "\n" + (cases["13"] / "noheader.csv").read_text()
    assert summarize_labels(prepare(new, *SEMICOLON)) == GENRES


@pytest.mark.parametrize(
    ("train", "test", "copies"),
    [("train", "test", 120), ("train_short", "test_short", 120), ("train", "test_new", 0)],
)
def test_copies_of_short_texts(read, cases, train, test, copies) -> None:
    said = read(f"14/{train}.csv", *PRODUCTS, f"--test={cases['14'] / test}.csv").said
    assert (f"{copies} of 120 test instances have a near twin in training" in said) == (copies > 0)


def test_copies_are_on_one_side(read) -> None:
    dataset = read("14/twice_short.csv", *PRODUCTS).dataset
    # each text is followed by itself with a full stop
    sides = [
        {int(record.split()[-1]) // 2 for record in dataset.ids(part)} for part in ("train", "test")
    ]
    assert not sides[0] & sides[1]
    assert sum(map(len, sides)) == 600


@pytest.mark.parametrize("name", ["zh30", "zh15", "zh100"])
def test_texts_without_spaces_among_others(read, name) -> None:
    said = read(f"15/{name}.csv", *SEMICOLON).said
    advice = re.search(r"set features: (\[.*?)(, or lower|\n)", said)[1]
    assert "have no feature" not in read(f"15/{name}.csv", *SEMICOLON, f"--features={advice}").said
