"""What is usual for a model: how many words of its test texts it does not know, and their
languages.
"""

import contextlib
from collections import Counter
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.prediction.familiarity import find_trained_languages
from ovaflow.prediction.model_folder import read_metrics
from ovaflow.sparse.csr import evenly_spaced_numbers

_MOST = 20_000  # test texts that are read again, evenly spread over all


class UsualTexts(NamedTuple):
    """Share of unknown words and languages of texts like those of the training; None where they are
    not known.
    """

    unknown_share: float | None = None
    languages: tuple | None = None  # the most frequent first


def count_test_texts(dataset, predictor):
    """Count words and languages of the test texts, for metrics.json; empty where the model reads no
    texts.
    """
    if not predictor.takes_text:
        return {}
    texts = dataset.test_texts(evenly_spaced_numbers(dataset.test.X.n_rows, _MOST))
    familiarity = predictor.read_texts(texts).familiarity
    count = familiarity.word_count
    languages = Counter(filter(None, familiarity.languages))
    return {"words": count.words, "unknown_words": count.unknown, "languages": dict(languages)}


def read_usual_texts(model):
    """Read the :class:`UsualTexts` of an open model from metrics.json next to it."""
    metrics = {}
    # answers do not depend on it, so a file of another model or program stops nothing
    with contextlib.suppress(InputError):
        metrics = read_metrics(model)
    words = metrics.get("words")
    unknown_share = metrics["unknown_words"] / words if words else None
    return UsualTexts(unknown_share, find_trained_languages(metrics.get("languages", {})))
