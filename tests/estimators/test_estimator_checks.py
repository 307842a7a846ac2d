import re
from pathlib import Path

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier

CLASSIFIERS = [OneVsAllClassifier(), FastXMLClassifier(trees=2), RembrandtClassifier(rank=4)]


def beyond_the_tolerance(estimator):
    """These compare scores to 7 digits; test_optima.py compares weighted problems to the solver's tolerance."""
    kinds = ("dense", "sparse")
    reason = "training ends at the solver's tolerance"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=beyond_the_tolerance)
def test_check(estimator, check):
    check(estimator)


def test_the_page_names_what_is_expected_to_fail():
    page = Path(__file__).parents[2] / "docs" / "python.md"
    named = re.findall(r"^\| `(check_\w+)`", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert named == [*beyond_the_tolerance(None)]


def test_near_the_optimum_weights_are_repetitions():
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((60, 8)), rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    ours = OneVsAllClassifier(epsilon=1e-6, prune=0.0).fit(X, y, sample_weight=weights)
    theirs = OneVsAllClassifier(epsilon=1e-6, prune=0.0).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
