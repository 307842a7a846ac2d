import naive
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from synthetic import topics

from ovaflow.artifacts.means import compute_means
from ovaflow.initialization.starts import StartInputs
from ovaflow.settings.models import TrainLabels
from ovaflow.solver import sampled
from ovaflow.solver.problem import Status
from ovaflow.training.label_jobs import LabelJobs, solve_on_fast_path, solve_plainly


def made(**settings):
    dataset = topics()
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    return LabelJobs.of(dataset, inputs, TrainLabels(loss="logistic", stored_threshold=0.0, **settings))


@pytest.fixture(scope="module", params=["none", "propensity"])
def jobs(request):
    return made(weighting=request.param)


def weights_of(solved, d):
    dense = np.zeros(d)
    dense[solved.indices] = solved.data
    return dense


def test_same_optimum_and_criterion_as_the_plain_solver(jobs):
    labels = range(jobs.positives.n_rows)
    assert len(labels) > 64
    ours = dict(solve_on_fast_path(jobs, iter(labels)))
    theirs = dict(solve_plainly(jobs, iter(labels)))
    dense = jobs.X.to_scipy().astype(float).toarray()
    for label in labels:
        y = np.full(jobs.X.n_rows, -1.0)
        y[jobs.positives_of(label)] = 1.0
        costs = np.where(y > 0, jobs.positive_costs[label], 1.0)
        weights, outcome = weights_of(ours[label], jobs.X.n_columns), ours[label].outcome
        assert outcome.status == Status.CONVERGED
        assert outcome.objective == pytest.approx(theirs[label].outcome.objective, rel=1e-3)
        assert outcome.objective == pytest.approx(naive.logistic_objective(dense, y, weights, costs), rel=1e-5)
        gradient = np.linalg.norm(naive.logistic_gradient(dense, y, weights, costs))
        assert gradient <= jobs.targets[label] * 1.02 + 1e-4
        assert gradient == pytest.approx(outcome.gradient_norm, abs=1e-2 * jobs.targets[label] + 1e-4)


def test_optimum_of_scikit_learn():
    jobs = made(epsilon=1e-4)
    ours = dict(solve_on_fast_path(jobs, iter([3])))[3]
    y = np.full(jobs.X.n_rows, -1)
    y[jobs.positives_of(3)] = 1
    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=1000).fit(jobs.X.to_scipy(), y)
    np.testing.assert_allclose(weights_of(ours, jobs.X.n_columns), theirs.coef_[0], atol=2e-3)


def test_few_passes_over_all_instances():
    jobs = made()
    ours = dict(solve_on_fast_path(jobs, iter(range(40))))
    assert np.mean([solved.outcome.full_passes for solved in ours.values()]) < 4


@pytest.mark.parametrize("initialization", ["zero", "bias", "mean-separating"])
def test_every_start_leads_to_the_same_optimum(initialization):
    jobs = made(initialization=initialization, epsilon=1e-3)
    ours = dict(solve_on_fast_path(jobs, iter(range(5))))
    theirs = dict(solve_plainly(made(epsilon=1e-3), iter(range(5))))
    for label in range(5):
        assert ours[label].outcome.objective == pytest.approx(theirs[label].outcome.objective, rel=1e-5)


def test_company_changes_no_bit(jobs):
    together = dict(solve_on_fast_path(jobs, iter(range(jobs.positives.n_rows))))
    alone = dict(solve_on_fast_path(jobs, iter([5])))
    backwards = dict(solve_on_fast_path(jobs, reversed(range(20))))
    for theirs in (alone[5], backwards[5]):
        assert together[5].data.tobytes() == theirs.data.tobytes()
        assert together[5].indices.tobytes() == theirs.indices.tobytes()


def test_what_the_sample_does_not_solve_goes_to_the_plain_solver(monkeypatch):
    jobs = made()
    monkeypatch.setattr(sampled, "MOST_ROUNDS", 1)
    ours = dict(solve_on_fast_path(jobs, iter(range(10))))
    theirs = dict(solve_plainly(jobs, iter(range(10))))
    assert max(solved.outcome.full_passes for solved in ours.values()) > 2
    for label in range(10):
        assert ours[label].outcome.status == Status.CONVERGED
        assert ours[label].outcome.objective == pytest.approx(theirs[label].outcome.objective, rel=1e-3)


def test_small_data_is_left_to_the_plain_solver():
    dataset = topics(n=500)
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    jobs = LabelJobs.of(dataset, inputs, TrainLabels(loss="logistic"))
    assert not jobs.suits_fast_path(np.array([1, 10])).any()
