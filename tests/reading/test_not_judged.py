"""Columns of labels that hold 1, 0 and nothing: what was not judged is not no, unless one says so."""

import random

import pandas as pd
import pytest
from commands import ovaflow
from synthetic import prepare_and_train

from ovaflow.dataset.dataset import open_dataset

LABELS = ["chess", "go", "poker"]


def make_table(no="0", share_empty=0.2) -> pd.DataFrame:
    """Make 200 texts whose words tell their labels, some of which are not judged."""
    generator = random.Random(5)
    rows = []
    for number in range(200):
        row = {"text": f"game {number % 7}"}
        for label in LABELS:
            is_true = generator.random() < 0.4
            row["text"] += f" {label}word" if is_true else " other"
            row[label] = "1" if is_true else no
            if generator.random() < share_empty:
                row[label] = None
        rows.append(row)
    return pd.DataFrame(rows)


def write_table(table, path, kind) -> None:
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "parquet":
        table.to_parquet(path)
    else:
        lists = table[LABELS].apply(
            lambda row: [None if pd.isna(each) else int(each) for each in row], axis=1
        )
        frame = pd.DataFrame({"text": table.text, "labels": lists})
        frame.to_json(path, orient="records", lines=True)


def prepare(path, kind, *options) -> str:
    columns = "labels" if kind == "jsonl" else ",".join(LABELS)
    return ovaflow(
        "prepare",
        f"--format={kind}",
        f"--train={path}",
        f"--labels-column={columns}",
        "--min-df=1",
        "--test-fraction=0.2",
        "--repeated=keep",
        f"--output={path.parent}/dataset.h5",
        *options,
    )


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_places_that_are_not_judged_are_counted_or_left_out(tmp_path, kind) -> None:
    table = make_table()
    path = tmp_path / f"records.{kind}"
    write_table(table, path, kind)
    is_empty = table[LABELS].isna()
    n_empty = is_empty.to_numpy().sum()
    n_records = is_empty.any(axis=1).sum()
    said = prepare(path, kind)
    assert f"{n_empty} places of labels in {n_records} records are empty" in " ".join(said.split())
    dataset = open_dataset(tmp_path / "dataset.h5")
    assert dataset.train.X.n_rows + dataset.test.X.n_rows == 200
    # what the remark advises
    said = prepare(path, kind, "--not-judged=leave-out")
    assert f"{n_records} records have an empty place of a label: left out" in said
    dataset = open_dataset(tmp_path / "dataset.h5")
    judged = table[~is_empty.any(axis=1)]
    assert dataset.train.X.n_rows + dataset.test.X.n_rows == len(judged)
    n_positives = len(dataset.train.Y.indices) + len(dataset.test.Y.indices)
    assert n_positives == (judged[LABELS] == "1").to_numpy().sum()


def test_marks_beside_empty_cells_are_no_doubt(tmp_path) -> None:
    path = tmp_path / "records.csv"
    write_table(make_table(no=None, share_empty=0), path, "csv")
    assert "are empty" not in prepare(path, "csv")


def test_a_file_is_evaluated_as_the_model_was_trained(tmp_path, capsys) -> None:
    table = make_table()
    path = tmp_path / "records.csv"
    write_table(table, path, "csv")
    model = prepare_and_train(
        tmp_path,
        "--format=csv",
        f"--train={path}",
        f"--labels-column={','.join(LABELS)}",
        "--not-judged=leave-out",
        "--min-df=1",
    )
    judged = table[~table[LABELS].isna().any(axis=1)]
    write_table(judged, tmp_path / "judged.csv", "csv")
    ours, theirs = (
        ovaflow("evaluate", f"--model={model}", tmp_path / name).partition("means")[2]
        for name in ("records.csv", "judged.csv")
    )
    assert ours == theirs
    # what is left out is said wherever a file is read
    n_left_out = len(table) - len(judged)
    remark = f"ovaflow: {n_left_out} records have an empty place of a label: left out\n"
    assert capsys.readouterr().err.count(remark) == 1
    ovaflow("promote", model, f"--over={tmp_path}/current", f"--on={path}")
    assert remark in capsys.readouterr().err
