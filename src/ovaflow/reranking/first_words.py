"""What the first words of a text say alone: there is its title, if it has one."""

import numpy as np

from ovaflow.data.beginnings import beginnings
from ovaflow.reranking.suggestions import Suggestions
from ovaflow.settings.predict import CANDIDATES

LENGTH = 12
"""Tokens; 5 or 25 rank tibkat no better."""


def labels_of_first_words(model, X, threads=1):
    """The best labels of the first words of texts, by the scores of a model; X as it takes them."""
    if X.places is not None:
        normalized = model.transform.get("normalize", False) and not model.takes_unscaled
        X, _ = beginnings(X, np.full(X.n_rows, LENGTH), normalized)
    return Suggestions.of_model(*model.top_k(X, CANDIDATES, threads))
