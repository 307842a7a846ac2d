import re
from pathlib import Path

import numpy as np
from estimators.corpus import CLASSIFIERS
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

from ovaflow import OneVsAllClassifier


def list_expected_failures(estimator) -> dict[str, str]:
    """List checks that compare scores to 7 digits; test_optima.py compares weighted problems to the
    solver's tolerance.
    """
    kinds = ("dense", "sparse")
    reason = "training ends at the solver's tolerance"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=list_expected_failures)
def test_check(estimator, check) -> None:
    check(estimator)


def test_the_page_names_what_is_expected_to_fail() -> None:
    page = Path(__file__).parents[2] / "docs" / "python.md"
    named = re.findall(r"^\| `(check_\w+)`", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert named == [*list_expected_failures(None)]


def test_near_the_optimum_weights_are_repetitions() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((60, 8))
    y = rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, 60)
    model = OneVsAllClassifier(epsilon=1e-6, prune=0.0)
    ours = model.fit(X, y, sample_weight=weights).decision_function(X)
    theirs = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    assert_allclose(ours, theirs, atol=1e-4)
