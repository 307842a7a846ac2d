"""Starts compared on a sample of labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.artifacts.means import compute_means
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Dataset, Split
from ovaflow.initialization.pretrained import Earlier
from ovaflow.initialization.starts import StartInputs
from ovaflow.settings.models import TrainLabels
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.cold_start import FEWEST, compare_with_cold_start
from ovaflow.training.shard_job import train_labels


def dataset_of(n_labels, share):
    rng = np.random.default_rng(0)
    X = sp.hstack([sp.random_array((200, 40), density=0.2, rng=rng), np.ones((200, 1))], format="csr")
    split = Split(from_scipy(X), from_scipy(sp.csr_array((rng.random((200, n_labels)) < share).astype(float))))
    return Dataset("memory", split, split, "", {"bias": 1.0})


def inputs_of(dataset, training):
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    done = train_labels(dataset, inputs, np.arange(dataset.n_labels), training)
    rows = np.where(done.trained, np.arange(dataset.n_labels), -1)
    d = dataset.n_features
    same = np.arange(d), np.ones(d, np.float32), done.statistics["positives"]
    earlier = Earlier(done.weights, rows, *same)
    return StartInputs.of(dataset, inputs.means, earlier=earlier)


@pytest.mark.parametrize("start", ["zero", "bias", "mean-separating"])
def test_figures_are_those_of_two_trainings(start):
    dataset, training = dataset_of(20, 0.1), TrainLabels(initialization=start, C=2.0)
    ours = compare_with_cold_start(dataset, inputs_of(dataset, TrainLabels()), training)
    theirs = train_labels(dataset, inputs_of(dataset, TrainLabels()), np.arange(20), training).statistics
    assert (ours["initialization"], ours["labels"], ours["of"]) == (start, 20, 20)
    assert ours["cold"]["newton_steps"] == theirs["newton_steps"].mean()
    assert ours["warm"]["newton_steps"] < ours["cold"]["newton_steps"]
    assert ours["objective_difference"] < 1e-3


def test_the_sample_is_drawn_from_labels_with_positives():
    dataset = dataset_of(400, 0.005)
    counts = np.diff(dataset.positives.indptr)
    figures = compare_with_cold_start(dataset, inputs_of(dataset, TrainLabels()), TrainLabels())
    assert figures["of"] == (counts > 0).sum() > FEWEST
    assert figures["labels"] == FEWEST
    # the earlier model is the solution
    assert figures["objective_difference"] < 1e-3


def test_without_positives_nothing_can_be_compared():
    dataset = dataset_of(3, 0.0)
    with pytest.raises(InputError, match="no label has positives"):
        compare_with_cold_start(dataset, inputs_of(dataset, TrainLabels()), TrainLabels())
