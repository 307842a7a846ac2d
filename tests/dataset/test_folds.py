"""Folds: each training document is tested once, and what is alike never parts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from commands import ovaflow
from hypothesis import given
from hypothesis import strategies as st
from records import write_records

from ovaflow.dataset.dataset import Dataset, Split, open_dataset
from ovaflow.dataset.folds import assign_folds, hold_out_fold
from ovaflow.records.near_twins import group_equal_rows, group_near_twins
from ovaflow.records.units import number_copies
from ovaflow.sparse.csr import from_scipy


def make_dataset(n, seed, copies, split) -> Dataset:
    """Make documents of which the last are copies of the first, many of them in groups."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, 60), density=0.25, rng=rng).tocsr()
    X = from_scipy(sp.vstack([X, X[:copies]]))
    groups = rng.integers(-1, n // 3, n + copies)
    if split == "random":
        units = group_equal_rows(groups)
    else:
        units = group_near_twins(X, number_copies(X), groups)
    train = Split(X, X, units=units)
    return Dataset("memory.h5", train, train, "abc", {"bias": 0.0, "split": split})


@given(
    st.integers(0, 99),
    st.integers(2, 8),
    st.integers(0, 40),
    st.sampled_from(["together", "random"]),
)
def test_each_document_is_in_one_fold_and_what_is_alike_in_the_same(
    seed, folds, copies, split
) -> None:
    dataset = make_dataset(80, seed, copies, split)
    ours = assign_folds(dataset, folds, seed)
    assert len(ours) == 80 + copies
    assert set(ours) <= set(range(folds))
    for unit in set(dataset.units):
        assert len(set(ours[dataset.units == unit])) == 1
    if split == "together":
        assert ours[80:].tolist() == ours[:copies].tolist()


def make_text(number) -> str:
    """Make a text of eleven words."""
    return " ".join(f"word{(number * step) % 89}" for step in range(1, 12))


@pytest.fixture
def prepare_table(tmp_path, prepare):
    """Prepare training records, and test records if there are some, as a file of some name."""

    def prepare_records(name, train, test=None) -> Dataset:
        write_records("train.csv", train)
        line = "--format=csv --train=train.csv --min-df=1 --max-df=1.0"
        if test is not None:
            write_records("test.csv", test)
            line += " --test=test.csv"
        prepare(line)
        Path("dataset.h5").rename(name)
        return open_dataset(tmp_path / name)

    return prepare_records


def make_record(number) -> dict[str, str]:
    """Make a record with an id."""
    return {
        "id": f"r{number}",
        "text": make_text(number),
        "labels": f"name {number % 7},rare {number // 3}",
    }


def test_a_fold_has_the_labels_of_a_dataset_prepared_without_it(prepare_table) -> None:
    records = {f"r{number}": make_record(number) for number in range(1, 81)}
    others = [make_record(number) for number in range(100, 110)]
    prepare_table("whole.h5", list(records.values()), others)
    tested = []
    for fold in range(1, 4):
        said = ovaflow(
            "hold-out-fold", "whole.h5", f"--fold={fold}", "--folds=3", "--output=fold.h5"
        )
        ours = open_dataset("fold.h5")
        ids = ours.records("test", range(ours.test.X.n_rows))
        assert f"{len(ids)} of 80 training instances are in fold {fold} of 3" in said
        tested += ids
        test = [records[each] for each in ids]
        train = [record for each, record in records.items() if each not in ids]
        theirs = prepare_table("theirs.h5", train, test)
        trained = [ours.label_names[label] for label in np.flatnonzero(ours.counts)]
        assert theirs.label_names == trained
        assert len(theirs.test.Y.indices) == len(ours.test.Y.indices)
        assert theirs.parameters["named_labels"] == ours.parameters["named_labels"]
    assert sorted(tested) == sorted(records)


def test_extra_records_are_never_tested() -> None:
    dataset = make_dataset(60, 0, 20, "together")
    extra = np.arange(80) >= 50
    dataset = replace(dataset, train=replace(dataset.train, extra=extra))
    parts = [hold_out_fold(dataset, fold, 2) for fold in range(2)]
    assert sum(part.test.X.n_rows for part in parts) == 50
    assert sum(part.train.extra.sum() for part in parts) == 30


@pytest.mark.parametrize(
    ("fold", "folds", "told"),
    [
        (3, 2, "--fold=3 is above --folds=2"),
        (1, 1, "x>=2"),
        (1, 100, "give more instances, or fewer folds"),
    ],
)
def test_what_is_refused_and_what_helps(prepare_table, fold, folds, told) -> None:
    prepare_table("few.h5", [make_record(number) for number in range(1, 13)])
    said = ovaflow(
        "hold-out-fold",
        "few.h5",
        f"--fold={fold}",
        f"--folds={folds}",
        "--output=fold.h5",
        status=2,
    )
    assert told in said
    said = ovaflow("hold-out-fold", "few.h5", "--folds=2", "--output=fold.h5")
    assert "in fold 1 of 2" in said
