"""A model of any method whose candidates a second stage ranks: its scores are probabilities."""

from dataclasses import dataclass, fields
from functools import partial
from typing import NamedTuple

import numpy as np

from ovaflow.data.normalize import rescaled
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
    """A model with its second stage.

    If one of the models takes features before they were scaled to length 1, it takes these.
    """

    first_stage: Model
    reranker: Reranker
    others: tuple = ()  # models of the runs whose suggestions are evidence
    probabilistic = True

    @classmethod
    def of(cls, model, reranker, others=()):
        """The model, a second stage that belongs to it, and the models of its runs."""
        common = {field.name: getattr(model, field.name) for field in fields(ModelFile)}
        if any(model.takes_unscaled for model in others):
            transform = model.transform | {"unscaled": True}
            common["parameters"] = model.parameters | {"transform": transform}
        return cls(**common, first_stage=model, reranker=reranker, others=others)

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
        X = split.unscaled(self.bias) if self.takes_unscaled else self.first_stage.instances(split)
        return self.with_tokens(X, split.tokens)

    def with_tokens(self, X, tokens):
        return self.reranker.evidence.with_pieces(X, tokens)

    def prepare(self):
        for model in (self.first_stage, *self.others):
            model.prepare()
        self._load_kernels()

    def prepare_for_single(self):
        for model in (self.first_stage, *self.others):
            model.prepare_for_single()
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
        features = self.features_for(self.first_stage, X)
        find, most = partial(self.first_stage.top_k, features), max(k, CANDIDATES)
        found = find(most if allowed is None else CANDIDATES, threads, quiet)
        more = None if allowed is None else find(most, threads, quiet, allowed)
        return self._rank(X, features, *found, threads, self.suggestions_for(X, threads, suggestions), more)

    def of_first_words(self, features, ids, threads=1):
        """What the first stage says of candidates by the first words of texts; None where that is no evidence."""
        if not self.reranker.evidence.scores_first_words:
            return None
        return columns_of_first_words(self.first_stage, features, ids, threads)

    def suggestions_for(self, X, threads=1, suggestions=None):
        """What each source suggests."""
        suggested = []
        for model in self.others:
            found = model.top_k(self.features_for(model, X), CANDIDATES, threads)
            suggested.append(Suggestions.of_model(*found))
        for name in self.reranker.files:
            suggested.append((suggestions or {}).get(name) or Suggestions.of_none(X.n_rows))
        return suggested

    def features_for(self, model, X):
        """Instances of this model as one of its models takes them."""
        X, _ = self.reranker.evidence.parts(X)
        if self.takes_unscaled and not model.takes_unscaled:
            return rescaled(X, self.n_word_features, self.bias_feature)
        return X

    def score(self, X, labels):
        """Scores of the first stage for chosen labels."""
        return self.first_stage.score(self.features_for(self.first_stage, X), labels)

    @property
    def linear(self):
        return self.first_stage.linear

    @property
    def why_unexplainable(self):
        return self.first_stage.why_unexplainable

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
        features, first = self.features_for(self.first_stage, row), np.zeros((1, 1), np.int32)
        self._rank(row, features, first, first.astype(np.float32), 1, suggested)
