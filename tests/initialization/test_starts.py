"""Starts from the data alone: bias, means, the root and the label tree."""

from dataclasses import replace

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from solving import compute_starts, make_memory_dataset

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.all_negative import Root, solve_root
from ovaflow.initialization.label_tree import LabelTreeStart, add_ancestors, restrict_parents
from ovaflow.initialization.means import compute_means
from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.starts import StartInputs, make_start
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.losses import LOSSES


def make_dataset(bias: float = 1.0, n: int = 200, d: int = 30) -> Dataset:
    """Make random features and 4 labels."""
    rng = np.random.default_rng(0)
    last_column = np.full((n, 1), bias or 0.5)
    X = sp.hstack([sp.random_array((n, d), density=0.2, rng=rng), last_column])
    Y = rng.random((n, 4)) < 0.1
    return replace(make_memory_dataset(X, Y), parameters={"bias": bias})


@pytest.mark.parametrize(("bias", "bias_lambda"), [(0.1, 2.0), (1.0, 0.9), (7.0, 2.0)])
def test_every_score_at_the_bias_start_is_minus_lambda(bias, bias_lambda) -> None:
    dataset = make_dataset(bias)
    weights = compute_starts(dataset, initialization="bias", bias_lambda=bias_lambda)[0]
    scores = dataset.train.X.to_scipy() @ weights
    assert_allclose(scores, -bias_lambda, rtol=1e-6)


def test_without_a_bias_feature_there_is_no_bias_start() -> None:
    with pytest.raises(InputError, match="needs a bias feature"):
        compute_starts(make_dataset(0.0), initialization="bias")


@pytest.mark.parametrize(
    ("settings", "scores"), [({}, [1, -2]), ({"loss": "logistic", "s": 0.5}, [0.5, -3])]
)
def test_the_mean_separating_start_has_the_least_norm(settings, scores) -> None:
    dataset = make_dataset()
    X = dataset.train.X.to_scipy().toarray()
    y = dataset.train.Y.to_scipy().toarray()[:, 0] > 0
    ours = compute_starts(dataset, initialization="mean-separating", **settings)[0]
    theirs = np.linalg.pinv([X[y].mean(axis=0), X[~y].mean(axis=0)]) @ scores
    assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("C", "root_epsilon"), [(1.0, 0.5), (0.1, 0.01), (10.0, 1e-5)])
def test_the_root_is_near_the_optimum_without_positives(loss, C, root_epsilon) -> None:
    dataset = make_dataset()
    X = dataset.train.X.to_scipy().toarray().astype(float)
    y = np.full(dataset.train.X.n_rows, -1.0)
    root = solve_root(dataset.train.X, TrainLabels(loss=loss, C=C, root_epsilon=root_epsilon))
    norm = naive.violation(X, y, root.weights.astype(float), loss, C)
    at_zero = naive.violation(X, y, np.zeros(X.shape[1]), loss, C)
    assert root.outcome.gradient_target == pytest.approx(root_epsilon * at_zero, rel=1e-5)
    assert norm <= 1.001 * root_epsilon * at_zero


def test_all_labels_start_at_the_root() -> None:
    dataset = make_dataset()
    for ours in compute_starts(dataset, initialization="all-negative"):
        assert_array_equal(ours, solve_root(dataset.train.X, TrainLabels()).weights)


@pytest.mark.parametrize("initialization", ["all-negative", "label-tree"])
def test_a_start_without_its_root_is_refused(initialization) -> None:
    dataset = make_dataset()
    inputs = StartInputs.from_dataset(dataset, compute_means(dataset.train.X, dataset.positives))
    with pytest.raises(InputError, match="give --root"):
        make_start(TrainLabels(initialization=initialization), inputs)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("C", 1.0, 2.0), ("loss", "squared-hinge", "logistic"), ("root_epsilon", 0.01, 0.1)],
)
def test_a_root_file_of_other_settings_is_refused(tmp_path, name, old, new) -> None:
    path = tmp_path / "root.h5"
    training = TrainLabels()
    solve_root(make_dataset().train.X, training).write(path)
    root = Root.open(path)
    root.require_settings(training)
    with pytest.raises(InputError, match=f"solved with {name} {old}, not {new}"):
        root.require_settings(TrainLabels(**{name: new}))


def test_parents_give_their_solution_once_to_each_child_and_are_forgotten() -> None:
    parents = np.array([ROOT_PARENT, 0, 0, 1], np.int32)
    start = LabelTreeStart(np.array([5.0, 6.0, 7.0], np.float32), parents)
    weights = np.empty(3, np.float32)
    features = np.array([2, 0])
    values = np.array([1e-9, 3.0], np.float32)
    start.fill(0, None, None, weights)
    assert weights.tolist() == [5.0, 6.0, 7.0]
    start.keep(0, features, values)
    values[:] = 9
    for child in (1, 2):
        assert start._solutions
        start.fill(child, None, None, weights)
        assert_array_equal(weights, np.array([3.0, 0.0, 1e-9], np.float32))
    assert not start._solutions
    start.keep(3, features, values)
    assert not start._solutions


def test_parents_outside_of_a_job_become_the_root() -> None:
    parents = np.array([ROOT_PARENT, 0, 1, 1, ROOT_PARENT, 4], np.int32)
    expected = np.full(6, ROOT_PARENT)
    expected[2] = 1
    assert restrict_parents(parents, np.array([1, 2, 5])).tolist() == expected.tolist()
    assert restrict_parents(parents, np.arange(6)).tolist() == parents.tolist()


def test_ancestors_are_added_after_the_labels() -> None:
    parents = np.array([ROOT_PARENT, 0, 1, 1, ROOT_PARENT, 4], np.int32)
    assert sorted(add_ancestors(np.array([2, 5]), parents).tolist()) == [0, 1, 2, 4, 5]
    assert add_ancestors(np.array([2, 5]), parents).tolist()[:2] == [2, 5]
