"""Classifiers and text features for Python programs, after scikit-learn's conventions."""

from ovaflow.estimators.classifiers import (
    FastXMLClassifier,
    OneVsAllClassifier,
    RembrandtClassifier,
    f1_scorer,
    precision_at_k_scorer,
)
from ovaflow.estimators.text_features import TextFeatures

__all__ = [
    "FastXMLClassifier",
    "OneVsAllClassifier",
    "RembrandtClassifier",
    "TextFeatures",
    "f1_scorer",
    "precision_at_k_scorer",
]
