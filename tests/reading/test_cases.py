"""Files as people have them, from a folder that OVAFLOW_CASES names: read right, refused, or remarked on."""

import os
import re
from pathlib import Path

import pytest

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset

GENRES = ["Action", "Comedy", "Crime", "Drama", "Horror", "Romance", "Science Fiction", "Western"]
TOXIC = ["adult", "hate", "insult", "obscene", "severe", "spam", "threat", "toxic"]
SUBJECTS = ["Bücher", "Crime", "Côte d’Ivoire", "L’État", "Prix en €", "Western", "Œuvres – théâtre", "Žižkov"]
CODES = ["C15", "C16", "C17", "C18", "C19", "C20", "C21", "C22"]
ICD = ["010", "1e3", "250.1", "250.10", "401.9", "8", "NO", "SE"]

MOVIES = ("--text-column=overview", "--labels-column=genres")
COMMENTS = ("--text-column=comment_text", "--labels-column=toxic,severe,obscene,threat,insult,hate,spam,adult")
EXCEL = ("--text-column=Titre", "--labels-column=Sujets", "--label-separator=|")
SEMICOLON = ("--label-separator=;",)
ABSTRACTS = ("--text-column=title,abstract", *SEMICOLON)
PRODUCTS = ("--text-column=title", "--labels-column=category")


@pytest.fixture(scope="module")
def cases():
    folder = os.environ.get("OVAFLOW_CASES")
    if not folder:
        pytest.skip("OVAFLOW_CASES names no folder of files")
    return {path.name[:2]: path for path in Path(folder).iterdir() if path.is_dir()}


@pytest.fixture
def read(cases, tmp_path, capsys):
    """Labels, number of records, labels per record and what was said of a file."""

    def prepared(file, *options):
        path = cases[file[:2]] / file[3:]
        if not path.exists():
            path = tmp_path / file[3:]
        ending = path.suffix[1:]
        if not any(option.startswith("--format") for option in options):
            options = (*options, f"--format={'csv' if ending == 'tsv' else ending}")
        output = tmp_path / "dataset.h5"
        if main(["prepare", f"--output={output}", f"--train={path}", *options]):
            said = "".join(capsys.readouterr())
            return None, said.partition("error: ")[2]
        dataset, said = open_dataset(output), "".join(capsys.readouterr())
        train, test = dataset.train, dataset.test
        n = train.X.n_rows - dataset.parameters.get("named_labels", 0)
        rows = n + test.X.n_rows
        per_record = (train.Y.indptr[n] + len(test.Y.indices)) / rows
        return (list(dataset.label_names), rows, round(float(per_record), 1)), said

    return prepared


# file, options, outcome
READ = [
    *((f"01/{name}.csv", MOVIES, (GENRES, 400, 2.0)) for name in ("tmdb", "movies_metadata", "cmu")),
    *((f"04/{name}", COMMENTS, (TOXIC, 400, 2.0)) for name in ("train.csv", "train.parquet", "booleans.csv")),
    ("04/booleans.jsonl", COMMENTS, (TOXIC, 400, 2.0)),
    ("04/object.jsonl", COMMENTS[:1], (TOXIC, 400, 2.0)),
    ("06/header2.tsv", ("--format=text-tsv",), (GENRES, 400, 2.0)),
    ("07/lists.csv", SEMICOLON, (GENRES, 700, 2.0)),
    ("07/new.csv", SEMICOLON, (GENRES, 150, 2.0)),
    ("08/bom.csv", EXCEL, (SUBJECTS, 400, 2.0)),
    ("08/sep.csv", EXCEL, (SUBJECTS, 400, 2.0)),
    (
        "13/dspace.csv",
        ("--text-column=dc.title[en],dc.title", "--labels-column=dc.subject[en],dc.subject[]", "--label-separator=||"),
        (GENRES, 400, 2.0),
    ),
    *((f"13/{name}.csv", SEMICOLON, (GENRES, 400, 2.0)) for name in ("index", "pipe", "upper")),
    *(
        ("13/comma.csv", (f"--text-column={name}", "--labels-column=Subject", *SEMICOLON), (GENRES, 400, 2.0))
        for name in ("Title, remainder", '"Title, remainder"')
    ),
    *(
        (
            "13/forms.csv",
            (f"--text-column=What happened?{end}Please describe.", "--labels-column=Kind, or kinds", *SEMICOLON),
            (GENRES, 400, 2.0),
        )
        for end in ("\n", "\\n", " ")
    ),
    *((f"20/{name}.csv", ABSTRACTS, (GENRES, 400, 1.6)) for name in ("asstr", "none")),
    ("20/inlist.csv", ABSTRACTS, (GENRES, 400, 2.0)),
    ("20/columns.csv", ("--text-column=title", "--labels-column=tag1,tag2,tag3"), (GENRES, 400, 2.0)),
    ("28/codes.csv", ("--label-separator=|",), (ICD, 300, 1.9)),
    *(
        (
            "28/codes.csv",
            ("--label-separator=|", f"--exclude={code}"),
            ([each for each in ICD if each != code], 300, None),
        )
        for code in ICD
    ),
    *(("28/codes.csv", ("--label-separator=|", f"--include={code}"), ([code], 300, None)) for code in ICD),
]


@pytest.mark.parametrize(("file", "options", "outcome"), READ)
def test_read(read, file, options, outcome):
    found, said = read(file, *options)
    assert found is not None, said
    assert found[: 3 if outcome[2] else 2] == outcome[: 3 if outcome[2] else 2]
    if file.startswith("20"):
        assert "words for nothing" in said


@pytest.mark.parametrize("separator", [",", ";", "|", "/", "none"])
@pytest.mark.parametrize("file", ["plain.csv", "jsonlist.csv", "lists.jsonl", "lists.parquet"])
def test_one_long_name_each(read, file, separator):
    (labels, n, _), _ = read(f"22/{file}", *PRODUCTS, f"--label-separator={separator}")
    assert (len(labels), n) == (189, 400)
    assert all(label.count(" > ") == 2 for label in labels)


# file, options, what is said, the settings that it names, outcome
ADVISED = [
    ("06/rcv1-2.txt", ("--format=text-tsv",), 'set label_separator: " "', ("--label-separator= ",), (CODES, 400, 2.0)),
    ("06/header.tsv", ("--format=text-tsv",), "read it with format: csv", ("--format=csv",), (GENRES, 400, 2.0)),
    ("07/lists.csv", (), 'set label_separator: ";"', SEMICOLON, (GENRES, 700, 2.0)),
    ("07/pairs.csv", (), "repeated: join makes one record of each", ("--repeated=join",), (GENRES, 700, 2.0)),
    ("08/excel.csv", EXCEL, "set encoding: windows-1252", ("--encoding=windows-1252",), (SUBJECTS, 400, 2.0)),
    (
        "09/dialogue.tsv",
        SEMICOLON,
        "line 8: a quote opened here closes 2 lines later, and these lines look like records; set quotes: none",
        ("--quotes=none",),
        (GENRES, 400, 2.0),
    ),
    ("09/inside.tsv", SEMICOLON, "set quotes: none if they mean nothing", ("--quotes=none",), (GENRES, 400, 2.0)),
    ("09/backslash.csv", SEMICOLON, "set quotes: backslash", ("--quotes=backslash",), (GENRES, 400, 2.0)),
]


@pytest.mark.parametrize(("file", "options", "advice", "settings", "outcome"), ADVISED)
def test_advice(read, file, options, advice, settings, outcome):
    _, said = read(file, *options)
    assert advice in said
    kept = [
        option for option in options if option.partition("=")[0] not in {each.partition("=")[0] for each in settings}
    ]
    assert read(file, *kept, *settings)[0] == outcome


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize(
    ("file", "order", "labels"),
    [
        ("goemotions.tsv", "text labels id", list("01234567")),
        ("prose.tsv", "text labels", GENRES),
        ("rcv1.txt", "id labels text", None),
    ],
)
def test_columns_in_another_order(read, cases, tmp_path, file, order, labels, names):
    names = [f"--labels={cases['06'] / 'names.txt'}"] * names
    _, said = read(f"06/{file}", "--format=text-tsv", *names)
    assert "expected labels, a tab and the text" in said
    assert "header line" in said
    content = (cases["06"] / file).read_text(encoding="utf-8")
    if labels is None:
        assert "cut -f 2-" in said
        (tmp_path / "cut.txt").write_text("".join(line.partition("\t")[2] for line in content.splitlines(True)))
        assert read("06/cut.txt", "--format=text-tsv", "--label-separator= ")[0] == (CODES, 400, 2.0)
        return
    header = order.replace(" ", "\t")
    (tmp_path / "header.csv").write_text(f"{header}\n{content}")
    found, said = read("06/header.csv", *names)
    if names and file == "prose.tsv":
        assert "leave out the file of label names" in said
    else:
        assert (len(found[0]), *found[1:]) == (8, 400, 2.0)
        assert names or found[0] == labels


def test_no_header(read, cases, tmp_path):
    _, said = read("13/noheader.csv", *SEMICOLON)
    header = re.search("echo '(.*)';", said)[1]
    (tmp_path / "new.csv").write_text(header + "\n" + (cases["13"] / "noheader.csv").read_text())
    assert read("13/new.csv", *SEMICOLON)[0] == (GENRES, 400, 2.0)


@pytest.mark.parametrize(
    ("train", "test", "copies"),
    [("train", "test", 120), ("train_short", "test_short", 120), ("train", "test_new", 0)],
)
def test_copies_of_short_texts(read, cases, train, test, copies):
    _, said = read(f"14/{train}.csv", *PRODUCTS, f"--test={cases['14'] / test}.csv")
    assert (f"{copies} of 120 test instances have a near twin in training" in said) == (copies > 0)


def test_copies_are_on_one_side(read, tmp_path):
    read("14/twice_short.csv", *PRODUCTS)
    dataset = open_dataset(tmp_path / "dataset.h5")
    # each text is followed by itself with a full stop
    sides = [{int(record.split()[-1]) // 2 for record in dataset.ids(part)} for part in ("train", "test")]
    assert not sides[0] & sides[1]
    assert sum(map(len, sides)) == 600


@pytest.mark.parametrize("name", ["zh30", "zh15", "zh100"])
def test_texts_without_spaces_among_others(read, name):
    found, said = read(f"15/{name}.csv", *SEMICOLON)
    assert "set features: [" in said
    advice = said.partition("set features: ")[2].partition("\n")[0].partition(", or lower")[0]
    found, said = read(f"15/{name}.csv", *SEMICOLON, f"--features={advice}")
    assert found is not None
    assert "have no feature" not in said
