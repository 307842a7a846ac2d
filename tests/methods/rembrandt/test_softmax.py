import numpy as np
import scipy.optimize
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from ovaflow.methods.rembrandt.panels import parallel_map
from ovaflow.methods.rembrandt.softmax import SoftmaxProblem, fit_softmax


def make_instances(n: int = 600, k: int = 5, n_labels: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Draw features with a constant, and labels by a softmax of random scores."""
    generator = np.random.default_rng(2)
    features = np.hstack([generator.standard_normal((n, k)), np.ones((n, 1))]).astype(np.float32)
    scores = features @ generator.standard_normal((k + 1, n_labels))
    scores = scores + generator.gumbel(size=(n, n_labels))
    return features, scores.argmax(axis=1)


def test_as_scikit_learn_does() -> None:
    features, labels = make_instances()
    solver = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs = solver.fit(features, labels).coef_
    ours = fit_softmax(SoftmaxProblem(features, labels, 7, C=2.0), tolerance=1e-12).weights
    assert_allclose(ours, theirs, atol=5e-3)


def test_the_gradient() -> None:
    features, labels = make_instances(n=50)
    ours = SoftmaxProblem(features.astype(np.float64), labels, 7, C=0.5)
    W = np.random.default_rng(0).standard_normal((6, 7)).astype(np.float32).astype(np.float64)
    numerical = scipy.optimize.approx_fprime(
        W.ravel(), lambda w: ours.value_and_gradient(w.reshape(6, 7))[0], 1e-3
    )
    assert_allclose(ours.value_and_gradient(W)[1].ravel(), numerical, atol=2e-3)


def test_features_of_very_different_sizes_take_no_more_iterations() -> None:
    features, labels = make_instances()
    stretched = features * np.array([1, 100, 0.01, 1, 10, 1], np.float32)
    iterations = [
        fit_softmax(SoftmaxProblem(each, labels, 7, C=1e6)).iterations
        for each in (features, stretched)
    ]
    assert iterations[1] < 1.5 * iterations[0]


def test_iterations_end_where_held_out_instances_are_best() -> None:
    features, labels = make_instances(n=200, k=40, n_labels=3)
    seen, watched = (
        SoftmaxProblem(features[part], labels[part], 3, C=1e4)
        for part in (slice(100), slice(100, 200))
    )
    found = fit_softmax(seen, held_out=watched)
    assert 0 < found.iterations == int(np.argmin(found.held_out)) < len(found.held_out) - 1
    assert_allclose(watched.loss(found.weights.T), min(found.held_out), rtol=1e-4)


def test_threads_change_no_bit(monkeypatch) -> None:
    monkeypatch.setattr("ovaflow.methods.rembrandt.softmax._BLOCK_ROWS", 64)
    features, labels = make_instances()
    fits = []
    for threads in (1, 3):
        with parallel_map(threads) as each:
            fits.append(fit_softmax(SoftmaxProblem(features, labels, 7, 1.0, each)).weights)
    assert_array_equal(fits[0], fits[1])
