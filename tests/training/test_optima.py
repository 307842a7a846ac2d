"""Every problem, from every start and by every solver, ends at scikit-learn's optimum."""

from typing import Any

import naive
import numpy as np
import pytest
from commands import ovaflow
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from solving import make_earlier, make_jobs, train_shard

from ovaflow.dataset.dataset import Dataset, Split, compute_inverse_propensity, open_dataset
from ovaflow.initialization.starts import STARTS
from ovaflow.model.training_file import Shard
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import REGULARIZATIONS, Status
from ovaflow.sparse.csr import select_rows

REAL_DATASETS = {"bibtex": 4880, "kirjastonhoitaja": 2625, "delicious": 3000, "aloi": 3000}
"""Number of instances of each dataset that are trained on, all of the sparse ones."""


@pytest.fixture(scope="module")
def dataset(request, made, tmp_path_factory) -> Dataset:
    if request.param not in REAL_DATASETS:
        return made[request.param]
    folder = request.getfixturevalue("real_data") / request.param
    path = tmp_path_factory.mktemp(request.param) / "dataset.h5"
    if (folder / "train_raw.tsv.gz").exists():
        suffix = "_raw.tsv.gz"
        options = ["--format=text-tsv", f"--labels={folder}/labels.txt.gz", "--no-label-names"]
    else:
        suffix = ".txt.gz"
        options = ["--format=xmc-text"]
    files = [f"--train={folder}/train{suffix}", f"--test={folder}/test{suffix}"]
    ovaflow("prepare", options, files, f"--output={path}")
    whole = open_dataset(path)
    rows = np.sort(
        np.random.default_rng(0).permutation(whole.train.X.n_rows)[: REAL_DATASETS[request.param]]
    )
    split = Split(select_rows(whole.train.X, rows), select_rows(whole.train.Y, rows))
    return Dataset("memory", split, split, "", whole.parameters)


def make_problem(
    dataset: Dataset, label: int, weighting: str
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Make instances, signs and costs of a label: names of other labels are no negatives."""
    n = dataset.n_documents
    Y = dataset.train.Y.to_scipy()
    positive = Y[:, [label]].toarray().ravel() > 0
    rows = np.flatnonzero(positive | (np.arange(len(positive)) < n))
    positive_cost = 1.0
    if weighting == "propensity":
        count = Y[:n, [label]].sum()
        positive_cost = 2 * compute_inverse_propensity(count, n, 0.55, 1.5) - 1
    costs = np.where(positive, positive_cost, 1.0)
    if dataset.train.weights is not None:
        costs = costs * dataset.train.weights
    if dataset.train.X.indices is None:
        X = dataset.train.X.data.reshape(len(positive), -1)
    else:
        X = dataset.train.X.to_scipy()
    return X[rows].astype(float), np.where(positive[rows], 1.0, -1.0), costs[rows]


def find_optimum(
    X: Any, y: np.ndarray, loss: str, C: float, costs: np.ndarray, regularization: str
) -> np.ndarray:
    """Find the weights of scikit-learn."""
    constants = {"C": C, "fit_intercept": False, "tol": 1e-7, "max_iter": 20_000}
    if loss == "squared-hinge":
        solver = LinearSVC(penalty=regularization, dual=False, **constants)
    else:
        l1_ratio = 1.0 if regularization == "l1" else 0.0
        solver = LogisticRegression(solver="liblinear", l1_ratio=l1_ratio, **constants)
    return solver.fit(X, y, costs).coef_[0]


def train(
    dataset: Dataset, labels: np.ndarray, settings: dict[str, Any], epsilon: float, **more: Any
) -> Shard:
    return train_shard(dataset, labels, epsilon=epsilon, stored_threshold=0.0, **settings, **more)


def assert_optimal(
    dataset: Dataset,
    labels: np.ndarray,
    settings: dict[str, Any],
    epsilon: float,
    *shards: Shard,
) -> None:
    """Compare weights of labels in each shard with the optimum, and statistics with the weights."""
    loss = settings["loss"]
    regularization = settings["regularization"]
    C = settings["C"]
    for label in labels:
        X, y, costs = make_problem(dataset, label, settings["weighting"])
        optimum = find_optimum(X, y, loss, C, costs, regularization)
        theirs = naive.objective(X, y, optimum, loss, C, costs, regularization)
        at_zero = naive.violation(X, y, 0 * optimum, loss, C, costs, regularization)
        for shard in shards:
            [row] = np.flatnonzero(shard.labels == label)
            reported = {name: values[row] for name, values in shard.statistics.items()}
            norm = reported["gradient_norm"]
            target = reported["gradient_target"]
            weights = shard.weights.to_scipy()[[row]].toarray()[0].astype(float)
            ours = naive.objective(X, y, weights, loss, C, costs, regularization)
            assert ours == pytest.approx(theirs, rel=1e-3)
            assert reported["objective"] == pytest.approx(ours, rel=1e-4)
            is_active = y * (X @ weights) < 1 if loss == "squared-hinge" else y
            assert reported["active_end"] == pytest.approx(np.count_nonzero(is_active), abs=2)
            violation = naive.violation(X, y, weights, loss, C, costs, regularization)
            tolerance = max(0.02 * violation, 0.05 * target + 5e-3)
            assert norm >= violation - tolerance
            # working sets report a bound, which is at most the target
            if (loss, regularization) != ("squared-hinge", "l2"):
                assert norm <= violation + tolerance
            assert reported["status"] == Status.CONVERGED
            assert norm <= target
            if regularization == "l1" or dataset.train.weights is None:
                count = np.count_nonzero(y > 0)
                n = dataset.n_documents
                share = epsilon * max(1, min(count, n - count)) / n
                if regularization == "l1":
                    share *= 0.1
                assert target == pytest.approx(share * at_zero, rel=1e-4)


WEIGHTING = {
    "sparse": ("none", 1.0),
    "weighted": ("propensity", 0.5),
    "in full": ("propensity", 3.0),
}


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dataset", WEIGHTING, indirect=True)
def test_every_problem(request, dataset, loss, regularization) -> None:
    weighting, C = WEIGHTING[request.node.callspec.params["dataset"]]
    settings = {"loss": loss, "regularization": regularization, "weighting": weighting, "C": C}
    labels = np.argsort(dataset.counts)
    compared = labels[:: dataset.n_labels // 7]
    many_at_a_time = train(dataset, labels, settings, 0.01, reference=False)
    each_alone = train(dataset, compared, settings, 0.01, reference=True)
    assert_optimal(dataset, compared, settings, 0.01, many_at_a_time, each_alone)
    suited = make_jobs(dataset, loss=loss).suits_fast_path(dataset.counts[compared])
    assert 0 < suited.sum() < len(suited)


@pytest.mark.parametrize(
    ("dataset", "loss", "regularization", "weighting"),
    [
        ("bibtex", "squared-hinge", "l2", "none"),
        ("bibtex", "logistic", "l1", "propensity"),
        ("kirjastonhoitaja", "squared-hinge", "l1", "propensity"),
        ("kirjastonhoitaja", "logistic", "l2", "none"),
        ("delicious", "squared-hinge", "l2", "propensity"),
        ("delicious", "logistic", "l1", "none"),
        ("aloi", "squared-hinge", "l1", "none"),
        ("aloi", "logistic", "l2", "propensity"),
    ],
    indirect=["dataset"],
)
def test_every_problem_of_real_data(dataset, loss, regularization, weighting) -> None:
    settings = {"loss": loss, "regularization": regularization, "weighting": weighting, "C": 1.0}
    labels = np.random.default_rng(0).permutation(np.flatnonzero(dataset.counts))[:12]
    # at 0.01 bibtex's label of a seventh of the instances stops 4 % above the optimum, with
    # LIBLINEAR 2 %
    assert_optimal(dataset, labels, settings, 0.001, train(dataset, labels, settings, 0.001))


@pytest.mark.parametrize("initialization", STARTS)
@pytest.mark.parametrize(
    ("dataset", "loss", "regularization"),
    [
        ("sparse", "squared-hinge", "l2"),
        ("weighted", "logistic", "l2"),
        ("sparse", "squared-hinge", "l1"),
        ("bibtex", "squared-hinge", "l2"),
    ],
    indirect=["dataset"],
)
def test_every_start(dataset, loss, regularization, initialization) -> None:
    settings = {"loss": loss, "regularization": regularization, "weighting": "none", "C": 1.0}
    labels = np.arange(dataset.n_labels)
    earlier = None
    if initialization == "pretrained":
        earlier = make_earlier(dataset, labels, train_shard(dataset, **settings | {"C": 3.0}))
    start = {"initialization": initialization, "earlier": earlier}
    done = train(dataset, labels, settings, 0.001, **start)
    assert_optimal(dataset, labels[:: dataset.n_labels // 5], settings, 0.001, done)
