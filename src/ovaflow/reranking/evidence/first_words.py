"""Evidence of the first words of a text: they are its title, if it has one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ovaflow.features.truncation import truncate_features
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining, ExplainedText, Wording
from ovaflow.reranking.suggestions import NO_SCORE
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.jit import strict_kernel

N_FIRST_WORDS = 12
"""Number of tokens; with 5 or 25 tibkat is ranked no better."""

MAX_REPORTED_PLACES = 10
"""Places by the first words up to which an explanation mentions them."""

SOURCE_IN_WORDS = "the first words"
"""Name of the first words in explanations."""


@dataclass(frozen=True)
class FirstWords(Evidence):
    """The score of a candidate for the first words of a text alone, and its rank by this score."""

    name = "first words"
    column_names = ("score of the first words", "rank by the first words")
    optional = True
    wording = Wording(
        position=5,
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
    def fit(cls, training: EvidenceTraining) -> Self | None:
        """Return None where no model scores the first words, or nothing says which these are."""
        has_places = training.dataset.train.X.places is not None
        if has_places and training.first_stage is not None:
            return cls()
        return None

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        texts = candidates.texts
        model = texts.first_stage
        assert model is not None
        X = texts.features
        # counts of words, as the service takes them, have no places: all words count as first
        if X.places is not None:
            rescale = model.transform.get("normalize", False) and not model.takes_unscaled
            X, _ = truncate_features(X, np.full(X.n_rows, N_FIRST_WORDS), rescale=rescale)
        ids = candidates.ids
        scores = model.score_each(X, np.maximum(ids, 0), texts.threads)
        scores = np.where(ids == NO_LABEL, NO_SCORE, scores)
        n_higher = np.empty(ids.shape, np.float32)
        _count_higher(scores, min(N_CANDIDATES, ids.shape[1]), n_higher)
        return [scores, n_higher]

    def give_reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        _, n_higher = self.compute(text.candidates)
        return [_explain(int(n)) for n in n_higher[0]]


def _explain(n_higher: int) -> dict[str, Any] | None:
    if n_higher >= MAX_REPORTED_PLACES:
        return None
    place = n_higher + 1
    return {
        "text": f"suggested by {SOURCE_IN_WORDS} in place {place}",
        "place": place,
        "by": SOURCE_IN_WORDS,
    }


@strict_kernel
def _count_higher(scores: np.ndarray, n: int, counts: np.ndarray) -> None:
    """Count in counts_ic (n texts, k) how many of the first n candidates b have s_ib > s_ic."""
    for i in range(len(scores)):
        for c in range(scores.shape[1]):
            higher = 0
            for b in range(n):
                if scores[i, b] > scores[i, c]:
                    higher += 1
            counts[i, c] = higher
