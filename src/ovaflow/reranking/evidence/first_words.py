"""Evidence of the first words of a text alone: there is its title, if it has one."""

from dataclasses import dataclass

import numpy as np

from ovaflow.features.truncation import truncate_features
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.evidence.kind import Evidence, Wording
from ovaflow.reranking.suggestions import NO_SCORE
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.jit import strict_kernel

N_FIRST_WORDS = 12
"""Tokens; 5 or 25 rank tibkat no better."""


MAX_REPORTED_PLACES = 10
"""Places by the first words of which people are told."""

SOURCE_IN_WORDS = "the first words"


@dataclass(frozen=True)
class FirstWords(Evidence):
    """The score of a candidate for the first words of a text alone, and its place by this score."""

    name = "first words"
    columns = ("score of the first words", "rank by the first words")
    optional = True
    words = Wording(
        place=5,
        translations={
            "de": "von den ersten Wörtern vorgeschlagen, auf Platz {place}",
            "fr": "proposé par les premiers mots, à la place {place}",
        },
        numbers={
            "place": (int, "place by the first words of the text, from 1"),
            "by": (str, f"what suggests it: {SOURCE_IN_WORDS}"),
        },
    )

    @classmethod
    def fit(cls, training):
        """Return None where no model scores the first words, or nothing says which these are."""
        has_places = training.dataset.train.X.places is not None
        return cls() if has_places and training.first_stage is not None else None

    def compute(self, candidates):
        texts = candidates.texts
        model = texts.first_stage
        X = texts.features
        if X.places is not None:
            normalized = model.transform.get("normalize", False) and not model.takes_unscaled
            X, _ = truncate_features(X, np.full(X.n_rows, N_FIRST_WORDS), normalized)
        ids = candidates.ids
        scores = np.where(
            ids == NO_LABEL, NO_SCORE, model.score_each(X, np.maximum(ids, 0), texts.threads)
        )
        n_higher = np.empty(ids.shape, np.float32)
        _count_higher(scores, min(N_CANDIDATES, ids.shape[1]), n_higher)
        return [scores, n_higher]

    def reasons(self, text):
        _, n_higher = self.compute(text.candidates)
        return [_reason(int(place)) for place in n_higher[0]]


def _reason(place):
    if place >= MAX_REPORTED_PLACES:
        return None
    return {
        "text": f"suggested by {SOURCE_IN_WORDS} in place {place + 1}",
        "place": place + 1,
        "by": SOURCE_IN_WORDS,
    }


@strict_kernel
def _count_higher(scores, n, counts) -> None:
    """counts_ic = number of the first n candidates b with s_ib > s_ic."""
    for i in range(len(scores)):
        for c in range(scores.shape[1]):
            counts[i, c] = 0
            for b in range(n):
                counts[i, c] += scores[i, b] > scores[i, c]
