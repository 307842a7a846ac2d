"""A model of any method whose candidates a second stage ranks: its scores are probabilities."""

from dataclasses import dataclass, fields
from functools import partial
from typing import NamedTuple

import numpy as np

from ovaflow.model.model_file import Model, ModelFile
from ovaflow.model.top_k import NO_LABEL, first_allowed
from ovaflow.reranking.first_words import columns_of_first_words
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import Suggestions, known_to_all
from ovaflow.settings.predict import CANDIDATES
from ovaflow.sparse.csr import CSR
from ovaflow.storage.artifact import MayBeInfinite


class Ranking(NamedTuple):
    """Candidates of each instance (n, k), by probability and by score; -1 where there are fewer than k."""

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
        pieces = self.reranker.evidence.pieces
        return self.n_features + (0 if pieces is None else pieces.n_columns)

    def instances(self, split):
        return self.with_tokens(self.first_stage.instances(split), split.tokens)

    def with_tokens(self, X, tokens):
        return self.reranker.evidence.with_pieces(X, tokens)

    def prepare(self):
        self.first_stage.prepare()
        self._load_kernels()

    def prepare_for_single(self):
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
        return first_allowed(ranking.ids, ranking.probabilities, allowed, k)

    def ranking(self, X, k, threads=1, quiet=True, suggestions=None, allowed=None):
        """All candidates, or k if that is more; with ``allowed`` labels also the best of these.

        ``suggestions`` as for :meth:`top_k`.
        """
        features = self.features_of_first_stage(X)
        find, most = partial(self.first_stage.top_k, features), max(k, CANDIDATES)
        found = find(most if allowed is None else CANDIDATES, threads, quiet)
        more = None if allowed is None else find(most, threads, quiet, allowed)
        return self._rank(X, features, *found, threads, self._suggested(X.n_rows, suggestions), more)

    def of_first_words(self, features, ids, threads=1):
        """What the first stage says of candidates by the first words of texts; None where that is no evidence."""
        if not self.reranker.evidence.scores_first_words:
            return None
        return columns_of_first_words(self.first_stage, features, ids, threads)

    def features_of_first_stage(self, X):
        """Return the instances of this model as the first stage takes them."""
        features, _ = self.reranker.evidence.parts(X)
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

    def _suggested(self, n, suggestions):
        """Return the suggestions of each file for n texts; none of those that are not given."""
        given = suggestions or {}
        return [given.get(name) or Suggestions.of_none(n) for name in self.reranker.files]

    def _rank(self, X, features, ids, scores, threads, suggested, more=None):
        """Candidates of texts, of which the best by score are known, and perhaps ``more``.

        ``features``: the texts as the first stage takes them.
        """
        evidence = self.reranker.evidence
        candidates = evidence.candidates(X, ids, scores, threads, suggested)
        if more is not None:
            candidates = candidates.with_scored(*more)
        of_first_words = self.of_first_words(features, candidates.ids, threads)
        columns = evidence.columns(candidates, of_first_words, suggested)
        complete = known_to_all(suggested, len(ids))
        probabilities, order = self.reranker.rank(columns, candidates.ids, complete)
        ranked = np.take_along_axis(candidates.ids, order, axis=1)
        probabilities[ranked == NO_LABEL] = -np.inf
        return Ranking(ranked, probabilities, ids, scores)

    def _load_kernels(self):
        row = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), self.n_columns)
        nothing = Suggestions.of_none(1)._replace(known=np.ones(1, bool))
        suggested = [nothing] * len(self.reranker.sources)
        features, first = self.features_of_first_stage(row), np.zeros((1, 1), np.int32)
        self._rank(row, features, first, first.astype(np.float32), 1, suggested)
