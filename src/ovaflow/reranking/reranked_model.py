"""A model of any method whose candidates a second stage ranks: its scores are probabilities."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple, Self, TypeGuard

import numpy as np

from ovaflow.dataset.dataset import Split
from ovaflow.features.tokens import Tokens
from ovaflow.model.model_file import LinearScores, Model, ModelFile
from ovaflow.model.top_k import NO_LABEL, keep_first_allowed
from ovaflow.reranking.candidates import Candidates, PreparedTexts
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import Suggestions, find_covered_texts
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import CSR
from ovaflow.storage.artifact import MayBeInfinite


class Ranking(NamedTuple):
    """Candidates of each instance (n, k), by probability and by score; -1 where there are fewer
    than k.
    """

    ids: np.ndarray
    probabilities: MayBeInfinite  # float32; -inf where there is no candidate
    first_ids: np.ndarray
    scores: MayBeInfinite


BestLabels = tuple[np.ndarray, np.ndarray]
"""Best labels of each instance: ids int32, and scores or probabilities float32 (n, k)."""


@dataclass(frozen=True)
class RerankedModel(Model):
    """A model with its second stage."""

    first_stage: Model
    reranker: Reranker
    probabilistic = True

    @classmethod
    def join(cls, model: Model, reranker: Reranker) -> Self:
        """Join a model and a second stage that belongs to it."""
        common = {field.name: getattr(model, field.name) for field in fields(ModelFile)}
        return cls(**common, first_stage=model, reranker=reranker)

    @property
    def evidence(self) -> CandidateEvidence:
        """Evidence that the second stage reads."""
        assert self.reranker.evidence is not None
        return self.reranker.evidence

    @property
    def n_features(self) -> int:
        return self.first_stage.n_features

    @property
    def nonzeros(self) -> int:
        return self.first_stage.nonzeros

    @property
    def n_columns(self) -> int:
        return self.n_features + self.evidence.n_features

    def instances(self, split: Split) -> CSR:
        return self.with_tokens(self.first_stage.instances(split), split.tokens)

    def with_tokens(self, X: CSR, tokens: Tokens | None) -> CSR:
        return self.evidence.with_own_features(X, tokens)

    def knows_word(self, word: str) -> bool:
        return self.evidence.knows_word(word)

    def prepare(self) -> None:
        self.first_stage.prepare()
        self._load_kernels()

    def prepare_for_single(self) -> None:
        self.first_stage.prepare_for_single()
        self._load_kernels()

    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        allowed: np.ndarray | None = None,
        suggestions: Mapping[str, Suggestions] | None = None,
    ) -> BestLabels:
        """Find the k most probable labels of each instance: ids int32 and probabilities float32.

        Labels that are not allowed are evidence of the others, which have the same probabilities
        as without a choice. ``suggestions`` are those of each source by its name; texts without
        them are ranked by the other evidence.
        """
        ranking = self.rank(X, k, threads, quiet=quiet, suggestions=suggestions, allowed=allowed)
        if allowed is None:
            return ranking.ids[:, :k], ranking.probabilities[:, :k]
        return keep_first_allowed(ranking.ids, ranking.probabilities, allowed, k)

    def rank(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        suggestions: Mapping[str, Suggestions] | None = None,
        allowed: np.ndarray | None = None,
    ) -> Ranking:
        """Rank all candidates, or k if that is more; with ``allowed`` labels also the best of
        these.

        ``suggestions`` as for :meth:`top_k`.
        """
        candidates, (best_ids, best_scores) = self.find_candidates(
            X, k, threads, quiet=quiet, suggestions=suggestions, allowed=allowed
        )
        ids, probabilities = self.rank_candidates(candidates)
        return Ranking(ids, probabilities, best_ids, best_scores)

    def find_candidates(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        suggestions: Mapping[str, Suggestions] | None = None,
        allowed: np.ndarray | None = None,
    ) -> tuple[Candidates, BestLabels]:
        """Find the candidates of each instance, and the best labels by score, which are the first.

        Parameters are those of :meth:`rank`.
        """
        texts = self._look_up(X, threads, suggestions)
        most = max(k, N_CANDIDATES)
        if allowed is None:
            ids, scores = self.first_stage.top_k(texts.features, most, threads, quiet=quiet)
            return self.evidence.find_candidates(texts, ids, scores), (ids, scores)
        ids, scores = self.first_stage.top_k(texts.features, N_CANDIDATES, threads, quiet=quiet)
        candidates = self.evidence.find_candidates(texts, ids, scores)
        allowed_ids, allowed_scores = self.first_stage.top_k(
            texts.features, most, threads, quiet=quiet, allowed=allowed
        )
        return candidates.add_scored_candidates(allowed_ids, allowed_scores), (ids, scores)

    def rank_candidates(self, candidates: Candidates) -> BestLabels:
        """Rank candidates by probability: ids int32 and probabilities float32 (n, k)."""
        texts = candidates.texts
        complete = find_covered_texts(texts.suggestions.values(), texts.text_features.n_rows)
        probabilities, order = self.reranker.rank(
            self.evidence.compute(candidates), candidates.ids, complete
        )
        ids = np.take_along_axis(candidates.ids, order, axis=1)
        probabilities[ids == NO_LABEL] = -np.inf
        return ids, probabilities

    def select_first_stage_features(self, X: CSR) -> CSR:
        """Return the instances of this model as the first stage takes them."""
        features, _ = self.evidence.split_features(X)
        return features

    def score(self, X: CSR, labels: np.ndarray) -> np.ndarray:
        """Compute the scores of the first stage for chosen labels: float32 (n, m)."""
        return self.first_stage.score(self.select_first_stage_features(X), labels)

    @property
    def linear(self) -> LinearScores | None:
        return self.first_stage.linear

    @property
    def why_unexplainable(self) -> str:  # type: ignore[override]
        return self.first_stage.why_unexplainable

    def _look_up(
        self, X: CSR, threads: int, suggestions: Mapping[str, Suggestions] | None
    ) -> PreparedTexts:
        """Look up what does not depend on candidates; a source that is not given is empty."""
        given = suggestions or {}
        of_sources = {}
        for name in self.reranker.files:
            of_sources[name] = given.get(name) or Suggestions.make_empty(X.n_rows)
        return self.evidence.prepare_texts(X, self.first_stage, threads, of_sources)

    def _load_kernels(self) -> None:
        """Load or compile the kernels by ranking a text of one feature."""
        row = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), self.n_columns)
        empty = Suggestions.make_empty(1)._replace(known=np.ones(1, bool))
        texts = self._look_up(row, 1, dict.fromkeys(self.reranker.files, empty))
        first = np.zeros((1, 1), np.int32)
        self.rank_candidates(self.evidence.find_candidates(texts, first, first.astype(np.float32)))


def has_second_stage(model: Model) -> TypeGuard[RerankedModel]:
    """Return True if a model gives probabilities, by its second stage."""
    return model.probabilistic
