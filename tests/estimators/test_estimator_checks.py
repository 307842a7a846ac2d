"""scikit-learn's own checks."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier

EXPECTED = {}


@parametrize_with_checks(
    [OneVsAllClassifier(), FastXMLClassifier(trees=10), RembrandtClassifier(rank=10)],
    expected_failed_checks=lambda estimator: EXPECTED.get(type(estimator), {}),
)
def test_check(estimator, check):
    check(estimator)
