"""Columns whose names have commas and line ends, from the file to the answers of a model and back."""

import csv
import json

import pytest
from running_service import running_service

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.data.source import read_file
from ovaflow.prediction.predictor import Predictor
from ovaflow.settings.prepare import PrepareSource
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

TITLE = "Title, remainder"
QUESTION = "What happened?\nPlease describe, in your own words."
SUBJECTS = "Subjects, all"
RECORDS = [
    {TITLE: f"word{i % 3} other{i % 4}", QUESTION: f"thing{i % 3} more{i % 5}", SUBJECTS: f"topic {i % 3}"}
    for i in range(60)
]
PLAIN = {TITLE: "title", QUESTION: "question", SUBJECTS: "subjects"}


def write(path, records):
    with path.open("w", newline="", encoding="utf-8") as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps(record) + "\n" for record in records)
        else:
            table = csv.DictWriter(file, list(records[0]), delimiter=";")
            table.writeheader()
            table.writerows(records)


@pytest.fixture(scope="module", params=["csv", "jsonl"])
def data(request, tmp_path_factory):
    """A file of such columns, and one of the same records in columns with plain names."""
    folder = tmp_path_factory.mktemp("data")
    file, plain = folder / f"records.{request.param}", folder / f"plain.{request.param}"
    write(file, RECORDS)
    write(plain, [{PLAIN[name]: value for name, value in record.items()} for record in RECORDS])
    return file, plain


def prepare(file, *options):
    output = file.parent / "dataset.h5"
    arguments = [f"--format={file.suffix[1:]}", f"--train={file}", "--min-df=1", *options, f"--output={output}"]
    assert main(["prepare", *arguments]) == 0
    return open_dataset(output)


@pytest.mark.parametrize(
    ("options", "columns", "remembered"),
    [
        ([f"--text-column={TITLE}"], [TITLE], f'"{TITLE}"'),
        ([f'--text-column="{TITLE}"'], [TITLE], f'"{TITLE}"'),
        ([f"--text-column={QUESTION}"], [QUESTION], f'"{QUESTION}"'),
        ([f"--text-column={TITLE}", f"--text-column={QUESTION}"], [TITLE, QUESTION], f'"{TITLE}","{QUESTION}"'),
        ([f'--text-column="{TITLE}","{QUESTION}"'], [TITLE, QUESTION], f'"{TITLE}","{QUESTION}"'),
        ([f"--text-column={TITLE},{QUESTION}"], [TITLE, QUESTION], f'"{TITLE}","{QUESTION}"'),
    ],
)
def test_columns_are_read_as_those_with_plain_names(data, options, columns, remembered):
    file, plain = data
    ours = prepare(file, *options, f"--labels-column={SUBJECTS}")
    found = ours.parameters["source"]
    assert (found["text_column"], found["labels_column"]) == (remembered, f'"{SUBJECTS}"')
    names = ",".join(map(PLAIN.get, columns))
    theirs = prepare(plain, f"--text-column={names}", "--labels-column=subjects")
    assert theirs.parameters["source"]["text_column"] == names
    assert [array.tolist() for array in ours.train.X.arrays] == [array.tolist() for array in theirs.train.X.arrays]
    assert (ours.label_names, ours.feature_names) == (theirs.label_names, theirs.feature_names)


def test_names_of_parts_come_before_the_name_with_a_comma(tmp_path):
    file = tmp_path / "records.csv"
    write(file, [{"a, b": "whole", "a": "first", "b": "second", "labels": "x"}])
    for text, expected in (("a, b", "first second"), ('"a, b"', "whole"), (["a, b", "b"], "whole second")):
        [record] = read_file(PrepareSource(format="csv", text_column=text), file)
        assert record.text == expected


def test_weights_are_of_the_columns_that_there_are(tmp_path, capsys):
    file = tmp_path / "records.csv"
    write(file, [{"a, b": f"one{i % 3}", "c": f"two{i % 3}", "labels": f"l{i % 3}"} for i in range(60)])
    options = [f"--train={file}", "--format=csv", "--min-df=1", f"--output={tmp_path}/dataset.h5"]
    assert main(["prepare", *options, "--text-column=a,b,c", "--column-weights=[2, 1, 1]"]) == 2
    said = capsys.readouterr().err
    assert said.endswith("3 column_weights for 'a, b', 'c'; set column_weights to one for each column\n")
    prepare(file, '--text-column="a, b",c', "--column-weights=[2, 1]", "--max-df=1.0", "--split=random")


def test_a_model_remembers_the_columns(data, capsys):
    file, _ = data
    columns = [f"--text-column={TITLE}", f"--text-column={QUESTION}", f"--labels-column={SUBJECTS}"]
    dataset = prepare(file, *columns, "--column-weights=[2, 1]")
    model = file.parent / "model.h5"
    train_model(dataset, TrainLabels(), 0.0).write(model)
    capsys.readouterr()
    assert main(["predict", str(model), str(file), "--top-k=1", "--output-format=jsonl"]) == 0
    found = [json.loads(line)["labels"][0]["name"] for line in capsys.readouterr().out.splitlines()]
    assert found == [record[SUBJECTS] for record in RECORDS]
    assert main(["evaluate", str(file), f"--model={model}"]) == 0
    assert main(["predict", str(model), str(file), f"--text-column={TITLE}"]) == 2
    said = capsys.readouterr().err
    assert said.endswith("name it with --text-column, --id-column or --keep, names with commas in double quotes\n")
    assert main(["predict", str(model), str(file), f'--text-column="{TITLE}","{QUESTION}"']) == 0


def test_corrections_are_training_records_of_these_columns(data):
    file, _ = data
    folder = file.parent
    names = {"text_column": [TITLE, QUESTION], "labels_column": [SUBJECTS]}
    dataset = prepare(file, f"--text-column={TITLE}", f"--text-column={QUESTION}", f"--labels-column={SUBJECTS}")
    train_model(dataset, TrainLabels(), 0.0).write(folder / "served.h5")
    predictor, corrections = Predictor.open(folder / "served.h5"), folder / "new.jsonl"
    with running_service(folder, predictor.model.path, f"--corrections={corrections}") as service:
        text = {TITLE: "word1", QUESTION: "thing1"}
        status, answer = service.ask("/predict", {"text": text, "top_k": 1})
        assert (status, answer["predictions"][0]["labels"][0]["name"]) == (200, "topic 1")
        assert service.ask("/corrections", {"text": text, "labels": ["topic 2"]})[0] == 200
    [record] = read_file(PrepareSource(format="jsonl", **names), corrections)
    assert (record.text, record.labels) == ("word1 thing1", ("topic 2",))
