"""Classifiers for Python programs, after scikit-learn's conventions."""

from ovaflow.estimators.classifiers import (
    FastXMLClassifier,
    OneVsAllClassifier,
    RembrandtClassifier,
    precision_at_k_scorer,
)

__all__ = ["FastXMLClassifier", "OneVsAllClassifier", "RembrandtClassifier", "precision_at_k_scorer"]
