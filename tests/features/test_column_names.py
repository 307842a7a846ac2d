"""Columns whose names have commas and line ends, from the file to the answers of a model."""

from collections import Counter

import pytest
from commands import list_label_values, ovaflow, predict_answers
from records import write_records
from running_service import running_service
from synthetic import train_model_file

from ovaflow.records.source import read_file
from ovaflow.settings.prepare import PrepareSource

TITLE = "Title, remainder"
QUESTION = "What happened?\nPlease describe, in your own words."
SUBJECTS = "Subjects, all"
PLAIN = {TITLE: "title", QUESTION: "question", SUBJECTS: "subjects"}
RECORDS = [
    {
        TITLE: f"word{i % 3} other{i % 4}",
        QUESTION: f"thing{i % 3} more{i % 5}",
        SUBJECTS: f"topic {i % 3}",
    }
    for i in range(60)
]
QUOTED = f'--text-column="{TITLE}","{QUESTION}"'
BOTH = [f"--text-column={TITLE}", f"--text-column={QUESTION}", f"--labels-column={SUBJECTS}"]


@pytest.fixture(params=["csv", "jsonl"])
def data(request, prepare):
    """Prepares a file of such columns, and one of the same records in columns with plain names."""
    path = f"records.{request.param}"
    write_records(path, RECORDS, ";")
    write_records(
        f"plain-{path}",
        [{PLAIN[name]: text for name, text in record.items()} for record in RECORDS],
    )

    def prepared(*options, plain=""):
        return prepare(f"--format={request.param} --train={plain}{path} --min-df=1", *options)

    prepared.path = path
    return prepared


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ([f"--text-column={TITLE}"], [TITLE]),
        ([f'--text-column="{TITLE}"'], [TITLE]),
        ([f"--text-column={QUESTION}"], [QUESTION]),
        (BOTH[:2], [TITLE, QUESTION]),
        ([QUOTED], [TITLE, QUESTION]),
        ([f"--text-column={TITLE},{QUESTION}"], [TITLE, QUESTION]),
    ],
)
def test_columns_are_read_as_those_with_plain_names(data, options, columns) -> None:
    plain = ",".join(PLAIN[column] for column in columns)
    ours = data(*options, f"--labels-column={SUBJECTS}")
    theirs = data("--labels-column=subjects", f"--text-column={plain}", plain="plain-")
    quoted = ",".join(f'"{name}"' for name in columns)
    for dataset, names in (ours, (quoted, f'"{SUBJECTS}"')), (theirs, (plain, "subjects")):
        source = dataset.parameters["source"]
        assert (source["text_column"], source["labels_column"]) == names
    assert (ours.label_names, ours.feature_names) == (theirs.label_names, theirs.feature_names)
    assert [each.tolist() for each in ours.train.X.arrays] == [
        each.tolist() for each in theirs.train.X.arrays
    ]


def test_names_of_parts_come_before_the_name_with_a_comma(tmp_path) -> None:
    file = f"{tmp_path}/records.csv"
    write_records(file, [{"a, b": "whole", "a": "first", "b": "second", "labels": "x"}])
    for text, expected in (
        ("a, b", "first second"),
        ('"a, b"', "whole"),
        (["a, b", "b"], "whole second"),
    ):
        [record] = read_file(PrepareSource(format="csv", text_column=text), file, Counter())
        assert record.text == expected


def test_weights_are_of_the_columns_that_there_are(prepare) -> None:
    records = [{"a, b": f"one{i}", "c": f"two{i}", "labels": f"l{i}"} for i in range(3)] * 20
    write_records("records.csv", records)
    line = "--train=records.csv --format=csv --min-df=1 --max-df=1.0 --split=random"
    message = "3 column_weights for 'a, b', 'c'; set column_weights to one for each column\n"
    assert prepare(line, "--text-column=a,b,c", "--column-weights=[2, 1, 1]", status=2).endswith(
        message
    )
    prepare(line, '--text-column="a, b",c', "--column-weights=[2, 1]")


def test_a_model_remembers_the_columns(data) -> None:
    train_model_file("model.h5", data(*BOTH, "--column-weights=[2, 1]"))
    asked = "model.h5", data.path, "--top-k=1"
    assert list_label_values(predict_answers(asked), "name") == [
        [record[SUBJECTS]] for record in RECORDS
    ]
    ovaflow("evaluate", data.path, "--model=model.h5")
    said = ovaflow("predict", asked, BOTH[0], status=2)
    assert said.endswith(
        "name it with --text-column, --id-column or --keep, names with commas in double quotes\n"
    )
    predict_answers(asked, QUOTED)


def test_corrections_are_training_records_of_these_columns(data, tmp_path) -> None:
    model = train_model_file(tmp_path / "served.h5", data(*BOTH))
    corrections = tmp_path / "new.jsonl"
    text = {TITLE: "word1", QUESTION: "thing1"}
    with running_service(tmp_path, model, f"--corrections={corrections}") as service:
        found = service.answer("/predict", {"text": text, "top_k": 1})["predictions"]
        assert list_label_values(found, "name") == [["topic 1"]]
        assert service.ask("/corrections", {"text": text, "labels": ["topic 2"]})[0] == 200
    settings = PrepareSource(
        format="jsonl", text_column=[TITLE, QUESTION], labels_column=[SUBJECTS]
    )
    [record] = read_file(settings, corrections, Counter())
    assert (record.text, record.labels) == ("word1 thing1", ("topic 2",))
