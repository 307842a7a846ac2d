"""Starts compared on a sample of labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from solving import as_earlier, in_memory, trained

from ovaflow.console.errors import InputError
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.settings.models import TrainLabels
from ovaflow.training.cold_start import FEWEST, compare_with_cold_start


def dataset_of(n_labels, share):
    rng = np.random.default_rng(0)
    X = sp.hstack([sp.random_array((200, 40), density=0.2, rng=rng), np.ones((200, 1))], format="csr")
    return in_memory(X, sp.csr_array((rng.random((200, n_labels)) < share).astype(float)))


def inputs_of(dataset):
    """Inputs with an earlier model that is the solution of the default training."""
    labels = np.arange(dataset.n_labels)
    earlier = as_earlier(dataset, labels, trained(dataset))
    return compute_start_inputs(dataset, TrainLabels(), earlier=earlier)


def test_figures_are_those_of_two_trainings():
    dataset, settings = dataset_of(20, 0.1), {"initialization": "bias", "C": 2.0}
    ours = compare_with_cold_start(dataset, inputs_of(dataset), TrainLabels(**settings))
    theirs = trained(dataset, **settings).statistics
    assert (ours["initialization"], ours["labels"], ours["of"]) == ("bias", 20, 20)
    assert ours["cold"]["newton_steps"] == theirs["newton_steps"].mean()
    assert ours["warm"]["newton_steps"] < ours["cold"]["newton_steps"]
    assert ours["objective_difference"] < 1e-3


def test_the_sample_is_drawn_from_labels_with_positives():
    dataset = dataset_of(400, 0.005)
    counts = np.diff(dataset.positives.indptr)
    figures = compare_with_cold_start(dataset, inputs_of(dataset), TrainLabels())
    assert figures["of"] == (counts > 0).sum() > FEWEST
    assert figures["labels"] == FEWEST
    # the earlier model is the solution
    assert figures["objective_difference"] < 1e-3


def test_without_positives_nothing_can_be_compared():
    dataset = dataset_of(3, 0.0)
    with pytest.raises(InputError, match="no label has positives"):
        compare_with_cold_start(dataset, inputs_of(dataset), TrainLabels())
