"""Files as people have them, from a folder that OVAFLOW_CASES names: read right."""

import os
from pathlib import Path

import pytest

GENRES = ["Action", "Comedy", "Crime", "Drama", "Horror", "Romance", "Science Fiction", "Western"], 400, 2.0
TOXIC = ["adult", "hate", "insult", "obscene", "severe", "spam", "threat", "toxic"], 400, 2.0
SUBJECTS = (
    ["Bücher", "Crime", "Côte d’Ivoire", "L’État", "Prix en €", "Western", "Œuvres – théâtre", "Žižkov"],
    400,
    2.0,
)
ICD = ["010", "1e3", "250.1", "250.10", "401.9", "8", "NO", "SE"]
RECORDS = GENRES[0], 700, 2.0

EXCEL = ("--text-column=Titre", "--labels-column=Sujets", "--label-separator=|")
SEMICOLON = ("--label-separator=;",)
LINES = ("--format=text-tsv",)


@pytest.fixture(scope="module")
def cases():
    folder = os.environ.get("OVAFLOW_CASES")
    if not folder:
        pytest.skip("OVAFLOW_CASES names no folder of files")
    return {path.name[:2]: path for path in Path(folder).iterdir() if path.is_dir()}


MOVIES = ("--text-column=overview", "--labels-column=genres")
ONE_HOT = ("--text-column=comment_text", "--labels-column=toxic,severe,obscene,threat,insult,hate,spam,adult")
DSPACE = ("--text-column=dc.title[en],dc.title", "--labels-column=dc.subject[en],dc.subject[]", "--label-separator=||")
ABSTRACTS = ("--text-column=title,abstract", *SEMICOLON)
BAR = ("--label-separator=|",)
READ = [
    *((f"01/{name}.csv", MOVIES, GENRES) for name in ("tmdb", "movies_metadata", "cmu")),
    *((f"04/{name}", ONE_HOT, TOXIC) for name in ("train.csv", "train.parquet", "booleans.csv", "booleans.jsonl")),
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
            (f"--text-column=What happened?{end}Please describe.", "--labels-column=Kind, or kinds", *SEMICOLON),
            GENRES,
        )
        for end in ("\n", "\\n", " ")
    ),
    ("20/none.csv", ABSTRACTS, (GENRES[0], 400, 1.6)),
    ("20/inlist.csv", ABSTRACTS, GENRES),
    ("20/columns.csv", ("--text-column=title", "--labels-column=tag1,tag2,tag3"), GENRES),
    ("28/codes.csv", BAR, (ICD, 300, 1.9)),
    *(("28/codes.csv", (*BAR, f"--include={code}"), ([code], 300, 0.3)) for code in ("010", "250.10")),
]


@pytest.mark.parametrize(("file", "options", "outcome"), READ)
def test_read(cases, prepare, file, options, outcome):
    labels, n, positives = prepare(cases[file[:2]] / file[3:], *options).found
    assert (labels, n, round(positives / n, 1)) == outcome
