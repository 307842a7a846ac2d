"""A model of any method whose candidates a second stage ranks: its scores are probabilities."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ovaflow.model.model_file import Model, ModelFile
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import rank
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.settings.models import CANDIDATES
from ovaflow.sparse.csr import CSR


class Ranking(NamedTuple):
    """Candidates of each instance (n, k), by probability and by score; -1 where there are fewer than k."""

    ids: np.ndarray
    probabilities: np.ndarray  # float32; -inf where there is no candidate
    first_ids: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class RerankedModel(Model):
    """A model with its second stage."""

    first_stage: Model
    reranker: Reranker
    probabilistic = True

    @classmethod
    def of(cls, model, reranker):
        """The model and a second stage that belongs to it."""
        common = {field.name: getattr(model, field.name) for field in fields(ModelFile)}
        return cls(**common, first_stage=model, reranker=reranker)

    @property
    def n_features(self):
        return self.first_stage.n_features

    @property
    def nonzeros(self):
        return self.first_stage.nonzeros

    def instances(self, split):
        return self.first_stage.instances(split)

    def prepare(self):
        self.first_stage.prepare()
        self._load_kernels()

    def top_k(self, X, k, threads=1, quiet=True):
        return _first(self.ranking(X, k, threads, quiet), k)

    def ranking(self, X, k, threads=1, quiet=True):
        """All candidates, or k if that is more."""
        return self._rank(X, *self.first_stage.top_k(X, max(k, CANDIDATES), threads, quiet), threads)

    def score(self, X, labels):
        """Scores of the first stage for chosen labels."""
        return self.first_stage.score(X, labels)

    def for_many_calls(self):
        return _Search(self)

    @property
    def nonlinear(self):
        return self.first_stage.nonlinear

    def label_weights(self, label, features):
        return self.first_stage.label_weights(label, features)

    def constant(self, label):
        return self.first_stage.constant(label)

    def cosines(self, label):
        return self.first_stage.cosines(label)

    def _rank(self, X, ids, scores, threads):
        columns = self.reranker.evidence.columns(X, ids, scores, threads)
        probabilities, order = rank(self.reranker.trees, columns, ids)
        ranked = np.take_along_axis(ids, order, axis=1)
        probabilities[ranked == NO_LABEL] = -np.inf
        return Ranking(ranked, probabilities, ids, scores)

    def _load_kernels(self):
        row = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), self.n_features)
        self._rank(row, np.zeros((1, 1), np.int32), np.zeros((1, 1), np.float32), 1)


def _first(ranking, k):
    return ranking.ids[:, :k], ranking.probabilities[:, :k]


class _Search:
    """A model that is asked again and again."""

    def __init__(self, model):
        self._model, self._first_stage = model, model.first_stage.for_many_calls()

    def prepare(self):
        self._first_stage.prepare()
        self._model._load_kernels()

    def top_k(self, X, k, threads=1):
        ids, scores = self._first_stage.top_k(X, max(k, CANDIDATES), threads)
        return _first(self._model._rank(X, ids, scores, threads), k)
