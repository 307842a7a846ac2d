"""Folds: each training document is tested once, and what is alike never parts."""

from dataclasses import replace

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
    units = (
        group_equal_rows(groups)
        if split == "random"
        else group_near_twins(X, number_copies(X), groups)
    )
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
def table(tmp_path):
    """Return a function that prepares records of each role."""

    def prepare_files(name, **files):
        for role, rows in files.items():
            write_records(tmp_path / f"{role}.csv", rows)
        files = [f"--{role}={tmp_path / role}.csv" for role in files]
        output = tmp_path / f"{name}.h5"
        ovaflow(
            "prepare", "--format=csv", "--min-df=1", "--max-df=1.0", *files, f"--output={output}"
        )
        return open_dataset(output)

    return prepare_files


def make_record(number) -> dict[str, str]:
    """Make a record with an id."""
    return {
        "id": f"r{number}",
        "text": make_text(number),
        "labels": f"name {number % 7},rare {number // 3}",
    }


def test_a_fold_has_the_labels_of_a_dataset_prepared_without_it(table, tmp_path) -> None:
    rows = {f"r{i}": make_record(i) for i in range(1, 81)}
    others = [make_record(i) for i in range(100, 110)]
    dataset = table("dataset", train=[*rows.values()], test=others)
    tested = []
    for fold in range(1, 4):
        said = ovaflow(
            "hold-out-fold",
            dataset.path,
            f"--fold={fold}",
            "--folds=3",
            f"--output={tmp_path}/fold.h5",
        )
        ours = open_dataset(tmp_path / "fold.h5")
        ids = ours.records("test", range(ours.test.X.n_rows))
        assert f"{len(ids)} of 80 training instances are in fold {fold} of 3" in said
        tested += ids
        rest = [row for each, row in rows.items() if each not in ids]
        theirs = table("theirs", train=rest, test=[rows[each] for each in ids])
        assert theirs.label_names == [
            ours.label_names[label] for label in np.flatnonzero(ours.counts)
        ]
        assert len(theirs.test.Y.indices) == len(ours.test.Y.indices)
        assert theirs.parameters["named_labels"] == ours.parameters["named_labels"]
    assert sorted(tested) == sorted(rows)


def test_extra_records_are_never_tested() -> None:
    dataset = make_dataset(60, 0, 20, "together")
    extra = np.arange(80) >= 50
    dataset = replace(dataset, train=replace(dataset.train, extra=extra))
    parts = [hold_out_fold(dataset, fold, 2) for fold in range(2)]
    assert sum(part.test.X.n_rows for part in parts) == 50
    assert sum(part.train.extra.sum() for part in parts) == 30


REFUSED = {
    "--fold=3 --folds=2": "--fold=3 is above --folds=2",
    "--folds=1": "x>=2",
    "--fold=1 --folds=100": "more instances or fewer folds",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused_and_what_helps(table, tmp_path, words) -> None:
    table("few", train=[make_record(i) for i in range(1, 13)])
    hold_out = "hold-out-fold", tmp_path / "few.h5", f"--output={tmp_path}/fold.h5"
    assert REFUSED[words] in ovaflow(*hold_out, *words.split(), status=2)
    assert "in fold 1 of 2" in ovaflow(*hold_out, "--folds=2")
