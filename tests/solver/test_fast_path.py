"""Both fast paths against the plain solver.

tests/training/test_optima.py compares their solutions with the optima.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose
from solving import assert_same_bits, make_jobs, solve_labels
from synthetic import make_topics

from ovaflow.initialization.start import Start
from ovaflow.solver import sampled
from ovaflow.solver.problem import Status
from ovaflow.solver.sampled_problem import fill_sigmoids, make_slot_panel
from ovaflow.training.label_jobs import LabelJobs, TrainedLabel

PROBLEMS = {
    "nonnegative": ({}, {}),
    "signed": ({"signed": True}, {}),
    "logistic": ({}, {"loss": "logistic"}),
    "logistic, weighted": ({}, {"loss": "logistic", "weighting": "propensity"}),
}


@pytest.fixture(scope="module", params=PROBLEMS)
def jobs(request) -> LabelJobs:
    data, settings = PROBLEMS[request.param]
    return make_jobs(make_topics(**data), **settings)


@pytest.fixture(scope="module")
def solved_fast(jobs) -> dict[int, TrainedLabel]:
    """All labels on the fast path, more than are in flight at a time."""
    labels = range(jobs.positives.n_rows)
    assert len(labels) > 64
    return solve_labels(jobs, labels)


@pytest.fixture(scope="module")
def solved_plainly(jobs) -> dict[int, TrainedLabel]:
    """All labels one by one."""
    return solve_labels(jobs, range(jobs.positives.n_rows), fast=False)


def assert_same_objectives(
    ours: Mapping[int, TrainedLabel], theirs: Mapping[int, TrainedLabel]
) -> None:
    for label, solution in ours.items():
        objective = theirs[label].outcome.objective
        assert solution.outcome.objective == pytest.approx(objective, rel=2e-3)


def count_mean_passes(solved: Mapping[int, TrainedLabel]) -> np.floating:
    """Count the passes over all instances of a label, in the mean."""
    return np.mean([each.outcome.full_passes for each in solved.values()])


def test_the_same_in_fewer_passes_over_all_instances(jobs, solved_fast, solved_plainly) -> None:
    assert_same_objectives(solved_fast, solved_plainly)
    ours = count_mean_passes(solved_fast)
    theirs = count_mean_passes(solved_plainly)
    assert ours < theirs
    has_unit_costs = (jobs.costs.positives == 1).all()
    if jobs.solver.settings.loss and has_unit_costs:
        assert ours < 4


def test_other_labels_in_flight_change_no_bit(jobs, solved_fast) -> None:
    assert_same_bits(solved_fast[5], solve_labels(jobs, [5])[5])
    assert_same_bits(solved_fast[5], solve_labels(jobs, reversed(range(20)))[5])


class UselessStart(Start):
    """A start that separates nothing and ranks all instances alike."""

    def fill(self, label, X, positives, weights) -> None:
        weights[:] = 0
        weights[-1] = 5.0


def test_recovers_from_a_poor_first_working_set() -> None:
    jobs = make_jobs(make_topics())
    useless = UselessStart()
    fast_path = replace(jobs.fast_path, start=useless, ranking=useless)
    ours = solve_labels(replace(jobs, start=useless, fast_path=fast_path), range(5))
    theirs = solve_labels(jobs, range(5), fast=False)
    assert_same_objectives(ours, theirs)


def test_sigmoids_are_those_of_scipy() -> None:
    panel = make_slot_panel(1, 1)
    scores = np.linspace(-79, 79, 64 * 500, dtype=np.float32).reshape(500, 64)
    theirs = scipy.special.expit(scores.astype(float))
    for row in scores:
        fill_sigmoids(row, panel.powers, panel.power_bits)
    assert_allclose(scores, theirs, rtol=1e-6)


def test_sigmoids_are_0_and_1_far_out() -> None:
    panel = make_slot_panel(1, 1)
    scores = np.repeat(np.float32([-1e9, 1e9]), 32)
    fill_sigmoids(scores, panel.powers, panel.power_bits)
    assert_allclose(scores, np.repeat([0.0, 1.0], 32), atol=1e-30)


def test_labels_that_the_sample_does_not_solve_go_to_the_plain_solver(monkeypatch) -> None:
    jobs = make_jobs(make_topics(), loss="logistic")
    monkeypatch.setattr(sampled, "MOST_SAMPLED_ROUNDS", 1)
    ours = solve_labels(jobs, range(10))
    theirs = solve_labels(jobs, range(10), fast=False)
    assert max(each.outcome.full_passes for each in ours.values()) > 2
    assert all(each.outcome.status == Status.CONVERGED for each in ours.values())
    assert_same_objectives(ours, theirs)


@pytest.mark.parametrize(
    ("n", "loss", "expected"),
    [(6000, "squared-hinge", [False, True, True, False, False]), (500, "logistic", [False] * 5)],
)
def test_labels_that_need_most_instances_are_left_to_the_plain_solver(n, loss, expected) -> None:
    jobs = make_jobs(make_topics(n=n), loss=loss)
    suited = jobs.suits_fast_path(np.array([0, 1, 10, 1000, 5000]))
    assert suited.tolist() == expected
