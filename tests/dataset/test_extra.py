"""Further training files with weights: what becomes of their records, and what is refused."""

from functools import partial
from pathlib import Path

import pytest
from commands import ovaflow
from records import write_records

from ovaflow.dataset.dataset import open_dataset


def make_text(number) -> str:
    """Make a text of eleven words."""
    return " ".join(f"word{(number * step) % 97}" for step in range(1, 12))


@pytest.fixture
def extended(prepare):
    """Prepare 100 records in csv with 32 extra ones, of which one has an id and a text again with
    another label.
    """
    labels = ("word3", "word5")
    write_records(
        "all.csv",
        [
            {"id": f"r{i}", "text": make_text(i), "labels": labels[i % 2], "series": f"s{i % 30}"}
            for i in range(100)
        ],
    )
    extra = [
        {"id": f"x{i}", "text": make_text(200 + i), "labels": ["word3", "new, with a comma"]}
        for i in range(30)
    ]
    write_records(
        "corrections.jsonl", [*extra, {"id": "r0", "text": make_text(0), "labels": ["c"]}]
    )
    Path("older.csv").write_text("text,labels\nword1 word2 word3,word5\n")
    extra = "--extra=corrections.jsonl --extra-weight=2 --extra=old*.csv --extra-weight=0.5"
    return partial(
        prepare, f"--format=csv --train=all.csv --min-df=1 --max-df=1.0 --no-label-names {extra}"
    )


@pytest.mark.parametrize("options", [(), ("--group-column=series",), ("--split=last",)])
def test_extra_records_are_the_last_of_training_with_their_weights(extended, options) -> None:
    dataset = extended(*options)
    known = dataset.n_documents - 32
    tested = dataset.test.X.n_rows
    assert dataset.train.extra.tolist() == [False] * known + [True] * 32
    assert dataset.train.weights.tolist() == [1.0] * known + [2.0] * 31 + [0.5]
    assert "new, with a comma" in dataset.label_names
    assert known + tested == 100
    assert not any(record.startswith("x") for record in dataset.records("test", range(tested)))


def test_an_extra_record_replaces_one_of_the_same_id_where_the_last_counts(
    extended, prepare
) -> None:
    for options, records, replaced in ([], 132, None), (["--repeated=last"], 131, 1):
        counts = extended(*options).parameters["source"]["counts"]
        assert counts["train_instances"] + counts["test_instances"] == records
        assert counts.get("records_replaced") == replaced
        assert "32 of" in prepare.said


def test_what_is_left_out_of_extra_files_is_counted_by_its_reason(extended, prepare) -> None:
    records = [{"id": f"x{i}", "text": make_text(200 + i), "labels": ["word3"]} for i in range(5)]
    records.append({"id": "x3", "text": make_text(300), "labels": ["word5"]})
    records.append({"id": "x9", "text": make_text(301), "labels": []})
    write_records("corrections.jsonl", records)
    said = {}
    for settings in ("--repeated=keep", "--repeated=join", "--repeated=last --unlabelled=drop"):
        extra = extended(*settings.split()).train.extra
        n = len(extra)
        n_extra = int(extra.sum())
        [said[n_extra]] = [line for line in prepare.said.splitlines() if "are extra ones" in line]
        assert said[n_extra].startswith(
            f"remark: {n_extra} of {n} training instances are extra ones"
        )
    whole, joined, last = [line.partition("ones")[2] for line in said.values()]
    assert list(said) == [8, 7, 6]
    assert whole == ""
    assert (
        joined == "; others of the extra files are not among them: 1 joined with an earlier record"
    )
    assert last.endswith(": 1 whose id occurs again later, 1 without a label")


def test_the_log_counts_extra_records_that_are_left_out_with_held_out_ones(extended) -> None:
    known = extended().n_documents - 32
    said = ovaflow("hold-out", "dataset.h5", "--fraction=0.4", "--output=held.h5")
    held = open_dataset("held.h5")
    left_out = 32 - int(held.train.extra.sum())
    assert (
        f"held.h5: {held.test.X.n_rows} of {known} training instances held out; {left_out} of "
        f"32 extra ones"
    ) in said
    assert 0 < left_out < 32


def test_names_of_labels_weigh_as_much_as_a_record(extended) -> None:
    dataset = extended("--label-names")
    n = dataset.n_documents
    assert dataset.train.X.n_rows > n
    assert set(dataset.train.weights[n:]) == {1.0}
    assert not dataset.train.extra[n:].any()


def test_an_empty_file_of_corrections_is_one_without_records(extended) -> None:
    Path("corrections.jsonl").write_text("")
    assert extended().train.extra.sum() == 1


def test_each_file_has_a_weight(extended, prepare) -> None:
    assert "give an --extra-weight for each --extra" in extended("--extra=older.csv", status=2)


def test_other_methods_refuse_weights(extended) -> None:
    extended()
    said = ovaflow("train-shard", "--method=fastxml", "dataset.h5", "--output=trees.h5", status=2)
    assert "give the extra files the weight 1" in said
