"""ovaflow predict on texts and features, in every form, against the pipeline's predictions."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet
import pytest
from commands import list_label_values, ovaflow, predict_answers
from records import read_records, write_records
from tiny_table import write_table

from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.predictions import predict_test_set
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.sources import (
    choose_format,
    join_text_columns,
    make_input_file,
    read_record_batches,
)


@pytest.fixture(scope="module")
def expected(tiny_models):
    """Model, test texts, and the pipeline's predictions for them."""
    path = tiny_models / "one-vs-all.h5"
    dataset = open_dataset(tiny_models / "dataset.h5")
    return path, dataset.test_texts(), predict_test_set(Predictor.open(path).model, dataset, 3)


def run(*arguments, status=0):
    return ovaflow("predict", *arguments, status=status)


def check(found, predictions, model) -> None:
    names = Predictor.open(model).label_names
    assert list_label_values(found) == predictions.ids.tolist()
    assert np.array_equal(np.float32(list_label_values(found, "score")), predictions.scores)
    assert list_label_values(found, "name") == [
        [names[label] for label in row] for row in predictions.ids
    ]


def as_csv(texts):
    out = io.StringIO()
    csv.writer(out).writerows(
        [["more", "text"], *(["1", text.replace(" ", "\n", 1)] for text in texts)]
    )
    return out.getvalue().encode()


FILES = {
    "in.txt": lambda texts: "\n".join([*texts, ""]).encode(),
    "in.jsonl": lambda texts: "".join(
        json.dumps({"text": text, "more": 1}) + "\n\n" for text in texts
    ).encode(),
    "in.csv": as_csv,
    "in.text.gz": lambda texts: gzip.compress("\r\n".join(texts).encode()),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_texts(expected, tmp_path, name) -> None:
    model, texts, predictions = expected
    (tmp_path / name).write_bytes(FILES[name](texts))
    check(predict_answers(model, tmp_path / name, "--top-k=3", "--threads=2"), predictions, model)


def test_texts_of_the_command_line_come_before_files(expected, tmp_path) -> None:
    model, texts, predictions = expected
    rest, table, matrix = (tmp_path / name for name in ("rest.jsonl", "out.csv", "out.txt"))
    write_records(rest, [{"id": f"n{i}", "title": text} for i, text in enumerate(texts[1:])])
    given = "--model", model, "--text", texts[0], rest, "--text-column=title", "--top-k=3"
    found = predict_answers(*given)
    check(found, predictions, model)
    assert [entry.get("id") for entry in found[:3]] == [None, "n0", "n1"]
    run(*given, f"--output={table}")
    rows = [(row["instance"], int(row["id"]), float(row["score"])) for row in read_records(table)]
    assert rows == [
        (entry.get("id", "1"), each["id"], each["score"])
        for entry in found
        for each in entry["labels"]
    ]
    run(*given, f"--output={matrix}")
    head, *lines = matrix.read_text().splitlines()
    assert head.split() == [str(len(texts)), "10"]
    assert [
        [int(pair.split(":")[0]) for pair in line.split()] for line in lines
    ] == predictions.ids.tolist()


@pytest.fixture
def table(tmp_path):
    """Write columns as a file of their format."""

    def write(name, **columns):
        if name.endswith(".parquet"):
            pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / name)
        else:
            with open(tmp_path / name, "w", newline="") as file:
                csv.writer(file, delimiter=";").writerows(
                    [list(columns), *zip(*columns.values(), strict=True)]
                )
        return tmp_path / name

    return write


@pytest.mark.parametrize("file", ["in.csv", "in.parquet"])
@pytest.mark.parametrize(
    ("column", "options"), [("id", []), ("call number", ["--id-column=call number"])]
)
def test_records_keep_their_names(expected, table, file, column, options) -> None:
    model, texts, predictions = expected
    names = [f"n{i}" for i in range(len(texts))]
    found = predict_answers(
        model, table(file, **{"text": texts, column: names}), "--top-k=3", *options
    )
    check(found, predictions, model)
    assert [entry["id"] for entry in found] == names


def test_one_row_per_record(expected, tmp_path, capsys) -> None:
    model, texts, predictions = expected
    (tmp_path / "in.txt").write_bytes(FILES["in.txt"](texts))
    least = float(np.quantile(predictions.scores[:, 0], 0.1))
    out = tmp_path / "out.csv"
    asked = model, tmp_path / "in.txt", "--top-k=3", f"--min-score={least}"
    found = predict_answers(*asked)
    kept = predictions.scores >= np.float32(least)
    ids = [label for each in list_label_values(found) for label in each]
    assert ids == predictions.ids[kept].tolist()
    given = *asked, f"--output={out}"
    run(*given)
    without = sum(not entry["labels"] for entry in found)
    assert f"no label of {without} of {len(texts)} instances is kept" in capsys.readouterr().err
    assert [int(row["id"]) for row in read_records(out)] == ids
    run(*given, "--joined= | ")
    # by which spreadsheets know UTF-8; the other CSV is for programs
    assert out.read_bytes().startswith(b"\xef\xbb\xbfinstance,labels,scores\n")
    joined = (
        [" | ".join(map(str, each)) for each in list_label_values(found, key)]
        for key in ("name", "score")
    )
    theirs = zip(map(str, range(1, len(texts) + 1)), *joined, strict=True)
    assert [tuple(row.values()) for row in read_records(out)] == [*theirs]
    assert "has it in its name" in run(*given, "--joined=top", status=2)


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_columns_of_the_input_are_kept(expected, table, tmp_path, name) -> None:
    model, texts, predictions = expected
    years = [-year for year in range(len(texts))]
    titles = [f"=title {year}" for year in years]
    # an apostrophe, since it would be a formula
    theirs = [
        (f"'{title}", str(year), text)
        for title, year, text in zip(titles, years, texts, strict=True)
    ]
    file = table(name, text=texts, title=titles, year=years)
    out = tmp_path / "out.csv"
    given = file, "--top-k=2", "--keep=title", "--keep=year", "--keep=text", f"--output={out}"
    for times, options in ((2, []), (1, ["--joined= | "])):
        run(model, *given, *options)
        rows = read_records(out)
        assert [tuple(row.values())[1:4] for row in rows] == [
            each for each in theirs for _ in range(times)
        ]
    assert list(rows[0]) == ["instance", "title", "year", "text", "labels", "scores"]
    # it is a file of records again
    assert (
        list_label_values(predict_answers(model, out, "--top-k=2"))
        == predictions.ids[:, :2].tolist()
    )


@pytest.mark.parametrize("options", [[], ["--joined= | "]])
def test_tsv_has_the_columns_of_csv(expected, table, tmp_path, options) -> None:
    model, texts, _ = expected
    file = table("in.csv", text=texts[:3], title=["a\tb", 'say "c"', "=d\ne"])
    for name in ("out.csv", "out.tsv"):
        run(model, file, "--keep=title", f"--output={tmp_path}/{name}", *options)
    with open(tmp_path / "out.tsv", encoding="utf-8-sig", newline="") as tsv:
        assert [*csv.DictReader(tsv, delimiter="\t")] == read_records(tmp_path / "out.csv")


@pytest.mark.parametrize("second", [{"text": None}, {"more": 1}])
def test_a_key_that_a_record_lacks_is_null(expected, tmp_path, second) -> None:
    model, texts, _ = expected
    (tmp_path / "in.jsonl").write_text(
        f"{json.dumps({'text': texts[0]})}\n\n{json.dumps(second)}\n\n"
    )
    assert predict_answers(model, tmp_path / "in.jsonl") == predict_answers(
        model, f"--text={texts[0]}", "--text="
    )


def test_texts_without_a_known_word_are_counted(expected, capsys) -> None:
    run(expected[0], "--text=zzz", "--text=wordless", f"--text={expected[1][0]}")
    said = capsys.readouterr().err
    assert (
        said
        == "ovaflow: 2 of 3 texts have no word that the model knows: what is predicted fits any text\n"
    )
    run(expected[0], f"--text={expected[1][0]}")
    assert capsys.readouterr().err == ""


def test_columns_are_those_of_the_training_data(grow_trees, tmp_path) -> None:
    train = tmp_path / "train.csv"
    write_table(train, 20, columns=("title", "subjects"))
    write_records(
        train, [{"record": f"r{i}"} | record for i, record in enumerate(read_records(train))]
    )
    columns = "--text-column=title", "--labels-column=subjects", "--label-separator=|"
    model = grow_trees("--format=csv", f"--train={train}", *columns, "--id-column=record")
    (tmp_path / "new.csv").write_text("id,title\na,word00\n")
    for file, theirs in ((train, [f"r{i}" for i in range(20)]), (tmp_path / "new.csv", ["a"])):
        assert [entry["id"] for entry in predict_answers(model, file)] == theirs
    assert "no column 'text'" in run(model, train, "--text-column=text", status=2)


def test_columns_with_weights_are_named_where_a_plain_text_is_given(
    grow_trees, tmp_path, capsys
) -> None:
    train = tmp_path / "train.csv"
    new = tmp_path / "new.jsonl"
    train.write_text(
        "title,body,labels\n" + "".join(f"a{i % 3} b,c{i % 3},l{i % 3}\n" for i in range(30))
    )
    weights = "--text-column=title,body", "--column-weights=2", "--column-weights=1"
    model = grow_trees("--format=csv", f"--train={train}", *weights)
    run(model, "--text=a1 b c1")
    assert (
        "weighs the columns title, body: all words of a plain text count as those of title"
        in capsys.readouterr().err
    )
    columns = {"body": "c1", "title": "a1 b"}
    new.write_text(json.dumps(columns) + "\n")
    run(model, new, "--top-k=1")
    assert "weighs" not in capsys.readouterr().err
    predictor = Predictor.open(model)
    [batch] = read_record_batches(make_input_file(predictor.model, new), predictor)
    ours = predictor.from_texts([join_text_columns(predictor.model, columns)])
    assert np.array_equal(ours.data, batch.read.X.data)
    assert not np.array_equal(ours.data, predictor.from_texts(["a1 b c1"]).data)


YEAR = b"text;year\nword00;1900\n"
BAD = [
    ("in.jsonl", b'{"text": "a"}\n{"text": \n', "", "in.jsonl, line 2: not valid JSON"),
    (
        "in.jsonl",
        b'{"body": "a"}\n\n{"note": "b"}\n',
        "",
        "in.jsonl: no column 'text', there are 'body', 'note'",
    ),
    (
        "in.txt",
        b"good\nb\xff\n",
        "",
        "in.txt, line 2: byte 2 of the line (0xff) is not valid UTF-8",
    ),
    ("in.csv", b"title,body\na,b\n", "", "in.csv, line 1: no column 'text'"),
    ("in.svm", b"0 1:1\n0 9999:1\n", "", "in.svm, line 2: feature id out of range in '9999:1'"),
    ("in.xmc", b"2 5 3\n0 1:1\n", "--format=xmc-text", "in.xmc, line 1: 5 features, the model has"),
    ("in.csv", YEAR, "--keep=year", "--keep goes with csv or tsv, not jsonl"),
    (
        "in.csv",
        YEAR,
        "--keep=place --output=out.csv",
        "no column 'place', there are 'text', 'year'; name",
    ),
    (
        "in.csv",
        YEAR,
        "--keep=label --output=out.csv",
        "--keep label: the output has a column of this name",
    ),
    (
        "in.csv",
        YEAR,
        "--keep=year --output=out.csv --format=lines",
        "--keep goes with files of csv, jsonl, parquet",
    ),
    ("in.csv", YEAR, "--id-column=shelf", "no column 'shelf', there are 'text', 'year'"),
]


@pytest.mark.parametrize(("name", "content", "options", "complaint"), BAD)
def test_bad_input_is_named_with_its_line(
    expected, tmp_path, monkeypatch, capsys, name, content, options, complaint
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    given = expected[0], name, *options.split()
    for output in (["--output=out.jsonl"], []):
        said = run(*given[:2], *output, *given[2:], status=2)
        (error,) = (line for line in said.splitlines() if line.startswith("ovaflow: error"))
        assert complaint in error
    assert [path.name for path in tmp_path.iterdir()] == [name]
    # no record is answered before a column is missed
    assert "no column" not in complaint or capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "missing MODEL"),
        ("one-vs-all.h5", "nothing to predict"),
        ("one-vs-all.h5 --text=a --dataset=d.h5 --output=p.h5", "--dataset takes no FILE"),
        ("one-vs-all.h5 --text=a --output-format=xmc-text", "name a file with --output"),
        ("nowhere.h5 --text=a", "nowhere.h5: no such file"),
        (
            "one-vs-all.h5 --text=a --output=a.parquet",
            "a.parquet: no format is written under such a name",
        ),
        (
            "one-vs-all.h5 --text=a --output-format=jsonl --joined=;",
            "--joined goes with csv or tsv, not jsonl",
        ),
        (
            "one-vs-all.h5 --text=a --output-format=csv --marc-source=gnd",
            "--marc-source goes with marcxml, not csv",
        ),
        ("one-vs-all.h5 --text=a --output-format=annif", "name a folder with --output"),
        (
            "one-vs-all.h5 --text=a --output-format=annif --output=dataset.h5",
            "name a folder with --output",
        ),
        (
            "one-vs-all.h5 --text=a --output-format=csv --output=.",
            ". is a folder, for --output-format=annif",
        ),
        (
            "one-vs-all.h5 - --format=annif",
            "standard input: Annif's corpora cannot be read from a pipe; give a file",
        ),
        ("one-vs-all.h5 nowhere*.txt", "nowhere*.txt: no such file"),
        ("one-vs-all.h5 nowhere.txt", "nowhere.txt: cannot be read"),
        ("one-vs-all.h5 --text=a --fit", "one-vs-all.h5: has no second stage, so no probabilities"),
    ],
)
def test_what_does_not_go_together(tiny_models, monkeypatch, arguments, complaint) -> None:
    monkeypatch.chdir(tiny_models)
    assert complaint in run(*arguments.split(), status=2)


def test_files_of_features(grow_trees, tmp_path) -> None:
    """svmlight counts features as the model's data did, XMC text from 0."""
    train, other, xmc = (tmp_path / name for name in ("train.svm", "from-0.svm", "in.xmc"))
    train.write_text("0 1:1 3:2\n1 2:1\n0,1 1:2 2:4\n1 2:3\n")
    other.write_text("0 0:1 2:2\n1 1:1\n0,1 0:2 1:4\n1 1:3\n")
    xmc.write_text("4 3 2\n" + other.read_text())
    model = grow_trees("--format=svmlight", f"--train={train}", f"--test={train}")
    theirs = predict_test_set(Predictor.open(model).model, open_dataset(tmp_path / "dataset.h5"), 1)
    for file, *options in ([train], [other, "--first-feature=0"], [xmc, "--format=xmc-text"]):
        check(predict_answers(model, file, "--top-k=1", *options), theirs, model)
    said = "from-0.svm, line 1: feature id out of range in '0:1', ids run from 1 to 3"
    assert said in run(model, other, status=2)
    said = "was trained on features, so it cannot read texts; give it features"
    assert said in run(model, "--text=word", status=2)


def test_formats_by_name():
    def model_of(**source):
        return SimpleNamespace(transform={"token_pattern": "", "source": source})

    alone = {
        "a.jsonl.gz": "jsonl",
        "b.CSV": "csv",
        "c.svm.xz": "svmlight",
        "d.txt": "lines",
        "-": "lines",
    }
    lines = {"format": "text-tsv", "files": {"train": {"name": "a.tsv.gz, b.tsv.gz"}}}
    table = {"format": "csv", "files": {"train": {"name": "a.csv"}}}
    for model, formats in (
        (model_of(), alone | {"e": "lines"}),
        (SimpleNamespace(transform={}), {"-": "svmlight"}),
        # names that end as those of the model's data, and tables with tabs
        (model_of(**lines), {"new.tsv": "text-tsv", "new.txt": "lines", "new.csv": "csv"}),
        (model_of(**table), {"new.tsv": "csv", "new.txt": "lines"}),
    ):
        assert {name: choose_format(model, name) for name in formats} == formats


def test_a_pipe_is_answered_line_by_line(expected) -> None:
    model, texts, predictions = expected
    command = [sys.executable, "-m", "ovaflow", "predict", str(model), "-", "--top-k=3"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        found = []
        for text in texts[:3]:
            process.stdin.write(text.encode() + b"\n")
            process.stdin.flush()
            found.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait() == 0
        watchdog.cancel()
    assert list_label_values(found) == predictions.ids[:3].tolist()


def test_named_pipes_are_read(expected, tmp_path) -> None:
    model, texts, predictions = expected
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(
        target=(tmp_path / "pipe").write_text, args=["\n".join(texts)], daemon=True
    ).start()
    assert (
        list_label_values(predict_answers(model, tmp_path / "pipe", "--top-k=3"))
        == predictions.ids.tolist()
    )


def test_a_reader_that_has_enough_is_no_error(expected, tmp_path) -> None:
    model, texts, _ = expected
    (tmp_path / "in.txt").write_bytes(FILES["in.txt"](texts * 200))
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "ovaflow", "predict", str(model), str(tmp_path / "in.txt")]
    with subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        os.read(reading, 100)
        os.close(reading)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert b"rror" not in errors
