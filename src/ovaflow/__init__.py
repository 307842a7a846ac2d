"""ovaflow: from raw text to sparse one-vs-all models with very many labels."""

import importlib

__version__ = "0.1.0"

_ESTIMATORS = (
    "FastXMLClassifier",
    "OneVsAllClassifier",
    "RembrandtClassifier",
    "TextFeatures",
    "f1_scorer",
    "precision_at_k_scorer",
)

__all__ = ["__version__", *_ESTIMATORS]


def __getattr__(name: str) -> object:
    # imported on first use: the command line starts without scikit-learn, and no step depends on
    # the estimators
    if name in _ESTIMATORS:
        return getattr(importlib.import_module("ovaflow.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
