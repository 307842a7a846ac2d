"""Both fast paths against the plain solver; tests/training/test_optima.py has the optima that they
reach.
"""

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

PROBLEMS = {
    "nonnegative": ({}, {}),
    "signed": ({"signed": True}, {}),
    "logistic": ({}, {"loss": "logistic"}),
    "logistic, weighted": ({}, {"loss": "logistic", "weighting": "propensity"}),
}


@pytest.fixture(scope="module", params=PROBLEMS)
def jobs(request):
    data, settings = PROBLEMS[request.param]
    return make_jobs(make_topics(**data), **settings)


@pytest.fixture(scope="module")
def both(jobs):
    """All labels on the fast path, more than are in flight at a time, and one by one."""
    labels = range(jobs.positives.n_rows)
    assert len(labels) > 64
    return solve_labels(jobs, labels), solve_labels(jobs, labels, fast=False)


def assert_same_objectives(ours, theirs, rel=1e-3) -> None:
    for label, solution in ours.items():
        assert solution.outcome.objective == pytest.approx(theirs[label].outcome.objective, rel=rel)


def test_the_same_in_fewer_passes_over_all_instances(jobs, both) -> None:
    assert_same_objectives(*both)
    ours, theirs = (
        np.mean([each.outcome.full_passes for each in solutions.values()]) for solutions in both
    )
    sampled_evenly = jobs.solver.settings.loss and (jobs.costs.positives == 1).all()
    assert ours < (min(4, theirs) if sampled_evenly else theirs)


def test_company_changes_no_bit(jobs, both) -> None:
    assert_same_bits(both[0][5], solve_labels(jobs, [5])[5])
    assert_same_bits(both[0][5], solve_labels(jobs, reversed(range(20)))[5])


def test_recovers_from_a_poor_first_working_set() -> None:
    # a start that separates nothing ranks all instances alike
    class Useless(Start):
        def fill(self, label, X, positives, weights) -> None:
            weights[:] = 0
            weights[-1] = 5.0

    jobs = make_jobs(make_topics())
    fast_path = replace(jobs.fast_path, start=Useless(), ranking=Useless())
    ours = solve_labels(replace(jobs, start=Useless(), fast_path=fast_path), range(5))
    assert_same_objectives(ours, solve_labels(jobs, range(5), fast=False), rel=2e-3)


def test_sigmoids_as_scipy_does() -> None:
    panel = make_slot_panel(1, 1)
    scores = np.linspace(-79, 79, 64 * 500, dtype=np.float32).reshape(500, 64)
    theirs = scipy.special.expit(scores.astype(float))
    for row in scores:
        fill_sigmoids(row, panel.powers, panel.power_bits)
    assert_allclose(scores, theirs, rtol=1e-6)
    far = np.repeat(np.float32([-1e9, 1e9]), 32)
    fill_sigmoids(far, panel.powers, panel.power_bits)
    assert_allclose(far, np.repeat([0.0, 1.0], 32), atol=1e-30)


def test_what_the_sample_does_not_solve_goes_to_the_plain_solver(monkeypatch) -> None:
    jobs = make_jobs(make_topics(), loss="logistic")
    monkeypatch.setattr(sampled, "MOST_SAMPLED_ROUNDS", 1)
    ours = solve_labels(jobs, range(10))
    theirs = solve_labels(jobs, range(10), fast=False)
    assert max(each.outcome.full_passes for each in ours.values()) > 2
    assert all(each.outcome.status == Status.CONVERGED for each in ours.values())
    assert_same_objectives(ours, theirs)


@pytest.mark.parametrize(
    ("n", "loss", "theirs"),
    [(6000, "squared-hinge", [False, True, True, False, False]), (500, "logistic", [False] * 5)],
)
def test_labels_that_need_most_instances_are_left_to_the_plain_solver(n, loss, theirs) -> None:
    assert (
        make_jobs(make_topics(n=n), loss=loss)
        .suits_fast_path(np.array([0, 1, 10, 1000, 5000]))
        .tolist()
        == theirs
    )
