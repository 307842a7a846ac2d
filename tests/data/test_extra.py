"""Further training files with weights: what becomes of their records, and what is refused."""

import csv
import json

import numpy as np
import pytest

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset


def text(number):
    return " ".join(f"word{(number * step) % 97}" for step in range(1, 12))


@pytest.fixture
def files(tmp_path):
    """100 records in csv, and one that the extra file has again with another label."""
    with open(tmp_path / "all.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text", "labels", "series"])
        table.writerows([f"r{i}", text(i), ("word3", "word5")[i % 2], f"s{i % 30}"] for i in range(100))
    extra = [{"id": f"x{i}", "text": text(200 + i), "labels": ["word3", "new, with a comma"]} for i in range(30)]
    extra.append({"id": "r0", "text": text(0), "labels": ["c"]})
    lines = [json.dumps(record) + "\n" for record in extra]
    (tmp_path / "corrections.jsonl").write_text("".join(lines))
    (tmp_path / "older.csv").write_text("text,labels\nword1 word2 word3,word5\n")
    return tmp_path


def prepare(folder, *options):
    output = folder / "dataset.h5"
    source = ["--format=csv", f"--train={folder / 'all.csv'}", "--min-df=1", "--max-df=1.0", "--no-label-names"]
    source += [f"--extra={folder / 'corrections.jsonl'}", "--extra-weight=2"]
    source += [f"--extra={folder / 'old*.csv'}", "--extra-weight=0.5"]
    assert main(["prepare", *source, *options, f"--output={output}"]) == 0
    return open_dataset(output)


@pytest.mark.parametrize("options", [(), ("--group-column=series",), ("--split=last",)])
def test_extra_records_are_the_last_of_training_with_their_weights(files, options):
    dataset = prepare(files, *options)
    n = dataset.n_documents
    assert dataset.train.extra.tolist() == [False] * (n - 32) + [True] * 32
    assert dataset.train.weights.tolist() == [1.0] * (n - 32) + [2.0] * 31 + [0.5]
    assert "new, with a comma" in dataset.label_names
    assert n - 32 + dataset.test.X.n_rows == 100
    assert not set(dataset.records("test", range(dataset.test.X.n_rows))) & {f"x{i}" for i in range(30)}


def test_an_extra_record_replaces_one_of_the_same_id_where_the_last_counts(files, capfd):
    kept, last = prepare(files), prepare(files, "--repeated=last")
    counts = [dataset.parameters["source"]["counts"] for dataset in (kept, last)]
    assert [each["train_instances"] + each["test_instances"] for each in counts] == [132, 131]
    assert counts[1]["records_replaced"] == 1
    assert "32 of" in capfd.readouterr().out


def test_names_of_labels_weigh_as_much_as_a_record(files):
    dataset = prepare(files, "--label-names")
    named = dataset.train.X.n_rows - dataset.n_documents
    assert named > 0
    assert dataset.train.weights[-named:].tolist() == [1.0] * named
    assert not dataset.train.extra[-named:].any()


def test_an_empty_file_of_corrections_is_one_without_records(files):
    (files / "corrections.jsonl").write_text("")
    assert prepare(files).train.extra.sum() == 1


def test_each_file_has_a_weight(files, capfd):
    options = ["--format=csv", f"--train={files / 'all.csv'}", f"--extra={files / 'older.csv'}"]
    assert main(["prepare", *options, f"--output={files / 'dataset.h5'}"]) == 2
    assert "give an --extra-weight for each --extra" in capfd.readouterr().err


def test_other_methods_refuse_weights(files, capfd):
    prepare(files)
    status = main(["train-shard", "--method=fastxml", str(files / "dataset.h5"), f"--output={files / 'trees.h5'}"])
    assert status == 2
    assert "give the extra files the weight 1" in capfd.readouterr().err
    assert np.unique(open_dataset(files / "dataset.h5").train.weights).tolist() == [0.5, 1.0, 2.0]
