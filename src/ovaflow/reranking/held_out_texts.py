"""Held-out texts, with what a model that has not seen them says of them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ovaflow.dataset.dataset import Split
from ovaflow.model.model_file import Model
from ovaflow.model.ranked_labels import find_hits
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.suggested import SuggestedBySource
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.reranking.suggestions import Suggestions, SuggestionSource, find_covered_texts
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import evenly_spaced_numbers

MAX_HELD_OUT_TEXTS = 20_000
"""Held-out texts that are used, evenly spread over all."""

MIN_HELD_OUT_TEXTS = 200
"""Held-out texts below which there is no second stage: 100 sometimes rank worse than the scores do.
"""


@dataclass(frozen=True)
class HeldOutTexts:
    """Held-out texts that a second stage is fitted to."""

    split: Split
    ids: np.ndarray  # int32 (n, k); the best labels by score
    scores: np.ndarray  # float32 (n, k)
    suggestions: dict[SuggestionSource, Suggestions]
    model: Model | None  # that has the scores; None where it is not known

    @classmethod
    def of(cls, held_out, predictions, suggestions, model):
        """Take the texts of ``held_out`` with predictions for them, by the model if it is given,
        and suggestions.
        """
        rows = evenly_spaced_numbers(len(predictions.ids), MAX_HELD_OUT_TEXTS)
        return cls(
            held_out.test.take(rows),
            predictions.ids[rows, :N_CANDIDATES],
            predictions.scores[rows, :N_CANDIDATES],
            {source: each.take(rows) for source, each in suggestions.items()},
            model,
        )

    def __len__(self):
        return len(self.ids)

    @cached_property
    def hits(self):
        """Which of the best labels are true."""
        return find_hits(self.ids, self.split.Y)

    @cached_property
    def complete(self):
        """Texts of which all sources say something: bool (n,)."""
        return find_covered_texts(self.suggestions.values(), len(self))

    @property
    def obstacle(self):
        """Why no trees can be fitted; empty where they can."""
        if len(self) < MIN_HELD_OUT_TEXTS:
            return f"{len(self):,} instances were held out, it needs {MIN_HELD_OUT_TEXTS:,}"
        amount = int(self.complete.sum())
        if amount < MIN_HELD_OUT_TEXTS:
            return f"files suggest labels for {amount:,} of the held-out instances, it needs {MIN_HELD_OUT_TEXTS:,}"
        known = self.ids[self.complete] != NO_LABEL
        if len(np.unique(self.hits[self.complete][known])) < 2:
            return "the candidates of held-out instances are all wrong, or all right"
        return ""

    def fit_likelihood(self):
        """Slope and intercept of the log-odds of a label over its score alone."""
        return fit_likelihood(self.ids, self.scores, self.hits)

    def with_candidates(self, evidence: CandidateEvidence, threads: int) -> HeldOutCandidates:
        """Find candidates of each text, and compute the evidence about them."""
        X = evidence.with_own_features(self.split.X, self.split.tokens)
        suggestions = {source.name: each for source, each in self.suggestions.items()}
        texts = evidence.texts(X, self.model, threads, suggestions)
        if self.model is not None:
            texts = replace(texts, features=self.model.instances(self.split))
        candidates = evidence.candidates(texts, self.ids, self.scores)
        by_sources = [kind for kind in evidence.kinds if isinstance(kind, SuggestedBySource)]
        return HeldOutCandidates(
            evidence.kinds,
            evidence.compute(candidates),
            candidates.ids,
            hits=find_hits(candidates.ids, self.split.Y),
            positives=np.diff(self.split.Y.indptr),
            n_suggested=sum(kind.suggest_candidates(texts).shape[1] for kind in by_sources),
        )


def fit_likelihood(ids, scores, hits):
    """Slope and intercept of the log-odds of a label over its score alone."""
    # loading scikit-learn takes a second, which a second stage of few instances does not need
    from sklearn.linear_model import LogisticRegression

    known = ids != NO_LABEL
    line = LogisticRegression().fit(scores[known].reshape(-1, 1), hits[known])
    return float(line.coef_[0, 0]), float(line.intercept_[0])
