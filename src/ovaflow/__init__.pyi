# loaded by __getattr__ of __init__.py on first use: else every step's code would depend on them
from ovaflow.estimators import FastXMLClassifier as FastXMLClassifier
from ovaflow.estimators import OneVsAllClassifier as OneVsAllClassifier
from ovaflow.estimators import RembrandtClassifier as RembrandtClassifier
from ovaflow.estimators import TextFeatures as TextFeatures
from ovaflow.estimators import f1_scorer as f1_scorer
from ovaflow.estimators import precision_at_k_scorer as precision_at_k_scorer

__version__: str
__all__ = [
    "FastXMLClassifier",
    "OneVsAllClassifier",
    "RembrandtClassifier",
    "TextFeatures",
    "__version__",
    "f1_scorer",
    "precision_at_k_scorer",
]
