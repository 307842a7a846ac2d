"""Files as people have them, from a folder that OVAFLOW_CASES names: read right, refused, or
remarked on.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from following import find_settings, follow_command, has_command
from prediction_reading import assert_predict_reads_the_same

from ovaflow.cli import main
from ovaflow.prediction.predictor import Predictor

EIGHT_GENRES = [
    "Action",
    "Comedy",
    "Crime",
    "Drama",
    "Horror",
    "Romance",
    "Science Fiction",
    "Western",
]
GENRES = (EIGHT_GENRES, 400, 2.0)
"""Names of labels, number of records, and labels per record, as are the next ones."""
RECORDS = (EIGHT_GENRES, 700, 2.0)
TOXIC = (
    ["adult", "hate", "insult", "obscene", "severe", "spam", "threat", "toxic"],
    400,
    2.0,
)
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
CODES = (["C15", "C16", "C17", "C18", "C19", "C20", "C21", "C22"], 400, 2.0)
ICD = ["010", "1e3", "250.1", "250.10", "401.9", "8", "NO", "SE"]

TWELVE_TOPICS = [
    "Astronomy",
    "Baking",
    "Beekeeping",
    "Chess",
    "Cycling",
    "Gardening",
    "Knitting",
    "Music",
    "Pottery",
    "Railways",
    "Sailing",
    "Volcanoes",
]
MEANT = (TWELVE_TOPICS, 300, 1.9)
"""556 labels of 300 records."""
GENERAL_TOPICS = ["Baking", "Chess", "Gardening", "Music", "Railways", "Volcanoes"]
TOPICS_WITH_COMMAS = [
    f"{topic}, general" if topic in GENERAL_TOPICS else topic for topic in TWELVE_TOPICS
]

CATS = ["--labels-column=cats"]
EXCEL = ["--text-column=Titre", "--labels-column=Sujets", "--label-separator=|"]
SEMICOLON = ["--label-separator=;"]
BAR = ["--label-separator=|"]
PRODUCTS = ["--text-column=title", "--labels-column=category"]
LINES = ["--format=text-tsv"]
TABS = ["--format=csv", "--label-separator=;"]
MOVIES = ["--text-column=overview", "--labels-column=genres"]
COMMENTS = ["--text-column=comment_text"]
ONE_HOT = [*COMMENTS, "--labels-column=toxic,severe,obscene,threat,insult,hate,spam,adult"]
DSPACE = [
    "--text-column=dc.title[en],dc.title",
    "--labels-column=dc.subject[en],dc.subject[]",
    "--label-separator=||",
]
ABSTRACTS = ["--text-column=title,abstract", "--label-separator=;"]
REMAINDER = ["--labels-column=Subject", "--label-separator=;"]
KINDS = ["--labels-column=Kind, or kinds", "--label-separator=;"]
THREE_TAGS = ["--text-column=title", "--labels-column=tag1,tag2,tag3"]


@pytest.fixture(scope="module")
def cases() -> dict[str, Path]:
    """Folders of the cases by their numbers."""
    folder = os.environ.get("OVAFLOW_CASES")
    if not folder:
        pytest.skip("OVAFLOW_CASES names no folder of files")
    return {path.name[:2]: path for path in Path(folder).iterdir() if path.is_dir()}


def summarize_labels(prepared) -> tuple[list[str], int, float]:
    """Return names of labels, number of records and labels per record."""
    labels, n, n_positives = prepared.found
    return labels, n, round(n_positives / n, 1)


@pytest.fixture
def read(cases, prepare) -> Callable:
    """Prepare a file of a case, such as ``01/tmdb.csv``, with some options."""

    def read_case(file, options):
        return prepare(cases[file[:2]] / file[3:], options)

    return read_case


READ_BY_COLUMNS = [
    ("01/tmdb.csv", MOVIES, GENRES),
    ("01/movies_metadata.csv", MOVIES, GENRES),
    ("01/cmu.csv", MOVIES, GENRES),
    ("04/train.csv", ONE_HOT, TOXIC),
    ("04/train.parquet", ONE_HOT, TOXIC),
    ("04/booleans.csv", ONE_HOT, TOXIC),
    ("04/booleans.jsonl", ONE_HOT, TOXIC),
    ("04/object.jsonl", COMMENTS, TOXIC),
]
"""Files that need no more than the names of their columns."""

READ = [
    *READ_BY_COLUMNS,
    ("06/header2.tsv", LINES, GENRES),
    ("07/lists.csv", SEMICOLON, RECORDS),
    ("07/new.csv", SEMICOLON, (EIGHT_GENRES, 150, 2.0)),
    ("08/bom.csv", EXCEL, SUBJECTS),
    ("08/sep.csv", EXCEL, SUBJECTS),
    ("13/dspace.csv", DSPACE, GENRES),
    ("13/index.csv", SEMICOLON, GENRES),
    ("13/pipe.csv", SEMICOLON, GENRES),
    ("13/upper.csv", SEMICOLON, GENRES),
    ("13/comma.csv", ["--text-column=Title, remainder", *REMAINDER], GENRES),
    ("13/comma.csv", ['--text-column="Title, remainder"', *REMAINDER], GENRES),
    ("13/comma.csv", ["--text-column=title,REMAINDER", *REMAINDER], GENRES),
    ("13/forms.csv", ["--text-column=What happened?\nPlease describe.", *KINDS], GENRES),
    ("13/forms.csv", ["--text-column=What happened?\\nPlease describe.", *KINDS], GENRES),
    ("13/forms.csv", ["--text-column=What happened? Please describe.", *KINDS], GENRES),
    ("20/asstr.csv", ABSTRACTS, (EIGHT_GENRES, 400, 1.6)),
    ("20/none.csv", ABSTRACTS, (EIGHT_GENRES, 400, 1.6)),
    ("20/inlist.csv", ABSTRACTS, GENRES),
    ("20/columns.csv", THREE_TAGS, GENRES),
    ("28/codes.csv", BAR, (ICD, 300, 1.9)),
    ("31/cats_list.jsonl", CATS, MEANT),
    ("31/cats_full.jsonl", CATS, MEANT),
    ("34/string_or_list.jsonl", [], (TWELVE_TOPICS, 300, 1.8)),
    ("34/xml2json.jsonl", [], (TOPICS_WITH_COMMAS, 300, 1.8)),
]


@pytest.mark.parametrize(("file", "options", "outcome"), READ)
def test_read(read, file, options, outcome) -> None:
    prepared = read(file, options)
    assert summarize_labels(prepared) == outcome
    if file.startswith("20"):
        assert "for an empty cell" in prepared.said


READ_AS_ADVISED = [
    ("06/rcv1-2.txt", [*LINES, "--label-separator= "]),
    ("06/header.tsv", ["--format=csv"]),
    ("07/pairs.csv", ["--repeated=join"]),
    ("07/pairs.csv", ["--repeated=last"]),
    ("08/excel.csv", [*EXCEL, "--encoding=windows-1252"]),
    ("09/dialogue.tsv", [*TABS, "--quotes=none"]),
    ("09/inside.tsv", [*TABS, "--quotes=none"]),
    ("09/backslash.csv", [*SEMICOLON, "--quotes=backslash"]),
    ("22/jsonlist.csv", PRODUCTS),
    ("31/cats_soft.jsonl", [*CATS, "--label-threshold=0.5"]),
]
READABLE = [(file, options) for file, options, _ in READ] + READ_AS_ADVISED


@pytest.mark.parametrize(("file", "options"), READABLE)
def test_predict_reads_them_as_training_does(read, cases, tmp_path, file, options) -> None:
    path = cases[file[:2]] / file[3:]
    dataset = read(file, [*options, f"--test={path}"]).dataset
    assert_predict_reads_the_same(dataset, path, tmp_path)


@pytest.mark.parametrize("code", ICD)
def test_codes_are_chosen_as_they_are_written(read, code) -> None:
    others = [each for each in ICD if each != code]
    included = read("28/codes.csv", [*BAR, f"--include={code}"])
    assert included.found[:2] == ([code], 300)
    excluded = read("28/codes.csv", [*BAR, f"--exclude={code}"])
    assert excluded.found[:2] == (others, 300)


@pytest.mark.parametrize("separator", [",", ";", "|", "/", "none"])
@pytest.mark.parametrize("file", ["plain.csv", "jsonlist.csv", "lists.jsonl", "lists.parquet"])
def test_one_long_name_each(read, file, separator) -> None:
    labels, n, _ = read(f"22/{file}", [*PRODUCTS, f"--label-separator={separator}"]).found
    assert (len(labels), n) == (189, 400)
    assert all(label.count(" > ") == 2 for label in labels)


GOEMOTIONS = ["0", "1", "2", "3", "4", "5", "6", "7"]
EIGHT_CATEGORIES = [f"Category {letter}" for letter in "ABCDEFGH"]
URIS = [f"http://ex.org/v/{number:03}" for number in range(12)]
EIGHT_TAGS = [".NET", "C", "C#", "C++", "D", "F#", "Java", "R"]
MIXED = (EIGHT_GENRES, 800, 1.5)
TOPICS = (TWELVE_TOPICS, 300, 1.8)
TITLE = ["--text-column=Titre", "--labels-column=Sujets"]
DSPACE_COLUMNS = DSPACE[:2]
TITLE_AND_ABSTRACT = ABSTRACTS[:1]
FORMS = ["--text-column=What happened?\nPlease describe.", KINDS[0]]
COMMA = ["--text-column=Title, remainder", REMAINDER[0]]

REFUSED = [
    *READ_BY_COLUMNS,
    ("06/goemotions.tsv", [], (GOEMOTIONS, 400, 2.0)),
    ("06/header.tsv", [], GENRES),
    ("06/prose.tsv", [], GENRES),
    ("06/rcv1.txt", [], CODES),
    ("06/rcv1-2.txt", [], CODES),
    ("07/lists.csv", [], RECORDS),
    ("07/new.csv", [], (EIGHT_GENRES, 150, 2.0)),
    ("08/excel.csv", TITLE, SUBJECTS),
    ("08/bom.csv", TITLE, SUBJECTS),
    ("08/sep.csv", TITLE, SUBJECTS),
    ("09/dialogue.tsv", [], GENRES),
    ("09/inside.tsv", [], GENRES),
    ("09/backslash.csv", [], GENRES),
    ("13/comma.csv", COMMA, GENRES),
    ("13/dspace.csv", DSPACE_COLUMNS, GENRES),
    ("13/forms.csv", FORMS, GENRES),
    ("13/index.csv", [], GENRES),
    ("13/noheader.csv", [], GENRES),
    ("13/pipe.csv", [], GENRES),
    ("13/upper.csv", [], GENRES),
    ("14/train.csv", PRODUCTS, (EIGHT_CATEGORIES, 500, 1.0)),
    ("14/twice_short.csv", PRODUCTS, (EIGHT_CATEGORIES, 1200, 1.0)),
    ("15/ar.csv", [], MIXED),
    ("15/emoji.csv", [], MIXED),
    ("15/zh100.csv", [], MIXED),
    ("15/zh30.csv", [], MIXED),
    ("15/zh15.csv", [], MIXED),
    ("20/asstr.csv", TITLE_AND_ABSTRACT, (EIGHT_GENRES, 400, 1.6)),
    ("20/none.csv", TITLE_AND_ABSTRACT, (EIGHT_GENRES, 400, 1.6)),
    ("20/inlist.csv", TITLE_AND_ABSTRACT, GENRES),
    ("20/columns.csv", THREE_TAGS, GENRES),
    ("28/codes.csv", [], (ICD, 300, 1.9)),
    ("31/cats_list.jsonl", CATS, MEANT),
    ("31/cats_full.jsonl", CATS, MEANT),
    ("31/cats_soft.jsonl", CATS, MEANT),
    ("33/emptyfirst.xlsx", [], TOPICS),
    ("36/train.tsv", [], (URIS, 300, 1.9)),
    ("38/tags_noheader", [], TOPICS),
    ("38/tags_noheader/*", [], TOPICS),
    ("38/tags_noheader/part-00001*", [], TOPICS),
    ("39/tags.csv", [], (EIGHT_TAGS, 600, 1.3)),
]
"""Files, the columns that their owners know, and what is read by the advice that is printed."""


@pytest.mark.parametrize(("file", "columns", "outcome"), REFUSED)
def test_what_a_refusal_says_is_done(cases, prepare, file, columns, outcome) -> None:
    path = cases[file[:2]] / file[3:]
    options = ["--format=csv"] if file.startswith("38") else []
    read = prepare(path, options)
    assert read.dataset is None
    while read.dataset is None:
        error = read.said.splitlines()[-1]
        settings = find_settings(error)
        if columns and "set text_column and labels_column" in error:
            options += columns
            columns = []
        elif has_command(error):
            path = follow_command(error, None if "part-" in error else path)
        else:
            assert settings[0] not in options
            options.append(settings[0])
        read = prepare(path, options)
    assert summarize_labels(read) == outcome


NONE_GIVEN: list[str] = []
WITH_NAN = (sorted([*EIGHT_GENRES, "nan"]), 400, 1.8)
WITH_NONE = (sorted([*EIGHT_GENRES, "None"]), 400, 1.8)
LABELLED = (EIGHT_GENRES, 320, 2.0)
SPLIT = "--split=random"
UNLABELLED = "--unlabelled=drop"
MISSING = "--missing=[]"
WORDS_AND_CHARACTERS = "--features=[words, {prefixes: 6}, {characters: [1, 3]}]"

REMARKED_ON = [
    (
        "06/rcv1-2.txt",
        LINES,
        {
            "--label-separator= ": CODES,
            "--label-separator=none": "different labels  156 in the first",
        },
    ),
    (
        "07/lists.csv",
        NONE_GIVEN,
        {
            "--label-separator=;": RECORDS,
            "--label-separator=none": "different labels  216 in the first",
        },
    ),
    ("07/pairs.csv", NONE_GIVEN, {"--repeated=join": RECORDS, "--repeated=last": (8, 700, 1.0)}),
    ("09/dialogue.tsv", TABS, {"--quotes=none": GENRES, "--quotes=double": (8, 335, 2.0)}),
    ("09/inside.tsv", TABS, {"--quotes=none": GENRES}),
    ("09/backslash.csv", SEMICOLON, {"--quotes=backslash": GENRES}),
    ("14/twice_short.csv", PRODUCTS, {SPLIT: (EIGHT_CATEGORIES, 1200, 1.0)}),
    ("15/zh100.csv", SEMICOLON, {"--features=[{characters: [1, 3]}]": MIXED}),
    ("15/zh30.csv", SEMICOLON, {WORDS_AND_CHARACTERS: MIXED}),
    ("15/zh15.csv", SEMICOLON, {WORDS_AND_CHARACTERS: MIXED}),
    ("20/asstr.csv", ABSTRACTS, {UNLABELLED: LABELLED, MISSING: WITH_NAN}),
    ("20/none.csv", ABSTRACTS, {UNLABELLED: LABELLED, MISSING: WITH_NONE}),
    ("20/inlist.csv", ABSTRACTS, {MISSING: (sorted([*EIGHT_GENRES, "nan"]), 400, 2.7)}),
    ("20/columns.csv", THREE_TAGS, {MISSING: (sorted([*EIGHT_GENRES, "NULL"]), 400, 2.7)}),
    ("28/codes.csv", BAR, {}),
    ("28/codes.csv", [*BAR, "--exclude=250.10"], {UNLABELLED: (7, 285, 1.7)}),
    ("33/months.xlsx", SEMICOLON, {"--sheet=all": TOPICS}),
    ("33/errors.xlsx", SEMICOLON, {UNLABELLED: (TWELVE_TOPICS, 250, 1.8)}),
    ("39/tags.csv", SEMICOLON, {"--words=symbols": (EIGHT_TAGS, 600, 1.3)}),
]
"""Files, options, and what is read with each setting that is printed."""


@pytest.mark.parametrize(("file", "options", "outcomes"), REMARKED_ON)
def test_each_setting_that_is_printed(read, file, options, outcomes) -> None:
    said = read(file, options).said
    assert set(find_settings(said)) == set(outcomes)
    for setting, outcome in outcomes.items():
        prepared = read(file, [*options, setting])
        labels, n, labels_per_record = summarize_labels(prepared)
        if isinstance(outcome, str):
            assert outcome in prepared.said
        else:
            assert outcome in [(labels, n, labels_per_record), (len(labels), n, labels_per_record)]
        assert setting not in find_settings(prepared.said)


def test_no_setting_is_printed_without_need(read) -> None:
    remarked_on = {file for file, _, _ in REMARKED_ON}
    for file, options, _ in READ:
        if file not in remarked_on:
            assert not find_settings(read(file, options).said)


@pytest.mark.parametrize("has_ids", [True, False])
def test_one_row_per_label_in_evaluation(read, cases, trained, capsys, has_ids) -> None:
    model = trained(read("07/lists.csv", SEMICOLON).dataset)
    lines = (cases["07"] / "pairs.csv").read_text().splitlines(keepends=True)
    if not has_ids:
        lines = [line.partition(",")[2] for line in lines]
    Path("pairs.csv").write_text("".join(lines))
    evaluation = ["evaluate", f"--model={model}", "pairs.csv"]
    capsys.readouterr()
    assert main(evaluation) == 0
    said = capsys.readouterr().err
    assert f"467 {'ids, such as PMID00000,' if has_ids else 'texts'} occur more than once" in said
    assert main([*evaluation, find_settings(said)[0]]) == 0
    printed, said = capsys.readouterr()
    assert re.search(r"records +700\n", printed)
    assert not find_settings(said)


def test_lines_with_a_further_field_in_prediction(read, cases, trained, capsys) -> None:
    model = trained(read("06/rcv1-2.txt", [*LINES, "--label-separator= "]).dataset)

    def predict(path, *options) -> tuple[str, str]:
        capsys.readouterr()
        main(["predict", str(model), str(path), "--output-format=csv", *options])
        return capsys.readouterr()

    expected, said = predict(cases["06"] / "rcv1-2.txt", *LINES)
    assert not find_settings(said)
    path = cases["06"] / "rcv1.txt"
    _, said = predict(path, *LINES)
    assert "400 lines have further tabs" in said
    _, said = predict(path, *find_settings(said))
    answers, said = predict(follow_command(said, path))
    assert answers == expected
    assert not find_settings(said)


@pytest.mark.parametrize(
    ("file", "header", "labels"),
    [
        ("goemotions.tsv", "text\tlabels\tid\n", GOEMOTIONS),
        ("prose.tsv", "text\tlabels\n", EIGHT_GENRES),
    ],
)
def test_columns_in_another_order(cases, advised, file, header, labels) -> None:
    path = cases["06"] / file
    with_header = header + path.read_text(encoding="utf-8")
    read = advised(path, LINES, "header line", "--format=csv", new=with_header)
    assert summarize_labels(read) == (labels, 400, 2.0)


def test_ids_in_another_order_have_the_names_of_a_file(cases, advised) -> None:
    path = cases["06"] / "goemotions.tsv"
    options = [*LINES, f"--labels={cases['06'] / 'names.txt'}"]
    with_header = "text\tlabels\tid\n" + path.read_text(encoding="utf-8")
    read = advised(path, options, "header line", "--format=csv", new=with_header)
    names, n, labels_per_record = summarize_labels(read)
    assert (len(names), n, labels_per_record) == (8, 400, 2.0)


def test_names_in_another_order_need_no_file_of_names(cases, advised) -> None:
    path = cases["06"] / "prose.tsv"
    options = [*LINES, f"--labels={cases['06'] / 'names.txt'}"]
    with_header = "text\tlabels\n" + path.read_text(encoding="utf-8")
    read = advised(path, options, "header line", "--format=csv", new=with_header)
    assert "leave out the file of label names" in read.said


def test_lines_that_begin_with_an_id(cases, advised) -> None:
    path = cases["06"] / "rcv1.txt"
    without_ids = ""
    for line in path.read_text().splitlines(keepends=True):
        without_ids += line.partition("\t")[2]
    expected = "expected labels, a tab and the text"
    read = advised(path, LINES, expected, "--label-separator= ", new=without_ids)
    assert summarize_labels(read) == CODES
    advised(path, LINES, "cut -f 2-", "--label-separator= ", new=without_ids)


def test_no_header(read, cases, prepare) -> None:
    said = read("13/noheader.csv", SEMICOLON).said
    with_header = follow_command(said, cases["13"] / "noheader.csv")
    assert summarize_labels(prepare(with_header, SEMICOLON)) == GENRES


@pytest.mark.parametrize("location", ["", "*", "part-*"])
def test_parts_without_a_header(cases, prepare, location) -> None:
    options = ["--format=csv", *SEMICOLON]
    said = prepare(cases["38"] / "tags_noheader" / location, options).said
    assert "header has" not in said
    assert summarize_labels(prepare(follow_command(said), options)) == (TWELVE_TOPICS, 300, 1.8)


@pytest.mark.parametrize(
    ("train", "test", "copies"),
    [("train", "test", 120), ("train_short", "test_short", 120), ("train", "test_new", 0)],
)
def test_copies_of_short_texts(read, cases, train, test, copies) -> None:
    said = read(f"14/{train}.csv", [*PRODUCTS, f"--test={cases['14'] / test}.csv"]).said
    assert (f"{copies} of 120 test instances have a near twin in training" in said) == (copies > 0)


def list_pairs(ids) -> set[int]:
    """List the pairs of neighbouring lines that have the ids."""
    return {int(record.split()[-1]) // 2 for record in ids}


def test_copies_are_on_one_side(read) -> None:
    # each text is followed by itself with a full stop
    dataset = read("14/twice_short.csv", PRODUCTS).dataset
    train = list_pairs(dataset.ids("train"))
    test = list_pairs(dataset.ids("test"))
    assert not train & test
    assert len(train) + len(test) == 600


def choose_vocabulary(cases, name) -> list[str]:
    """Make the options of Annif's format with a vocabulary of case 36."""
    return ["--format=annif", f"--vocabulary={cases['36'] / name}.ttl"]


@pytest.mark.parametrize("name", ["notag", "scheme"])
def test_names_without_a_language(cases, read, name) -> None:
    prepared = read("36/train.tsv", choose_vocabulary(cases, name))
    assert summarize_labels(prepared) == (TWELVE_TOPICS, 300, 1.9)
    assert "separated by a comma" not in prepared.said


def test_names_in_two_languages(cases, advised) -> None:
    options = choose_vocabulary(cases, "alltagged")
    path = cases["36"] / "train.tsv"
    read = advised(path, options, "set language to one of them, such as en", "--language=en")
    assert summarize_labels(read) == (TWELVE_TOPICS, 300, 1.9)


def test_concepts_without_a_name(cases, read) -> None:
    prepared = read("36/train.tsv", choose_vocabulary(cases, "nolabel"))
    uris = "http://ex.org/v/000, http://ex.org/v/001, http://ex.org/v/002"
    assert f"3 subjects of the vocabulary have no name, such as {uris}: left out" in prepared.said
    assert "0 of them deprecated, 3 without a name" in prepared.said
    assert "subjects of the vocabulary are deprecated" not in prepared.said
    assert prepared.found[0] == TWELVE_TOPICS[3:]


@pytest.mark.parametrize(("old", "new"), [("<http:", "<https:"), (">", "/>")])
def test_uris_written_in_another_way(cases, advised, tmp_path, old, new) -> None:
    content = (cases["36"] / "train.tsv").read_text().replace(old, new)
    options = choose_vocabulary(cases, "notag")
    rows = "".join(
        f"{f'<http://ex.org/v/{number:03}>'.replace(old, new)},http://ex.org/v/{number:03}\n"
        for number in range(12)
    )
    (tmp_path / "map.csv").write_text(rows.replace("<", "").replace(">", ""))
    uris = f"{'<http://ex.org/v/009>'.replace(old, new)[1:-1]} for http://ex.org/v/009"
    advice = f"only http or https or a final slash differs: {uris}; write the URIs"
    read = advised(content, options, advice, f"--label-map={tmp_path}/map.csv", name="a.tsv")
    assert summarize_labels(read) == (TWELVE_TOPICS, 300, 1.9)


def test_the_list_of_uris_written_in_another_way_is_filled_in(cases, prepare, tmp_path) -> None:
    lines = (cases["36"] / "train.tsv").read_text().splitlines(keepends=True)
    content = "".join([*lines[:150], *(line.replace("<http:", "<https:") for line in lines[150:])])
    options = choose_vocabulary(cases, "notag")
    said = prepare(content, options, "a.tsv").said
    assert "its column stands_for is filled in: set label_map to a copy of it" in said
    assert "such as https://ex.org/v/" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "unknown_subjects.csv").rename(tmp_path / "mine/map.csv")
    read = prepare(content, [*options, f"--label-map={tmp_path}/mine/map.csv"], "a.tsv")
    assert summarize_labels(read) == (TWELVE_TOPICS, 300, 1.9)


@pytest.mark.parametrize("name", ["zh30", "zh15", "zh100"])
def test_texts_without_spaces_among_others(read, name) -> None:
    said = read(f"15/{name}.csv", SEMICOLON).said
    features = re.search(r"set features: (\[.*?)(, or lower|\n)", said)[1]
    as_advised = read(f"15/{name}.csv", [*SEMICOLON, f"--features={features}"])
    assert "have no feature" not in as_advised.said


WORKBOOKS = {
    "months": ["sheets that are not read: 'February' (100 rows), 'March' (100 rows)", 100],
    "emptyfirst": ["sheet             'Data' (300 rows)", 300],
    "errors": ["empty cells       50 #N/A, 6 #REF!", 300],
}


@pytest.mark.parametrize("name", WORKBOOKS)
def test_workbooks(read, name) -> None:
    said, n_records = WORKBOOKS[name]
    prepared = read(f"33/{name}.xlsx", SEMICOLON)
    assert said in prepared.said
    assert prepared.found[1] == n_records


LANGUAGES = [".NET", "C", "C#", "C++", "D", "F#", "Java", "R"]


def test_names_of_symbols(cases, advised, trained) -> None:
    said = "have no word of two letters or more, such as C, C#, C++, D, F#: words: symbols makes"
    prepared = advised(cases["39"] / "tags.csv", SEMICOLON, said, "--words=symbols")
    assert "have no word" not in prepared.said
    assert summarize_labels(prepared) == (LANGUAGES, 600, 1.3)
    predictor = Predictor.open(trained(prepared.dataset))
    best, _ = predictor.top_k(predictor.from_split(prepared.dataset.test), 1)
    Y = prepared.dataset.test.Y.to_scipy().toarray()
    assert Y[np.arange(len(best)), best[:, 0]].all()
    [answer] = predictor.answer(["What of .NET, though?"], top_k=1)
    assert [label.name for label in answer.labels] == [".NET"]
    assert (answer.words, answer.known_words) == (4, 2)


def test_all_sheets_of_a_workbook(read) -> None:
    prepared = read("33/months.xlsx", [*SEMICOLON, "--sheet=all"])
    assert prepared.found[1] == 300
    assert "remark: sheets" not in prepared.said
