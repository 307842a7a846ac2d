"""A model of any method whose candidates a second stage ranks: its scores are probabilities."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ovaflow.model.model_file import Model, ModelFile
from ovaflow.model.top_k import NO_LABEL, keep_first_allowed
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


@dataclass(frozen=True)
class RerankedModel(Model):
    """A model with its second stage."""

    first_stage: Model
    reranker: Reranker
    probabilistic = True

    @classmethod
    def of(cls, model, reranker):
        """Join a model and a second stage that belongs to it."""
        common = {field.name: getattr(model, field.name) for field in fields(ModelFile)}
        return cls(**common, first_stage=model, reranker=reranker)

    @property
    def n_features(self):
        return self.first_stage.n_features

    @property
    def nonzeros(self):
        return self.first_stage.nonzeros

    @property
    def n_columns(self):
        return self.n_features + self.reranker.evidence.n_features

    def instances(self, split):
        return self.with_tokens(self.first_stage.instances(split), split.tokens)

    def with_tokens(self, X, tokens):
        return self.reranker.evidence.with_own_features(X, tokens)

    def prepare(self) -> None:
        self.first_stage.prepare()
        self._load_kernels()

    def prepare_for_single(self) -> None:
        self.first_stage.prepare_for_single()
        self._load_kernels()

    def top_k(self, X, k, threads=1, quiet=True, allowed=None, suggestions=None):
        """``suggestions`` of files by name; without some for a text, the rest is the evidence.

        Labels that are not allowed are evidence of the others, which have the same probabilities
        as without a choice.
        """
        ranking = self.ranking(X, k, threads, quiet, suggestions, allowed)
        if allowed is None:
            return ranking.ids[:, :k], ranking.probabilities[:, :k]
        return keep_first_allowed(ranking.ids, ranking.probabilities, allowed, k)

    def ranking(self, X, k, threads=1, quiet=True, suggestions=None, allowed=None):
        """All candidates, or k if that is more; with ``allowed`` labels also the best of these.

        ``suggestions`` as for :meth:`top_k`.
        """
        texts = self._look_up(X, threads, suggestions)
        most = max(k, N_CANDIDATES)
        if allowed is None:
            return self._rank(texts, self.first_stage.top_k(texts.features, most, threads, quiet))
        best = self.first_stage.top_k(texts.features, N_CANDIDATES, threads, quiet)
        best_allowed = self.first_stage.top_k(texts.features, most, threads, quiet, allowed)
        return self._rank(texts, best, best_allowed)

    def features_of_first_stage(self, X):
        """Return the instances of this model as the first stage takes them."""
        features, _ = self.reranker.evidence.split_features(X)
        return features

    def score(self, X, labels):
        """Scores of the first stage for chosen labels."""
        return self.first_stage.score(self.features_of_first_stage(X), labels)

    @property
    def linear(self):
        return self.first_stage.linear

    @property
    def why_unexplainable(self):
        return self.first_stage.why_unexplainable

    def _look_up(self, X, threads, suggestions):
        """Find in texts what does not depend on candidates; a file that is not given says nothing."""
        given = suggestions or {}
        suggested = {
            name: given.get(name) or Suggestions.make_empty(X.n_rows)
            for name in self.reranker.files
        }
        return self.reranker.evidence.texts(X, self.first_stage, threads, suggested)

    def _rank(self, texts, best, more=None):
        """Rank candidates of texts: the ``best`` labels by score, and perhaps ``more``, with their
        scores.
        """
        evidence = self.reranker.evidence
        candidates = evidence.candidates(texts, *best)
        if more is not None:
            candidates = candidates.add_scored_candidates(*more)
        complete = find_covered_texts(texts.suggestions.values(), texts.words.n_rows)
        probabilities, order = self.reranker.rank(
            evidence.compute(candidates), candidates.ids, complete
        )
        ranked = np.take_along_axis(candidates.ids, order, axis=1)
        probabilities[ranked == NO_LABEL] = -np.inf
        return Ranking(ranked, probabilities, *best)

    def _load_kernels(self) -> None:
        row = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), self.n_columns)
        nothing = Suggestions.make_empty(1)._replace(known=np.ones(1, bool))
        texts = self._look_up(row, 1, dict.fromkeys(self.reranker.files, nothing))
        first = np.zeros((1, 1), np.int32)
        self._rank(texts, (first, first.astype(np.float32)))
