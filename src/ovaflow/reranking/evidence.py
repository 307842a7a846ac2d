"""What the scores of a model do not know of its candidates: a row of numbers for each text and candidate."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.data.normalize import unit_rows
from ovaflow.reranking.candidates import MORE, Candidates, first_of, with_more
from ovaflow.reranking.cooccurrence import LabelCooccurrence
from ovaflow.reranking.names import WHOLE, LabelNames
from ovaflow.reranking.neighbours import Neighbours
from ovaflow.reranking.suggestions import NO_SCORE
from ovaflow.sparse.csr import CSR

GROUPS = {
    "score": ("score", "below the first", "below the fifth", "rank", "mean of the first five"),
    "frequency": ("frequency",),
    "similar texts": ("votes", "votes of all"),
    "name in the text": (
        "cosine of the name",
        "share of the name",
        "whole name",
        "length of the name",
        "place of the name",
        "spread of the name",
        "place of the phrase",
        "letters of the phrase",
    ),
    "other candidates": ("company",),
    "length of the text": ("known features",),
}
"""Columns by kind of evidence."""

COLUMNS = tuple(name for names in GROUPS.values() for name in names)


def columns_with(sources):
    """Names of all columns, with those of sources of suggestions."""
    return (*COLUMNS, *(column for source in sources for column in source.columns))


def groups_with(sources):
    """Columns by kind of evidence, with those of sources of suggestions."""
    return GROUPS | {source.group: source.columns for source in sources}


class StoredEvidence(NamedTuple):
    """What the file of a second stage has of its evidence."""

    texts: CSR
    labels: CSR
    names: CSR
    names_of_labels: np.ndarray
    phrases: np.ndarray
    letters: np.ndarray
    company: CSR
    likelihood: np.ndarray


@dataclass(frozen=True)
class CandidateEvidence:
    """All that rows of evidence are made from besides the scores of a model."""

    counts: np.ndarray  # (l,); training positives
    neighbours: Neighbours
    names: LabelNames
    company: LabelCooccurrence
    bias_feature: int  # -1 where there is none
    likelihood: list  # slope and intercept of the log-odds of a label over its score, for its company alone

    @classmethod
    def of(cls, dataset, likelihood):
        """Evidence from the training set of a dataset."""
        company = LabelCooccurrence.among(dataset.documents.train.Y)
        parts = Neighbours.among(dataset), LabelNames.of(dataset), company
        return cls(dataset.counts, *parts, dataset.bias_feature, likelihood)

    @classmethod
    def of_stored(cls, stored, model):
        """Evidence from the file of a model's second stage."""
        X, Y, *names, company, likelihood = stored
        parts = Neighbours.of(X, Y), LabelNames(*names), LabelCooccurrence(company)
        return cls(model.counts, *parts, model.bias_feature, likelihood)

    @property
    def stored(self):
        texts, names = self.neighbours, self.names
        names = names.features, names.indptr, names.phrases, names.letters
        return StoredEvidence(texts.X, texts.Y, *names, self.company.probabilities, np.array(self.likelihood))

    def candidates(self, X, ids, scores, threads=1, suggestions=()):
        """:class:`Candidates` of texts, of which the best labels by score are known."""
        texts = unit_rows(X, self.bias_feature)
        nearest = self.neighbours.nearest(texts, threads)
        lists = [self.neighbours.most_voted(nearest, MORE), *first_of(suggestions)]
        ids, scores = with_more(ids, scores, lists)
        return Candidates(texts, nearest, ids, scores, np.arange(ids.shape[1]))

    def columns(self, candidates, suggestions=()):
        """Rows of evidence for :class:`Candidates` (n, k): float32 (n, k, c), :data:`COLUMNS`.

        After these stand the columns of ``suggestions`` of other sources, in their order.
        """
        texts, nearest, ids, scores, ranks = candidates
        scores = np.where(np.isneginf(scores), NO_SCORE, scores).astype(np.float32)
        votes, votes_of_all = self.neighbours.votes(nearest, ids)
        names = self.names.overlap(texts, ids)
        fifth = min(4, ids.shape[1] - 1)
        columns = {
            "score": scores,
            "below the first": scores[:, :1] - scores,
            "below the fifth": scores[:, fifth : fifth + 1] - scores,
            "rank": ranks,
            "mean of the first five": scores[:, :5].mean(axis=1, keepdims=True),
            "frequency": np.log1p(self.counts[ids]),
            "votes": votes,
            "votes of all": votes_of_all[:, None],
            "cosine of the name": names.cosine,
            "share of the name": names.share,
            "whole name": names.share > WHOLE,
            "length of the name": names.length,
            "place of the name": names.place,
            "spread of the name": names.spread,
            "place of the phrase": names.phrase,
            "letters of the phrase": names.letters,
            "company": self.company.support(ids, self.likelihoods(scores)),
            "known features": np.diff(texts.indptr)[:, None],
        }
        rows = np.empty((*ids.shape, len(COLUMNS)), np.float32)
        for number, name in enumerate(COLUMNS):
            rows[:, :, number] = columns[name]
        return np.concatenate([rows, *(each.columns(ids) for each in suggestions)], axis=2)

    def likelihoods(self, scores):
        """Probabilities of labels by their scores alone, which weigh their company: float32."""
        slope, intercept = self.likelihood
        return scipy.special.expit(slope * scores + intercept).astype(np.float32)
