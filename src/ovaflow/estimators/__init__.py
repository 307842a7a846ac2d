"""Classifiers for Python programs, after scikit-learn's conventions."""

from ovaflow.estimators.fastxml import FastXMLClassifier
from ovaflow.estimators.one_vs_all import OneVsAllClassifier
from ovaflow.estimators.rembrandt import RembrandtClassifier
from ovaflow.estimators.scorers import precision_at_k_scorer

__all__ = ["FastXMLClassifier", "OneVsAllClassifier", "RembrandtClassifier", "precision_at_k_scorer"]
