"""Classifiers and text features for Python programs, after scikit-learn's conventions."""

import importlib

from ovaflow.estimators.scorers import f1_scorer, precision_at_k_scorer
from ovaflow.estimators.text_features import TextFeatures
from ovaflow.methods import CLASSIFIERS

__all__ = ["TextFeatures", "f1_scorer", "precision_at_k_scorer", *CLASSIFIERS]


def __getattr__(name):
    # classifiers stand beside their methods, above this room
    if name in CLASSIFIERS:
        return getattr(importlib.import_module(CLASSIFIERS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
