"""Which runs share an estimate."""

import pytest

from ovaflow.configuration import problems
from ovaflow.configuration.resolve import resolve

MSI, ZERO = {"initialization": "mean-separating"}, {"initialization": "zero"}


def settings(runs, **sections):
    return resolve(sections, {"datasets": {"mine": {"source": "builtin"}}, "runs": runs})


def names(found):
    return [problems.problem_of(found, "mine", run) for run in found.runs]


def test_runs_that_differ_in_their_start_share_one():
    first, second = names(settings({"msi": MSI, "dismec": ZERO}))
    assert first == second == "squared-hinge-l2-none-C1-epsilon0.01-stored0.01"


@pytest.mark.parametrize(
    "change", [{"C": 2}, {"loss": "logistic"}, {"regularization": "l1"}, {"epsilon": 0.1}, {"weighting": "propensity"}]
)
def test_runs_that_solve_other_problems_do_not(change):
    first, second = names(settings({"msi": MSI, "other": MSI | change}))
    assert first != second


@pytest.mark.parametrize(("weighting", "same"), [("none", True), ("propensity", False)])
def test_propensities_are_part_of_the_problem_where_they_weigh(weighting, same):
    runs = {"msi": MSI | {"weighting": weighting}}
    assert (names(settings(runs)) == names(settings(runs, evaluate={"propensity_a": 0.6}))) == same


def test_pruning_more_needs_no_other_estimate():
    first, second, third = names(settings({"a": MSI, "b": MSI | {"prune": 0.1}, "c": MSI | {"prune": 0.001}}))
    assert first == second != third


def test_a_sweep_has_the_estimate_of_its_first_run():
    found = settings({"msi": MSI | {"sweep": {"C": [0.3, 1, 3]}}, "later": MSI | {"C": 0.3}})
    assert set(names(found)) == {"squared-hinge-l2-none-C0.3-epsilon0.01-stored0.01"}
    (run,) = problems.by_name(settings({"msi": MSI | {"sweep": {"C": [0.3, 1, 3]}}})).values()
    assert run == "msi.C-0.3"


def test_what_is_held_out_is_estimated_with_the_whole():
    found = settings({"msi": MSI})
    whole = problems.estimate_file(found, "mine", "msi")
    assert problems.estimate_file(found, "mine/held-out-0.2", "msi") == whole
    assert whole.startswith("results/mine/estimates/")
