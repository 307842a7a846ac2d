# what __getattr__ of __init__.py loads when asked for; imported there, every step's code would depend on it
from ovaflow.estimators.classifiers import FastXMLClassifier as FastXMLClassifier
from ovaflow.estimators.classifiers import OneVsAllClassifier as OneVsAllClassifier
from ovaflow.estimators.classifiers import RembrandtClassifier as RembrandtClassifier
from ovaflow.estimators.classifiers import precision_at_k_scorer as precision_at_k_scorer

__version__: str
__all__ = [
    "FastXMLClassifier",
    "OneVsAllClassifier",
    "RembrandtClassifier",
    "__version__",
    "precision_at_k_scorer",
]
