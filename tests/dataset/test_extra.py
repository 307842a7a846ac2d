"""Further training files with weights: what becomes of their records, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from commands import ovaflow
from records import write_records

from ovaflow.dataset.dataset import open_dataset


def make_text(number) -> str:
    """Make a text of eleven words."""
    return " ".join(f"word{(number * step) % 97}" for step in range(1, 12))


def make_record(number) -> dict[str, str]:
    """Make a record with an id, one of two labels and one of 30 series."""
    label = "word5" if number % 2 else "word3"
    text = make_text(number)
    return {"id": f"r{number}", "text": text, "labels": label, "series": f"s{number % 30}"}


def make_extra_record(number, labels) -> dict[str, Any]:
    """Make a record of an extra file, whose id is x and its number."""
    return {"id": f"x{number}", "text": make_text(200 + number), "labels": labels}


@pytest.fixture
def prepare_with_extra(prepare):
    """Prepare 100 records in csv with 32 extra ones, of which one has an id and a text again with
    another label; options are in a line.
    """
    write_records("all.csv", [make_record(number) for number in range(100)])
    extra = [make_extra_record(number, ["word3", "new, with a comma"]) for number in range(30)]
    extra.append({"id": "r0", "text": make_text(0), "labels": ["c"]})
    write_records("corrections.jsonl", extra)
    Path("older.csv").write_text("text,labels\nword1 word2 word3,word5\n")
    files = "--train=all.csv --extra=corrections.jsonl --extra=old*.csv"
    weights = "--extra-weight=2 --extra-weight=0.5"
    line = f"--format=csv {files} {weights} --min-df=1 --max-df=1.0 --no-label-names"

    def prepare_line(options="", status=0):
        return prepare(f"{line} {options}", status=status)

    return prepare_line


@pytest.mark.parametrize("options", ["", "--group-column=series", "--split=last"])
def test_extra_records_are_the_last_of_training_with_their_weights(
    prepare_with_extra, options
) -> None:
    dataset = prepare_with_extra(options)
    known = dataset.n_documents - 32
    tested = dataset.test.X.n_rows
    assert dataset.train.extra.tolist() == [False] * known + [True] * 32
    assert dataset.train.weights.tolist() == [1.0] * known + [2.0] * 31 + [0.5]
    assert "new, with a comma" in dataset.label_names
    assert known + tested == 100
    assert not any(record.startswith("x") for record in dataset.records("test", range(tested)))


@pytest.mark.parametrize(
    ("options", "n", "n_replaced"), [("", 132, None), ("--repeated=last", 131, 1)]
)
def test_an_extra_record_replaces_one_of_the_same_id_where_the_last_counts(
    prepare_with_extra, prepare, options, n, n_replaced
) -> None:
    counts = prepare_with_extra(options).parameters["source"]["counts"]
    assert counts["train_instances"] + counts["test_instances"] == n
    assert counts.get("records_replaced") == n_replaced
    assert "32 of" in prepare.said


LEFT_OUT = "; other records of the extra files are left out: "


@pytest.mark.parametrize(
    ("options", "n_extra", "reasons"),
    [
        ("--repeated=keep", 8, ""),
        ("--repeated=join", 7, f"{LEFT_OUT}1 joined with an earlier record"),
        (
            "--repeated=last --unlabelled=drop",
            6,
            f"{LEFT_OUT}1 whose id occurs again later, 1 without a label",
        ),
    ],
)
def test_what_is_left_out_of_extra_files_is_counted_by_its_reason(
    prepare_with_extra, prepare, options, n_extra, reasons
) -> None:
    records = [make_extra_record(number, ["word3"]) for number in range(5)]
    records.append({"id": "x3", "text": make_text(300), "labels": ["word5"]})
    records.append({"id": "x9", "text": make_text(301), "labels": []})
    write_records("corrections.jsonl", records)
    n = len(prepare_with_extra(options).train.extra)
    remark = f"remark: {n_extra} of {n} training instances are extra ones{reasons}"
    assert remark in prepare.said.splitlines()


def test_the_log_counts_extra_records_that_are_left_out_with_held_out_ones(
    prepare_with_extra,
) -> None:
    known = prepare_with_extra().n_documents - 32
    said = ovaflow("hold-out", "dataset.h5", "--fraction=0.4", "--output=held.h5")
    held = open_dataset("held.h5")
    left_out = 32 - int(held.train.extra.sum())
    n_held = held.test.X.n_rows
    assert f"held.h5: {n_held} of {known} training instances held out" in said
    assert f"held out; {left_out} of 32 extra instances" in said
    assert 0 < left_out < 32


def test_names_of_labels_weigh_as_much_as_a_record(prepare_with_extra) -> None:
    dataset = prepare_with_extra("--label-names")
    n = dataset.n_documents
    assert dataset.train.X.n_rows > n
    assert set(dataset.train.weights[n:]) == {1.0}
    assert not dataset.train.extra[n:].any()


def test_an_empty_file_of_corrections_is_one_without_records(prepare_with_extra) -> None:
    Path("corrections.jsonl").write_text("")
    assert prepare_with_extra().train.extra.sum() == 1


def test_each_file_has_a_weight(prepare_with_extra, prepare) -> None:
    assert "give an --extra-weight for each --extra" in prepare_with_extra(
        "--extra=older.csv", status=2
    )


def test_other_methods_refuse_weights(prepare_with_extra) -> None:
    prepare_with_extra()
    said = ovaflow("train-shard", "--method=fastxml", "dataset.h5", "--output=trees.h5", status=2)
    assert "give the extra files the weight 1" in said
