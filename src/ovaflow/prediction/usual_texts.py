"""Usual texts of a model: the share of unknown words of its test texts, and their languages."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.model.model_file import Model
from ovaflow.prediction.familiarity import find_trained_languages
from ovaflow.prediction.model_folder import read_metrics
from ovaflow.sparse.csr import evenly_spaced_numbers

if TYPE_CHECKING:
    from ovaflow.prediction.predictor import Predictor

_MAX_TEXTS = 20_000
"""Number of test texts that are read again, evenly spaced among all."""


class UsualTexts(NamedTuple):
    """Share of unknown words, and languages, of texts like those of training; None if not known."""

    unknown_share: float | None = None
    languages: tuple[str, ...] | None = None  # the most frequent first


def count_test_texts(dataset: Dataset, predictor: Predictor) -> dict[str, Any]:
    """Count words and languages of the test texts, for metrics.json; empty for features."""
    if not predictor.takes_text:
        return {}
    rows = evenly_spaced_numbers(dataset.test.X.n_rows, _MAX_TEXTS).tolist()
    familiarity = predictor.read_texts(dataset.test_texts(rows)).familiarity
    # texts have a familiarity
    assert familiarity is not None
    count = familiarity.word_count
    languages = Counter(language for language in familiarity.languages if language)
    return {"words": count.words, "unknown_words": count.unknown, "languages": dict(languages)}


def read_usual_texts(model: Model) -> UsualTexts:
    """Read the usual texts of an open model from metrics.json next to it."""
    metrics: dict[str, Any] = {}
    # answers do not depend on these, so a file of another model or program is ignored
    with contextlib.suppress(InputError):
        metrics = read_metrics(model)
    words = metrics.get("words")
    unknown_share = metrics["unknown_words"] / words if words else None
    return UsualTexts(unknown_share, find_trained_languages(metrics.get("languages", {})))
