"""Held-out texts, with the predictions of a model that has not seen them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from ovaflow.dataset.dataset import Dataset, Split
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
"""Most held-out texts that are used, evenly spread over all."""

MIN_HELD_OUT_TEXTS = 200
"""Held-out texts below which there is no second stage: with 100 it sometimes ranks worse than the
scores do.
"""


class PredictionsOfHeldOut(Protocol):
    """Predictions for held-out texts: see :class:`ovaflow.prediction.predictions.Predictions`."""

    @property
    def ids(self) -> np.ndarray: ...

    @property
    def scores(self) -> np.ndarray: ...

    @property
    def inputs(self) -> dict[str, str]: ...


@dataclass(frozen=True)
class HeldOutTexts:
    """Held-out texts that a second stage is fitted to."""

    split: Split
    ids: np.ndarray  # int32 (n, k); the best labels by score
    scores: np.ndarray  # float32 (n, k)
    suggestions: dict[SuggestionSource, Suggestions]
    model: Model | None  # the model that made the scores; None where it is not available

    @classmethod
    def from_predictions(
        cls,
        held_out: Dataset,
        predictions: PredictionsOfHeldOut,
        suggestions: Mapping[SuggestionSource, Suggestions],
        model: Model | None,
    ) -> Self:
        """Take the test instances of ``held_out``, the predictions for them, and suggestions.

        Parameters
        ----------
        held_out : Dataset
        predictions : Predictions
            Predictions for its test instances.
        suggestions : mapping
            Suggestions for these instances.
        model : Model, optional
            The model that made the predictions.
        """
        rows = evenly_spaced_numbers(len(predictions.ids), MAX_HELD_OUT_TEXTS)
        return cls(
            split=held_out.test.take(rows),
            ids=predictions.ids[rows, :N_CANDIDATES],
            scores=predictions.scores[rows, :N_CANDIDATES],
            suggestions={source: each.take(rows) for source, each in suggestions.items()},
            model=model,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def hits(self) -> np.ndarray:
        """Truth of the best labels: bool (n, k)."""
        return find_hits(self.ids, self.split.Y)

    @cached_property
    def complete(self) -> np.ndarray:
        """Texts that all sources of suggestions have an entry for: bool (n,)."""
        return find_covered_texts(self.suggestions.values(), len(self))

    @property
    def obstacle(self) -> str:
        """Reason why no trees can be fitted; empty where they can."""
        if len(self) < MIN_HELD_OUT_TEXTS:
            return f"{len(self):,} instances were held out, it needs {MIN_HELD_OUT_TEXTS:,}"
        n_complete = int(self.complete.sum())
        if n_complete < MIN_HELD_OUT_TEXTS:
            return (
                f"files suggest labels for {n_complete:,} of the held-out instances, it needs "
                f"{MIN_HELD_OUT_TEXTS:,}"
            )
        exists = self.ids[self.complete] != NO_LABEL
        if len(np.unique(self.hits[self.complete][exists])) < 2:
            return "the candidates of held-out instances are all wrong, or all right"
        return ""

    def fit_likelihood(self) -> tuple[float, float]:
        """Fit the slope and intercept of the log-odds of a label over its score alone."""
        return fit_likelihood(self.ids, self.scores, self.hits)

    def with_candidates(self, evidence: CandidateEvidence, threads: int) -> HeldOutCandidates:
        """Find candidates of each text, and compute the evidence about them."""
        X = evidence.with_own_features(self.split.X, self.split.tokens)
        suggestions = {source.name: each for source, each in self.suggestions.items()}
        texts = evidence.prepare_texts(X, self.model, threads, suggestions)
        if self.model is not None:
            texts = replace(texts, features=self.model.instances(self.split))
        candidates = evidence.find_candidates(texts, self.ids, self.scores)
        n_suggested = 0
        for kind in evidence.kinds:
            if isinstance(kind, SuggestedBySource):
                n_suggested += kind.suggest_candidates(texts).shape[1]
        return HeldOutCandidates(
            kinds=evidence.kinds,
            evidence_values=evidence.compute(candidates),
            ids=candidates.ids,
            hits=find_hits(candidates.ids, self.split.Y),
            positives=np.diff(self.split.Y.indptr),
            n_suggested=n_suggested,
        )


def fit_likelihood(ids: np.ndarray, scores: np.ndarray, hits: np.ndarray) -> tuple[float, float]:
    """Fit the slope and intercept of the log-odds of a label over its score alone.

    ``ids``, ``scores`` and ``hits``, whether a label is true, are (n, k).
    """
    # loading scikit-learn takes a second, which a second stage of few instances does not need
    from sklearn.linear_model import LogisticRegression

    exists = ids != NO_LABEL
    line = LogisticRegression().fit(scores[exists].reshape(-1, 1), hits[exists])
    return float(line.coef_[0, 0]), float(line.intercept_[0])
