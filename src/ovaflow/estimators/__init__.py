"""Classifiers and text features for Python programs, after scikit-learn's conventions."""

from ovaflow.estimators.scorers import f1_scorer, precision_at_k_scorer
from ovaflow.estimators.text_features import TextFeatures
from ovaflow.registry import CLASSIFIERS, import_reference

__all__ = ["TextFeatures", "f1_scorer", "precision_at_k_scorer", *CLASSIFIERS]


def __getattr__(name: str) -> type:
    # classifiers are defined with their methods, a layer above this package
    if name in CLASSIFIERS:
        return import_reference(CLASSIFIERS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
