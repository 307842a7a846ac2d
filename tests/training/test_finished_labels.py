"""A shard job that was interrupted anywhere gives the bytes of one that was not."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from synthetic import topics

from ovaflow.artifacts.label_tree import ROOT
from ovaflow.data.dataset import Split
from ovaflow.fastxml.settings import Forestry
from ovaflow.fastxml.training import grow_trees
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage import journal
from ovaflow.storage.journal import Journal, open_journal
from ovaflow.training.finished_labels import journal_of_labels
from ovaflow.training.label_jobs import Training
from ovaflow.training.shard_job import train_labels
from ovaflow.training.start_inputs import compute_start_inputs


class Interrupted(BaseException):
    """The end of an attempt."""


@pytest.fixture(scope="module")
def dataset():
    dataset = topics(n=700, d=300, n_labels=40)
    Y = dataset.train.Y.to_scipy().toarray()
    Y[:, 3] = 0
    for label in range(10, 30):
        # parts of other labels, whose children they will be
        Y[:, label] = Y[:, label // 2] * (np.arange(700) % 3 > 0)
    split = Split(dataset.train.X, from_scipy(sp.csr_array(Y)))
    return replace(dataset, train=split, test=split)


@contextmanager
def interrupted_after(parts, monkeypatch):
    """Journals end the job that adds so many parts."""
    add, added = Journal.add, []

    def count(self, *part):
        if len(added) == parts:
            raise Interrupted
        added.append(add(self, *part))

    with monkeypatch.context() as context:
        context.setattr(Journal, "add", count)
        # nothing waits
        context.setattr(journal, "HELD_SECONDS", -1.0)
        yield


def train(dataset, inputs, training, output, threads):
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    name = "ovaflow.cli.train_shard"
    with journal_of_labels(output, labels, training, inputs, {}, name, "test") as opened:
        return train_labels(dataset, inputs, labels, training, threads, "test", opened)


def assert_same(ours, theirs):
    for array, of_theirs in zip(ours.weights.arrays, theirs.weights.arrays, strict=True):
        assert array.tobytes() == of_theirs.tobytes()
    assert ours.trained.tolist() == theirs.trained.tolist()
    for name in set(ours.statistics) - {"seconds"}:
        assert ours.statistics[name].tobytes() == theirs.statistics[name].tobytes(), name


TRAININGS = {
    "mean-separating": {},
    "label-tree": {"initialization": "label-tree"},
    "label-tree, plain": {"initialization": "label-tree", "reference": True},
    "logistic": {"loss": "logistic", "initialization": "zero"},
    "l1": {"regularization": "l1"},
}


@pytest.mark.parametrize("settings", TRAININGS.values(), ids=TRAININGS)
@pytest.mark.parametrize("threads", [1, 3])
def test_labels_go_on_to_the_same_bytes(settings, threads, dataset, tmp_path, monkeypatch, capsys):
    training = Training(**settings)
    inputs = compute_start_inputs(dataset, training)
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    theirs = train_labels(dataset, inputs, labels, training)
    rng, done = np.random.default_rng(threads), 0
    while done < dataset.n_labels:
        parts = int(rng.integers(1, 15))
        try:
            with interrupted_after(parts, monkeypatch):
                ours = train(dataset, inputs, training, tmp_path / "0.h5", threads)
        except Interrupted:
            done += parts
        else:
            break
        said = capsys.readouterr().err
        assert (f"test: continues, {done - parts} of 40 labels were finished" in said) == (done > parts)
    assert done >= 25
    assert_same(ours, theirs)
    # all of it is there; core time adds up over the attempts
    again = train(dataset, inputs, training, tmp_path / "0.h5", threads)
    assert_same(again, theirs)
    assert "continues, 40 of 40 labels" in capsys.readouterr().err
    assert again.core_seconds > 0.9 * ours.core_seconds
    assert again.statistics["seconds"].tobytes() == ours.statistics["seconds"].tobytes()


def test_children_start_at_parents_of_an_earlier_attempt(dataset, tmp_path, monkeypatch):
    training = Training(initialization="label-tree")
    inputs = compute_start_inputs(dataset, training)
    below = np.flatnonzero(inputs.parents != ROOT)
    assert len(below) > 10
    with pytest.raises(Interrupted), interrupted_after(20, monkeypatch):
        train(dataset, inputs, training, tmp_path / "0.h5", 1)
    with open_journal_as_is(tmp_path / "0.h5") as parts:
        finished = {label for label, _, _ in parts}
        with_solution = {label for label, _, arrays in parts if len(arrays) > 2}
    waiting = [label for label in below.tolist() if label not in finished and inputs.parents[label] in finished]
    assert waiting, "no label is left whose parent is finished"
    assert {int(parent) for parent in inputs.parents[waiting]} <= with_solution


@contextmanager
def open_journal_as_is(output):
    digest = next(output.parent.glob(".*.finished")).read_bytes().split(b"\n")[0].split()[-1].decode()
    with open_journal(output, digest, 40, "labels", "test") as opened:
        yield opened.finished()


CHANGES = [
    {"C": 2.0},
    {"loss": "logistic", "t": -2.0},
    {"stored_threshold": 0.02},
    {"s": 1.5},
    {"weighting": "propensity"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_another_training_begins_again(change, dataset, tmp_path, capsys):
    inputs = compute_start_inputs(dataset, Training())
    train(dataset, inputs, Training(), tmp_path / "0.h5", 1)
    capsys.readouterr()
    ours = train(dataset, inputs, Training(**change), tmp_path / "0.h5", 1)
    assert "continues" not in capsys.readouterr().err
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    assert_same(ours, train_labels(dataset, inputs, labels, Training(**change)))


@pytest.mark.parametrize("threads", [1, 2])
def test_trees_go_on_to_the_same_bytes(threads, dataset, tmp_path, monkeypatch, capsys):
    forestry, numbers = Forestry(trees=7), range(2, 7)
    theirs = grow_trees(dataset, numbers, forestry)
    for parts in (2, 1):
        with open_journal(tmp_path / "0.h5", "digest", 5, "trees", "test") as opened:
            with pytest.raises(Interrupted), interrupted_after(parts, monkeypatch):
                grow_trees(dataset, numbers, forestry, threads, "test", opened)
    with open_journal(tmp_path / "0.h5", "digest", 5, "trees", "test") as opened:
        ours = grow_trees(dataset, numbers, forestry, threads, "test", opened)
    assert "test: continues, 3 of 5 trees were finished" in capsys.readouterr().err
    flat = [
        [array.tobytes() for part in grown.forest for array in (getattr(part, "arrays", None) or [part])]
        for grown in (ours, theirs)
    ]
    assert flat[0] == flat[1]
