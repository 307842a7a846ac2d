"""``ovaflow predict`` on texts and features in every format, against the pipeline's predictions."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from commands import list_label_values, ovaflow, predict_answers
from records import read_records, write_records
from tiny_table import write_table

from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.predictions import Predictions, predict_test_set
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.sources import (
    choose_format,
    join_text_columns,
    make_input_file,
    read_record_batches,
)


@pytest.fixture(scope="module")
def expected(tiny_models) -> tuple[Path, list[str], Predictions]:
    """A model, its test texts, and the pipeline's predictions for them."""
    path = tiny_models / "one-vs-all.h5"
    dataset = open_dataset(tiny_models / "dataset.h5")
    return path, dataset.test_texts(), predict_test_set(Predictor.open(path).model, dataset, 3)


def run(*arguments: object, status: int = 0) -> str:
    return ovaflow("predict", arguments, status=status)


def assert_same(answers: list[dict], predictions: Predictions, model: Path) -> None:
    """Compare labels, scores and names of answers with predictions."""
    label_names = Predictor.open(model).label_names
    names = []
    for row in predictions.ids:
        names.append([label_names[label] for label in row])
    assert list_label_values(answers) == predictions.ids.tolist()
    assert np.array_equal(np.float32(list_label_values(answers, "score")), predictions.scores)
    assert list_label_values(answers, "name") == names


def make_lines(texts: list[str]) -> bytes:
    return "\n".join([*texts, ""]).encode()


def make_json_lines(texts: list[str]) -> bytes:
    lines = [json.dumps({"text": text, "more": 1}) + "\n\n" for text in texts]
    return "".join(lines).encode()


def make_csv(texts: list[str]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["more", "text"])
    for text in texts:
        writer.writerow(["1", text.replace(" ", "\n", 1)])
    return out.getvalue().encode()


def make_compressed_lines(texts: list[str]) -> bytes:
    return gzip.compress("\r\n".join(texts).encode())


FILES = {
    "in.txt": make_lines,
    "in.jsonl": make_json_lines,
    "in.csv": make_csv,
    "in.text.gz": make_compressed_lines,
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_texts(expected, tmp_path, name) -> None:
    model, texts, predictions = expected
    (tmp_path / name).write_bytes(FILES[name](texts))
    answers = predict_answers(model, tmp_path / name, "--top-k=3", "--threads=2")
    assert_same(answers, predictions, model)


def test_texts_of_the_command_line_come_before_files(expected, tmp_path) -> None:
    model, texts, predictions = expected
    rest = tmp_path / "rest.jsonl"
    table = tmp_path / "out.csv"
    matrix = tmp_path / "out.txt"
    records = [{"id": f"n{number}", "title": text} for number, text in enumerate(texts[1:])]
    write_records(rest, records)
    arguments = ["--model", model, "--text", texts[0], rest, "--text-column=title", "--top-k=3"]
    answers = predict_answers(arguments)
    assert_same(answers, predictions, model)
    assert [answer.get("id") for answer in answers[:3]] == [None, "n0", "n1"]
    run(*arguments, f"--output={table}")
    ours = [(row["instance"], int(row["id"]), float(row["score"])) for row in read_records(table)]
    theirs = []
    for answer in answers:
        for label in answer["labels"]:
            theirs.append((answer.get("id", "1"), label["id"], label["score"]))
    assert ours == theirs
    run(*arguments, f"--output={matrix}")
    head, *lines = matrix.read_text().splitlines()
    assert head.split() == [str(len(texts)), "10"]
    for line, ids in zip(lines, predictions.ids.tolist(), strict=True):
        assert [int(pair.split(":")[0]) for pair in line.split()] == ids


@pytest.fixture
def write_columns(tmp_path) -> Callable[[str, dict[str, list]], Path]:
    """Write columns to a file in the format of its name."""

    def write(name: str, columns: dict[str, list]) -> Path:
        path = tmp_path / name
        if name.endswith(".parquet"):
            pyarrow.parquet.write_table(pyarrow.table(columns), path)
            return path
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return path

    return write


@pytest.mark.parametrize("file", ["in.csv", "in.parquet"])
@pytest.mark.parametrize(
    ("column", "options"), [("id", []), ("call number", ["--id-column=call number"])]
)
def test_records_keep_their_names(expected, write_columns, file, column, options) -> None:
    model, texts, predictions = expected
    names = [f"n{number}" for number in range(len(texts))]
    path = write_columns(file, {"text": texts, column: names})
    answers = predict_answers(model, path, "--top-k=3", options)
    assert_same(answers, predictions, model)
    assert [answer["id"] for answer in answers] == names


def test_one_row_per_record(expected, tmp_path, capsys) -> None:
    model, texts, predictions = expected
    (tmp_path / "in.txt").write_bytes(FILES["in.txt"](texts))
    least = float(np.quantile(predictions.scores[:, 0], 0.1))
    out = tmp_path / "out.csv"
    arguments = [model, tmp_path / "in.txt", "--top-k=3", f"--min-score={least}"]
    answers = predict_answers(arguments)
    kept = predictions.scores >= np.float32(least)
    ids = []
    for row in list_label_values(answers):
        ids += row
    assert ids == predictions.ids[kept].tolist()
    arguments.append(f"--output={out}")
    run(*arguments)
    without = sum(not answer["labels"] for answer in answers)
    assert f"no label of {without} of {len(texts)} instances is kept" in capsys.readouterr().err
    assert [int(row["id"]) for row in read_records(out)] == ids
    run(*arguments, "--joined= | ")
    # spreadsheets recognize UTF-8 by this mark; the other CSV is for programs
    assert out.read_bytes().startswith(b"\xef\xbb\xbfinstance,labels,scores\n")
    theirs = []
    for number, answer in enumerate(answers, 1):
        names = " | ".join(label["name"] for label in answer["labels"])
        scores = " | ".join(str(label["score"]) for label in answer["labels"])
        theirs.append((str(number), names, scores))
    assert [tuple(row.values()) for row in read_records(out)] == theirs
    assert "contains it; choose" in run(*arguments, "--joined=top", status=2)


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_columns_of_the_input_are_kept(expected, write_columns, tmp_path, name) -> None:
    model, texts, predictions = expected
    years = [-year for year in range(len(texts))]
    titles = [f"=title {year}" for year in years]
    theirs = []
    for title, year, text in zip(titles, years, texts, strict=True):
        # titles would be formulas without the apostrophe
        theirs.append((f"'{title}", str(year), text))
    file = write_columns(name, {"text": texts, "title": titles, "year": years})
    out = tmp_path / "out.csv"
    keep = ["--keep=title", "--keep=year", "--keep=text"]
    arguments = [model, file, "--top-k=2", *keep, f"--output={out}"]
    run(*arguments)
    ours = [tuple(row.values())[1:4] for row in read_records(out)]
    assert ours[::2] == ours[1::2] == theirs
    run(*arguments, "--joined= | ")
    rows = read_records(out)
    assert [tuple(row.values())[1:4] for row in rows] == theirs
    assert list(rows[0]) == ["instance", "title", "year", "text", "labels", "scores"]
    # the output can be predicted again
    answers = predict_answers(model, out, "--top-k=2")
    assert list_label_values(answers) == predictions.ids[:, :2].tolist()


@pytest.mark.parametrize("options", [[], ["--joined= | "]])
def test_tsv_has_the_columns_of_csv(expected, write_columns, tmp_path, options) -> None:
    model, texts, _ = expected
    columns = {"text": texts[:3], "title": ["a\tb", 'say "c"', "=d\ne"]}
    file = write_columns("in.csv", columns)
    for name in ("out.csv", "out.tsv"):
        run(model, file, "--keep=title", f"--output={tmp_path}/{name}", *options)
    with open(tmp_path / "out.tsv", encoding="utf-8-sig", newline="") as tsv:
        rows = list(csv.DictReader(tsv, delimiter="\t"))
    assert rows == read_records(tmp_path / "out.csv")


@pytest.mark.parametrize("second", [{"text": None}, {"more": 1}])
def test_a_key_that_a_record_lacks_is_null(expected, tmp_path, second) -> None:
    model, texts, _ = expected
    first = {"text": texts[0]}
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(first)}\n\n{json.dumps(second)}\n\n")
    ours = predict_answers(model, tmp_path / "in.jsonl")
    theirs = predict_answers(model, f"--text={texts[0]}", "--text=")
    assert ours == theirs


def test_texts_without_a_known_word_are_counted(expected, capsys) -> None:
    model, texts, _ = expected
    run(model, "--text=zzz", "--text=wordless", f"--text={texts[0]}")
    assert capsys.readouterr().err == (
        "ovaflow: 2 of 3 texts have no word that the model knows: their predictions would fit any text\n"
    )
    run(model, f"--text={texts[0]}")
    assert capsys.readouterr().err == ""


def test_columns_are_those_of_the_training_data(grow_trees, tmp_path) -> None:
    train = tmp_path / "train.csv"
    write_table(train, 20, columns=("title", "subjects"))
    records = []
    for number, record in enumerate(read_records(train)):
        records.append({"record": f"r{number}"} | record)
    write_records(train, records)
    columns = "--text-column=title", "--labels-column=subjects", "--label-separator=|"
    model = grow_trees("--format=csv", f"--train={train}", *columns, "--id-column=record")
    (tmp_path / "new.csv").write_text("id,title\na,word00\n")
    answers = predict_answers(model, train)
    assert [answer["id"] for answer in answers] == [record["record"] for record in records]
    [answer] = predict_answers(model, tmp_path / "new.csv")
    assert answer["id"] == "a"
    assert "no column 'text'" in run(model, train, "--text-column=text", status=2)


def test_columns_with_weights_are_named_where_a_plain_text_is_given(
    grow_trees, tmp_path, capsys
) -> None:
    train = tmp_path / "train.csv"
    new = tmp_path / "new.jsonl"
    rows = ["a0 b,c0,l0", "a1 b,c1,l1", "a2 b,c2,l2"] * 10
    train.write_text("\n".join(["title,body,labels", *rows]) + "\n")
    weights = "--text-column=title,body", "--column-weights=2", "--column-weights=1"
    model = grow_trees("--format=csv", f"--train={train}", *weights)
    run(model, "--text=a1 b c1")
    remark = "weighs the columns title, body: all words of a plain text count as those of title"
    assert remark in capsys.readouterr().err
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
    model, _, _ = expected
    for output in (["--output=out.jsonl"], []):
        said = run(model, name, *output, *options.split(), status=2)
        [error] = [line for line in said.splitlines() if line.startswith("ovaflow: error")]
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
            "a.parquet: the name does not tell the format",
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
    """Features of svmlight are counted from 1, as in the model's data, those of XMC text from 0."""
    train = tmp_path / "train.svm"
    other = tmp_path / "from-0.svm"
    xmc = tmp_path / "in.xmc"
    train.write_text("0 1:1 3:2\n1 2:1\n0,1 1:2 2:4\n1 2:3\n")
    other.write_text("0 0:1 2:2\n1 1:1\n0,1 0:2 1:4\n1 1:3\n")
    xmc.write_text("4 3 2\n" + other.read_text())
    model = grow_trees("--format=svmlight", f"--train={train}", f"--test={train}")
    theirs = predict_test_set(Predictor.open(model).model, open_dataset(tmp_path / "dataset.h5"), 1)
    for file, *options in ([train], [other, "--first-feature=0"], [xmc, "--format=xmc-text"]):
        assert_same(predict_answers(model, file, "--top-k=1", options), theirs, model)
    said = "from-0.svm, line 1: feature id out of range in '0:1', ids run from 1 to 3"
    assert said in run(model, other, status=2)
    said = "was trained on features, so it cannot read texts; give it features"
    assert said in run(model, "--text=word", status=2)


def make_model_of_texts(**source: Any) -> SimpleNamespace:
    """Make a model of texts from a source."""
    return SimpleNamespace(transform={"token_pattern": "", "source": source})


OF_LINES = make_model_of_texts(format="text-tsv", files={"train": {"name": "a.tsv.gz, b.tsv.gz"}})
OF_TABLE = make_model_of_texts(format="csv", files={"train": {"name": "a.csv"}})


@pytest.mark.parametrize(
    ("model", "name", "theirs"),
    [
        (make_model_of_texts(), "a.jsonl.gz", "jsonl"),
        (make_model_of_texts(), "b.CSV", "csv"),
        (make_model_of_texts(), "c.svm.xz", "svmlight"),
        (make_model_of_texts(), "d.txt", "lines"),
        (make_model_of_texts(), "-", "lines"),
        (make_model_of_texts(), "e", "lines"),
        (SimpleNamespace(transform={}), "-", "svmlight"),
        # names with the ending of the model's data, and tables with tabs
        (OF_LINES, "new.tsv", "text-tsv"),
        (OF_LINES, "new.txt", "lines"),
        (OF_LINES, "new.csv", "csv"),
        (OF_TABLE, "new.tsv", "csv"),
        (OF_TABLE, "new.txt", "lines"),
    ],
)
def test_formats_by_name(model, name, theirs) -> None:
    assert choose_format(model, name) == theirs


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
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=["\n".join(texts)], daemon=True)
    writer.start()
    answers = predict_answers(model, pipe, "--top-k=3")
    assert list_label_values(answers) == predictions.ids.tolist()


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
