"""What the scores of a model do not know of its candidates: a row of numbers for each text and candidate."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.features.normalize import unit_rows
from ovaflow.model.index import IndexPanel
from ovaflow.reranking.candidates import MORE, Candidates, first_of, with_more
from ovaflow.reranking.cooccurrence import LabelCooccurrence
from ovaflow.reranking.name_pieces import NamePieces, StoredPieces
from ovaflow.reranking.names import WHOLE, LabelNames
from ovaflow.reranking.neighbours import Neighbours
from ovaflow.reranking.suggestions import NO_SCORE
from ovaflow.sparse.csr import CSR, beside, columns_of

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

PIECES, BEGINNING = "pieces of the name", "first words"
FURTHER = {
    PIECES: (
        "cosine of pieces",
        "share of pieces",
        "all pieces",
        "number of pieces",
        "place of pieces",
        "spread of pieces",
    ),
    BEGINNING: ("score of the first words", "rank by the first words"),
}
"""Columns by kind of evidence that is weighed where held-out texts are ranked better with it."""


def groups_with(further, sources=()):
    """Columns by kind of evidence, with further kinds and those of sources of suggestions."""
    groups = GROUPS | {kind: FURTHER[kind] for kind in further}
    return groups | {source.group: source.columns for source in sources}


def columns_with(further, sources=()):
    """Names of all columns, as in :func:`groups_with`."""
    return tuple(column for columns in groups_with(further, sources).values() for column in columns)


COLUMNS = columns_with(())
"""Those that are always there."""


class StoredEvidence(NamedTuple):
    """What the file of a second stage has of its evidence."""

    labels: CSR
    names: CSR
    names_of_labels: np.ndarray
    phrases: np.ndarray
    letters: np.ndarray
    company: CSR
    likelihood: np.ndarray
    pieces: StoredPieces | None = None
    panels: list[IndexPanel] | None = None  # never None


def _columns_of_pieces(overlap):
    parts = overlap.cosine, overlap.share, overlap.share > WHOLE, overlap.length, overlap.place, overlap.spread
    return dict(zip(FURTHER[PIECES], parts, strict=True))


@dataclass(frozen=True)
class CandidateEvidence:
    """All that rows of evidence are made from besides the scores of a model."""

    counts: np.ndarray  # (l,); training positives
    neighbours: Neighbours
    names: LabelNames
    company: LabelCooccurrence
    n_word_features: int  # the first ones
    likelihood: list  # slope and intercept of the log-odds of a label over its score, for its company alone
    pieces: NamePieces | None = None
    scores_first_words: bool = False

    @classmethod
    def of(cls, dataset, likelihood, pieces=None, scores_first_words=False):
        """Evidence from the training set of a dataset, with pieces of its names, and of the first words."""
        company = LabelCooccurrence.among(dataset.documents.train.Y)
        parts = Neighbours.among(dataset), LabelNames.of(dataset), company
        return cls(dataset.counts, *parts, dataset.n_word_features, likelihood, pieces, scores_first_words)

    @classmethod
    def of_stored(cls, stored, model, further):
        """Evidence from the file of a model's second stage."""
        neighbours = Neighbours(stored.labels, stored.panels)
        names = LabelNames(stored.names, stored.names_of_labels, stored.phrases, stored.letters)
        parts = neighbours, names, LabelCooccurrence(stored.company)
        pieces = stored.pieces and NamePieces.of_stored(stored.pieces, model.transform)
        return cls(model.counts, *parts, model.n_word_features, stored.likelihood, pieces, BEGINNING in further)

    @property
    def stored(self):
        texts, names = self.neighbours, self.names
        names = names.features, names.indptr, names.phrases, names.letters
        likelihood, pieces = np.array(self.likelihood), self.pieces and self.pieces.stored
        company = self.company.probabilities
        return StoredEvidence(texts.Y, *names, company, likelihood, pieces, texts.panels)

    @property
    def further(self):
        """Which further kinds of evidence there are."""
        return [kind for kind, there in ((PIECES, self.pieces), (BEGINNING, self.scores_first_words)) if there]

    def with_pieces(self, X, tokens):
        """Features of texts, and after them the pieces of names that their tokens have, if these are evidence."""
        return X if self.pieces is None else beside(X, self.pieces.of_texts(tokens))

    def parts(self, X):
        """Features of texts, and pieces of names, None where these are no evidence."""
        if self.pieces is None:
            return X, None
        d = X.n_columns - self.pieces.n_columns
        return columns_of(X, 0, d), columns_of(X, d, X.n_columns)

    def candidates(self, X, ids, scores, threads=1, suggestions=()):
        """:class:`Candidates` of texts, of which the best labels by score are known."""
        features, pieces = self.parts(X)
        texts = unit_rows(features, self.n_word_features)
        nearest = self.neighbours.nearest(texts, threads)
        lists = [self.neighbours.most_voted(nearest, MORE), *first_of(suggestions)]
        ids, scores = with_more(ids, scores, lists)
        return Candidates(texts, pieces, nearest, ids, scores, np.arange(ids.shape[1]))

    def columns(self, candidates, of_first_words=None, suggestions=()):
        """Rows of evidence for :class:`Candidates` (n, k): float32 (n, k, c), as :func:`columns_with` names them.

        ``of_first_words``: its columns where it is evidence; ``suggestions`` of other sources.
        """
        texts, pieces, nearest, ids, scores, ranks = candidates
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
        if pieces is not None:
            columns |= _columns_of_pieces(self.pieces.names.overlap(pieces, ids))
        rows = np.empty((*ids.shape, len(columns)), np.float32)
        for number, column in enumerate(columns.values()):
            rows[:, :, number] = column
        beginning = [] if of_first_words is None else [of_first_words]
        return np.concatenate([rows, *beginning, *(each.columns(ids) for each in suggestions)], axis=2)

    def likelihoods(self, scores):
        """Probabilities of labels by their scores alone, which weigh their company: float32."""
        slope, intercept = self.likelihood
        return scipy.special.expit(slope * scores + intercept).astype(np.float32)
