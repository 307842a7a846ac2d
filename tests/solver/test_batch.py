from dataclasses import replace

import naive
import numpy as np
import pytest
from synthetic import topics

from ovaflow.artifacts.means import compute_means
from ovaflow.initialization.start import Start
from ovaflow.initialization.starts import StartInputs
from ovaflow.settings.models import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.training.label_jobs import LabelJobs, solve_on_fast_path, solve_plainly


@pytest.fixture(scope="module", params=[False, True], ids=["nonnegative", "signed"])
def jobs(request):
    dataset = topics(signed=request.param)
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    return LabelJobs.of(dataset, inputs, TrainLabels(stored_threshold=0.0))


def weights_of(solved, d):
    dense = np.zeros(d)
    dense[solved.indices] = solved.data
    return dense


def test_same_optimum_and_criterion_as_the_plain_solver(jobs):
    labels = range(jobs.positives.n_rows)
    ours = dict(solve_on_fast_path(jobs, iter(labels)))
    theirs = dict(solve_plainly(jobs, iter(labels)))
    dense = jobs.X.to_scipy().astype(float).toarray()
    assert sorted(ours) == list(labels)
    for label in labels:
        y = np.full(jobs.X.n_rows, -1.0)
        y[jobs.positives_of(label)] = 1.0
        weights = weights_of(ours[label], jobs.X.n_columns)
        outcome = ours[label].outcome
        assert outcome.status == Status.CONVERGED
        assert outcome.objective <= theirs[label].outcome.objective * 1.001
        assert outcome.objective == pytest.approx(naive.squared_hinge_objective(dense, y, weights), rel=1e-4)
        gradient = np.linalg.norm(naive.squared_hinge_gradient(dense, y, weights))
        assert gradient <= jobs.targets[label] * 1.02 + 1e-4
        assert outcome.active_end == np.count_nonzero(y * (dense @ weights) < 1) or gradient < jobs.targets[label]


def test_working_sets_are_small(jobs):
    solved = dict(solve_on_fast_path(jobs, iter(range(20))))
    plain = dict(solve_plainly(jobs, iter(range(20))))
    ours = np.mean([trained.outcome.full_passes for trained in solved.values()])
    theirs = np.mean([trained.outcome.full_passes for trained in plain.values()])
    assert ours < theirs


def test_company_changes_no_bit(jobs):
    together = dict(solve_on_fast_path(jobs, iter(range(jobs.positives.n_rows))))
    alone = dict(solve_on_fast_path(jobs, iter([5])))
    backwards = dict(solve_on_fast_path(jobs, reversed(range(20))))
    for theirs in (alone[5], backwards[5]):
        assert together[5].data.tobytes() == theirs.data.tobytes()
        assert together[5].indices.tobytes() == theirs.indices.tobytes()


def test_zero_start_reaches_the_same_optimum(jobs):
    dataset = topics(n=3000, n_labels=10)
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    by_start = {}
    for name in ("zero", "mean-separating"):
        started = LabelJobs.of(dataset, inputs, TrainLabels(initialization=name, epsilon=0.001))
        by_start[name] = dict(solve_on_fast_path(started, iter(range(10))))
    for label in range(10):
        ours, theirs = (by_start[name][label].outcome.objective for name in ("zero", "mean-separating"))
        assert ours == pytest.approx(theirs, rel=1e-3)


def test_recovers_from_a_poor_first_working_set(jobs):
    # a start that separates nothing ranks all instances alike, so that the first working set is poor
    class Useless(Start):
        def fill(self, label, X, positives, weights):
            weights[:] = 0
            weights[-1] = 5.0

    poor = replace(jobs, start=Useless(), ranking=Useless())
    ours = dict(solve_on_fast_path(poor, iter(range(5))))
    theirs = dict(solve_plainly(jobs, iter(range(5))))
    for label in range(5):
        assert ours[label].outcome.objective == pytest.approx(theirs[label].outcome.objective, rel=2e-3)


def test_labels_that_need_most_instances_are_left_to_the_plain_solver(jobs):
    counts = np.array([0, 1, 10, 1000, 5000])
    assert jobs.suits_fast_path(counts).tolist() == [False, True, True, False, False]
