from dataclasses import replace

import naive
import numpy as np
import pytest
from sklearn.svm import LinearSVC
from solving import in_memory, jobs_of
from solving import trained as train

from ovaflow.data.normalize import fill_rows
from ovaflow.solver.problem import Status


def clusters(n=15_000, d=30, n_labels=70, share=0.5, seed=0):
    """Instances of many classes around centres of their own, each feature missing in some; a bias feature last."""
    rng = np.random.default_rng(seed)
    of_class = np.arange(n) % 1000
    X = rng.normal(size=(1000, d))[of_class] + 0.7 * rng.normal(size=(n, d))
    X *= rng.random((n, d)) < share
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    Y = of_class[:, None] == np.arange(n_labels)
    Y[: n // 3, 0] = True
    return in_memory(np.hstack([X, np.ones((n, 1))]), Y.astype(float))


def in_full(dataset):
    return replace(dataset, train=replace(dataset.train, X=fill_rows(dataset.train.X)))


def trained(dataset, labels=None, threads=1, **settings):
    return train(dataset, labels, threads, stored_threshold=0.0, **settings)


@pytest.fixture(scope="module")
def sparse():
    return clusters()


def test_both_solvers_are_met(sparse):
    jobs = jobs_of(in_full(sparse))
    assert jobs.X.indices is None
    assert 0 < jobs.suits_fast_path(np.diff(sparse.positives.indptr)).sum() < sparse.n_labels


@pytest.mark.parametrize(
    ("loss", "reference"), [("squared-hinge", False), ("squared-hinge", True), ("logistic", False)]
)
def test_same_weights_as_from_sparse_storage(reference, loss):
    stored_sparsely = clusters(n_labels=20)
    settings = {"reference": reference, "loss": loss, "epsilon": 1e-2 if loss == "logistic" else 1e-4}
    ours, theirs = trained(in_full(stored_sparsely), **settings), trained(stored_sparsely, **settings)
    assert (ours.statistics["status"] == Status.CONVERGED).all()
    assert ours.statistics["objective"] == pytest.approx(theirs.statistics["objective"], rel=1e-5)
    np.testing.assert_allclose(ours.weights.to_scipy().toarray(), theirs.weights.to_scipy().toarray(), atol=2e-3)


def test_optimum_of_liblinear(sparse):
    dense = sparse.train.X.to_scipy().toarray().astype(float)
    ours = trained(in_full(sparse), [0, 1, 40], epsilon=1e-3).weights.to_scipy().toarray()
    for weights, label in zip(ours, [0, 1, 40], strict=True):
        y = np.where(sparse.train.Y.to_scipy().toarray()[:, label] > 0, 1.0, -1.0)
        theirs = LinearSVC(dual=False, fit_intercept=False, tol=1e-8, C=1.0).fit(dense, y).coef_[0]
        reached, best = (naive.squared_hinge_objective(dense, y, one) for one in (weights, theirs))
        assert reached == pytest.approx(best, rel=1e-4)
        np.testing.assert_allclose(weights, theirs, atol=0.02)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_company_threads_and_place_in_memory_change_no_bit(sparse, loss):
    dense = in_full(sparse)
    moved = np.empty(len(dense.train.X.data) + 7, np.float32)[7:]
    moved[:] = dense.train.X.data
    elsewhere = replace(dense, train=replace(dense.train, X=dense.train.X._replace(data=moved)))
    together, threaded, other = (
        trained(made, threads=threads, loss=loss) for made, threads in ((dense, 1), (dense, 3), (elsewhere, 1))
    )
    assert together.weights.data.tobytes() == threaded.weights.data.tobytes() == other.weights.data.tobytes()
    start, end = together.weights.indptr[9:11]
    assert trained(dense, [9], loss=loss).weights.data.tobytes() == together.weights.data[start:end].tobytes()
