from sklearn.utils.estimator_checks import parametrize_with_checks

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier

CLASSIFIERS = [OneVsAllClassifier(), FastXMLClassifier(trees=2), RembrandtClassifier(rank=4)]


def beyond_the_tolerance(estimator):
    """These compare scores to 7 digits, test_instance_weights does to the solver's tolerance."""
    kinds = ("dense", "sparse")
    reason = "training ends at the solver's tolerance"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(CLASSIFIERS, expected_failed_checks=beyond_the_tolerance)
def test_check(estimator, check):
    check(estimator)
