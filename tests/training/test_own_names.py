"""Names of labels are positives of their own label and no negatives of others, on every path of the solver."""

from dataclasses import replace

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from solving import jobs_of, liblinear, trained
from synthetic import topics

from ovaflow.data.dataset import Split, inverse_propensity
from ovaflow.initialization.means import compute_means
from ovaflow.solver.problem import Status
from ovaflow.sparse.csr import from_scipy

N, N_LABELS = 5000, 30


@pytest.fixture(scope="module")
def dataset():
    """Documents, and after them a name of two words for each label but the first, which is in every document."""
    documents, rng = topics(n=N, d=800, n_labels=N_LABELS), np.random.default_rng(1)
    X, Y = documents.train.X.to_scipy(), documents.train.Y.to_scipy()
    words = np.zeros((N_LABELS - 1, X.shape[1]))
    for row in words:
        row[rng.choice(X.shape[1] - 1, 2, replace=False)] = 0.5**0.5
    words[:, -1] = 1.0
    own = sp.eye_array(N_LABELS, format="csr")[1:]
    train = Split(from_scipy(sp.vstack([X, sp.csr_array(words)])), from_scipy(sp.vstack([Y, own])))
    return replace(documents, train=train, parameters={"bias": 1.0, "named_labels": N_LABELS - 1})


def estimate_key(dataset, label):
    """Instances of a label's problem and their signs."""
    X, Y = dataset.train.X.to_scipy().astype(float), dataset.train.Y.to_scipy().toarray()
    rows = np.r_[:N, N + np.flatnonzero(Y[N:, label])]
    return X[rows], np.where(Y[rows, label] > 0, 1.0, -1.0)


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("regularization", ["l2", "l1"])
def test_same_optimum_as_liblinear_without_names_of_others(dataset, loss, regularization, reference):
    # with L1 and unequal costs LIBLINEAR gives up too early
    weighting = "propensity" if regularization == "l2" else "none"
    given = {"loss": loss, "regularization": regularization, "reference": reference, "weighting": weighting}
    done = trained(dataset, stored_threshold=0.0, **given)
    assert (done.statistics["status"] == Status.CONVERGED).all()
    costs = jobs_of(dataset, **given).positive_costs
    if weighting == "propensity":
        of_documents = dataset.train.Y.to_scipy()[:N].sum(axis=0)
        np.testing.assert_allclose(costs, 2 * inverse_propensity(of_documents, N, 0.55, 1.5) - 1)
    for label in range(0, N_LABELS, 2):
        X, y = estimate_key(dataset, label)
        found = done.weights.to_scipy()[[label]].toarray()[0], liblinear(X, y, loss, 1.0, costs[label], regularization)
        ours, theirs = (naive.objective(X, y, w, loss, 1.0, costs[label], regularization) for w in found)
        assert theirs * 0.999 <= ours <= theirs * 1.001
        assert done.statistics["objective"][label] == pytest.approx(ours, rel=1e-4)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_both_solvers_are_tried(dataset, loss):
    suited = jobs_of(dataset, loss=loss).suits_fast_path(np.diff(dataset.positives.indptr))[::2]
    assert 0 < suited.sum() < len(suited)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_target_of_l1_follows_from_the_gradient_at_zero(dataset, loss):
    jobs = jobs_of(dataset, loss=loss, regularization="l1", weighting="propensity", epsilon=0.01)
    for label, cost in enumerate(jobs.positive_costs):
        X, y = estimate_key(dataset, label)
        violation = naive.l1_violation(X, y, np.zeros(X.shape[1]), loss, 1.0, cost)
        share = 0.1 * 0.01 * max(1, min((y > 0).sum(), N - (y > 0).sum())) / N
        assert jobs.targets[label] == pytest.approx(share * violation, rel=1e-5)


def test_means_of_all_are_of_documents(dataset):
    ours = compute_means(dataset.train.X, dataset.positives, n_documents=dataset.n_documents)
    X, Y = dataset.train.X.to_scipy().astype(float), dataset.train.Y.to_scipy()
    theirs = X[:N].mean(axis=0)
    np.testing.assert_allclose(ours.x_mean, theirs, atol=1e-12)
    np.testing.assert_allclose(ours.xp, (Y.T @ (X @ theirs)) / Y.sum(axis=0), rtol=1e-9)
