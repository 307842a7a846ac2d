"""class_weight: balanced, against scikit-learn's classifiers, one label at a time."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight
from solving import make_jobs, train_shard

from ovaflow import OneVsAllClassifier
from ovaflow.console.errors import InputError
from ovaflow.initialization.starts import COLD_STARTS
from ovaflow.settings.config import resolve_config
from ovaflow.settings.inputs import make_problem_name, make_step_parameters
from ovaflow.settings.train import ChooseC

EXACT = {"fit_intercept": False, "tol": 1e-8, "max_iter": 10_000, "class_weight": "balanced"}
RNG = np.random.default_rng(0)
X = sp.random_array((300, 40), density=0.2, rng=RNG, format="csr", dtype=np.float32)
Y = (X @ RNG.normal(size=(40, 4)) > RNG.uniform(0.3, 1.8, 4)).astype(int)


def make_oracle(
    loss: str, regularization: str = "l2", **more: Any
) -> LinearSVC | LogisticRegression:
    """Make scikit-learn's classifier of a problem."""
    if loss == "squared-hinge":
        return LinearSVC(penalty=regularization, dual=False, **EXACT, **more)
    l1_ratio = 1.0 if regularization == "l1" else 0.0
    return LogisticRegression(solver="liblinear", l1_ratio=l1_ratio, **EXACT, **more)


PROBLEMS = [
    *(("squared-hinge", "l2", start) for start in COLD_STARTS),
    ("logistic", "l2", "mean-separating"),
]
PROBLEMS += [(loss, "l1", "mean-separating") for loss in ("squared-hinge", "logistic")]


@pytest.mark.parametrize(("loss", "regularization", "start"), PROBLEMS)
def test_every_start_ends_at_the_optimum_of_scikit_learn(loss, regularization, start) -> None:
    settings = {"C": 2.0, "loss": loss, "regularization": regularization, "initialization": start}
    model = OneVsAllClassifier(class_weight="balanced", **settings, epsilon=1e-6, prune=0.0).fit(
        X, Y
    )
    ours = np.hstack([model.coef_.toarray(), model.intercept_[:, None]])
    with_bias = sp.csr_array(sp.hstack([X, np.ones((len(Y), 1))]))
    theirs = OneVsRestClassifier(make_oracle(loss, regularization, C=2.0)).fit(with_bias, Y)
    np.testing.assert_allclose(
        ours, np.vstack([each.coef_ for each in theirs.estimators_]), atol=1e-4
    )


def test_a_dict_weighs_the_instances_of_each_class() -> None:
    y = (X @ RNG.normal(size=(40, 3))).argmax(axis=1)
    weights = {0: 3.0, 2: 0.5}
    ours = OneVsAllClassifier(class_weight=weights, epsilon=1e-6, prune=0.0, bias=0).fit(X, y)
    instance_weights = compute_sample_weight(weights, y)
    for label, coefficients in enumerate(ours.coef_.toarray()):
        theirs = (
            LinearSVC(**EXACT | {"class_weight": None}, dual=False)
            .fit(X, y == label, instance_weights)
            .coef_[0]
        )
        np.testing.assert_allclose(coefficients, theirs, atol=1e-4)
    with pytest.raises(
        ValueError, match="a dict needs one class for each instance; give 'balanced'"
    ):
        ours.fit(X, Y)
    assert OneVsAllClassifier(class_weight="balanced").fit(X, Y)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_it_is_balanced_by_weights_and_counts_names_of_labels(made, loss) -> None:
    dataset = made["weighted"]
    labels = np.argsort(dataset.counts)[:: dataset.n_labels // 5]
    done = train_shard(
        dataset, labels, epsilon=1e-5, stored_threshold=0.0, loss=loss, class_weight="balanced"
    )
    n = dataset.n_documents
    features = dataset.train.X.to_scipy()
    all_labels = dataset.train.Y.to_scipy()
    for row, label in enumerate(labels):
        positive = all_labels[:, [label]].toarray().ravel() > 0
        rows = np.flatnonzero(positive | (np.arange(len(positive)) < n))
        weights = dataset.instance_weights[rows]
        fitted = make_oracle(loss).fit(features[rows].astype(float), positive[rows], weights)
        theirs = fitted.coef_[0]
        ours = done.weights.to_scipy()[[row]].toarray()[0]
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_many_labels_at_a_time_have_the_solutions_of_one_at_a_time(made) -> None:
    dataset = made["sparse"]
    settings = {"class_weight": "balanced", "epsilon": 1e-5, "stored_threshold": 0.0}
    labels = np.argsort(dataset.counts)[::5]
    suited = make_jobs(dataset, **settings).suits_fast_path(dataset.counts[labels])
    assert np.count_nonzero(suited) > 1
    ours = train_shard(dataset, labels, **settings, reference=False).weights.to_scipy()
    theirs = train_shard(dataset, labels, **settings, reference=True).weights.to_scipy()
    assert abs(ours - theirs).max() < 1e-4


def test_a_label_of_all_or_of_no_instances_is_trained() -> None:
    all_ = np.ones(len(Y), int)
    none = np.zeros(len(Y), int)
    model = OneVsAllClassifier(class_weight="balanced").fit(
        X, np.stack([all_, none, Y[:, 0]], axis=1)
    )
    assert (model.decision_function(X)[:, 0] > 0).all()


def test_C_is_chosen_with_it() -> None:
    model = OneVsAllClassifier(C="auto", class_weight="balanced").fit(X, Y)
    assert model.model_.parameters["train"]["class_weight"] == "balanced"
    assert model.C_ in ChooseC().candidates


DATA = {"format": "csv", "train": "a.csv"}


def test_it_and_weighting_exclude_each_other() -> None:
    with pytest.raises(
        ValueError, match="weighting: propensity and class_weight: balanced exclude each other"
    ):
        OneVsAllClassifier(class_weight="balanced", weighting="propensity").fit(X, Y)
    written = {
        "datasets": {"a": DATA},
        "runs": {"b": {"weighting": "propensity"}},
        "train": {"class_weight": "balanced"},
    }
    with pytest.raises(
        InputError, match=r"runs\.b: weighting: propensity and class_weight: balanced exclude"
    ):
        resolve_config(written, {})
    resolve_config(written | {"runs": {"b": {"method": "fastxml", "weighting": "propensity"}}}, {})


def test_it_is_recorded_only_if_it_is_set() -> None:
    config = resolve_config(
        {"datasets": {"a": DATA}, "runs": {"b": {}, "c": {"class_weight": "balanced"}}}, {}
    )
    assert "class_weight" not in make_step_parameters("train-shard", config, "a", "b")
    assert make_step_parameters("train-shard", config, "a", "c")["class_weight"] == "balanced"
    assert make_problem_name(config, "a", "b") != make_problem_name(config, "a", "c")
