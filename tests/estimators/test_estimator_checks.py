from sklearn.utils.estimator_checks import parametrize_with_checks

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier


@parametrize_with_checks([OneVsAllClassifier(), FastXMLClassifier(trees=2), RembrandtClassifier(rank=4)])
def test_check(estimator, check):
    check(estimator)
