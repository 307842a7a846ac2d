"""Labels of texts that are probably wrong or missing, by a model that has not seen these texts.

A given label is doubtful where it fits its text no better than one drawn at random. Trees tell
given labels from labels drawn by frequency, each in the place of a given one, by the evidence of
the second stage and by the other labels of the text. Both kinds hold as many rare labels: what
nobody can predict is not doubtful for it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.model.ranked_labels import find_hits
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import fit_trees
from ovaflow.reranking.candidates import Candidates, append_candidates
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.kind import EvidenceTraining
from ovaflow.reranking.evidence.kinds import KINDS, with_optional
from ovaflow.reranking.evidence.other_candidates import OtherCandidates
from ovaflow.reranking.evidence.similar_texts import SimilarTexts
from ovaflow.reranking.held_out_texts import MIN_HELD_OUT_TEXTS, fit_likelihood
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import CSR, offsets, select_rows

DRAWN_PER_LABEL = 3
"""Labels drawn in the place of each given one."""

MIN_MISSING_PROBABILITY = 0.5
"""Least probability of a missing label."""

MAX_TEXTS_PER_BLOCK = 5000
"""Texts looked at together; the trees of probabilities are fitted to the first of them."""


class Doubts(NamedTuple):
    """All given labels of some training instances, and labels that are likely missing: (m,) each."""

    rows: np.ndarray  # numbers of the training instances
    labels: np.ndarray
    probabilities: np.ndarray  # 0 where a label is no candidate
    neighbour_counts: np.ndarray  # how many of the nearest training texts have the label
    lifts: np.ndarray  # how many times as likely as labels drawn by frequency; nan where not given

    def take(self, chosen):
        return Doubts(*(array[chosen] for array in self))

    @property
    def given(self):
        return ~np.isnan(self.lifts)

    def worst_first(self):
        """Given labels that are less likely than drawn ones, and missing ones, by turns."""
        wrong = np.flatnonzero(self.lifts < 1)
        missing = np.flatnonzero(~self.given)
        wrong = wrong[np.argsort(self.lifts[wrong], kind="stable")]
        missing = missing[np.argsort(-self.probabilities[missing], kind="stable")]
        turns = np.concatenate([np.arange(len(wrong)), np.arange(len(missing)) + 0.5])
        return self.take(np.concatenate([wrong, missing])[np.argsort(turns)])


NO_DOUBTS = Doubts(*np.empty((5, 0), int))


def join_doubts(parts):
    """Doubts about several parts of a dataset."""
    return Doubts(*map(np.concatenate, zip(*parts, strict=True)))


def find_doubts(dataset, rows, others, model, threads=1):
    """Doubts about training instances of a dataset, by a model of ``others``, the dataset without
    them.

    There are none about fewer instances than :data:`FEWEST`.
    """
    n = len(rows)
    if n < MIN_HELD_OUT_TEXTS:
        return NO_DOUBTS
    split = dataset.train.take(rows)
    best = model.top_k(model.instances(split), N_CANDIDATES, threads, quiet=False)
    n_blocks = -(-n // MAX_TEXTS_PER_BLOCK)
    blocks = [np.arange(first, n, n_blocks) for first in range(n_blocks)]
    ids, scores = (array[blocks[0]] for array in best)
    hits = find_hits(ids, select_rows(split.Y, blocks[0]))
    if len(np.unique(hits[ids != NO_LABEL])) < 2:
        return NO_DOUBTS
    training = EvidenceTraining(others, others, fit_likelihood(ids, scores, hits))
    evidence = CandidateEvidence.fit(training, with_optional(KINDS, []))
    drawing = np.random.default_rng(0)
    trees = None
    given = []
    missing = []
    pairs = []
    for block in blocks:
        ids, scores = (array[block] for array in best)
        candidates = evidence.candidates(
            evidence.texts(select_rows(split.X, block), None, threads), ids, scores
        )
        texts = _Texts(rows[block], select_rows(split.Y, block), candidates, evidence)
        if trees is None:
            known = candidates.ids != NO_LABEL
            trees = fit_trees(texts.columns[known], texts.hits[known], threads)
        probabilities = trees.probabilities(texts.columns, texts.candidates.ids)
        missing.append(texts.missing(probabilities))
        given.append(texts.given(probabilities))
        pairs.append(texts.pairs(split.Y.indices, drawing))
    lifts = _lifts(_joined_pairs(pairs), threads)
    return join_doubts([join_doubts(given)._replace(lifts=lifts), *missing])


class _Pairs(NamedTuple):
    """Texts with a label that they have, or with one drawn by frequency in its place."""

    columns: np.ndarray  # float32 (m, c); evidence that they belong together
    given: np.ndarray  # bool (m,)
    rows: np.ndarray  # training instances


def _joined_pairs(parts):
    return _Pairs(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.given for part in parts]),
        np.concatenate([part.rows for part in parts]),
    )


@dataclass(frozen=True)
class _Texts:
    """Some training instances with their labels and candidates."""

    rows: np.ndarray
    Y: CSR
    candidates: Candidates
    evidence: CandidateEvidence

    @cached_property
    def columns(self):
        return self.evidence.compute(self.candidates)

    @cached_property
    def hits(self):
        return find_hits(self.candidates.ids, self.Y)

    @cached_property
    def owners(self):
        """The text of each given label."""
        return np.repeat(np.arange(self.Y.n_rows), np.diff(self.Y.indptr))

    def missing(self, probabilities):
        """Doubts about candidates that are likely and not given."""
        texts, places = np.nonzero((probabilities >= MIN_MISSING_PROBABILITY) & ~self.hits)
        return self._doubts(texts, self.candidates.ids[texts, places], probabilities[texts, places])

    def given(self, probabilities):
        """Doubts about all given labels, still without lifts."""
        equal = self.candidates.ids[self.owners] == self.Y.indices[:, None]
        of_labels = np.max(probabilities[self.owners] * equal, axis=1)
        return self._doubts(self.owners, self.Y.indices, of_labels)

    def _doubts(self, texts, labels, probabilities):
        similar = self.evidence.get(SimilarTexts)
        nearest, cosines = self.candidates.texts.found[similar.name]
        near = (nearest >= 0) & (cosines > 0)
        ends = offsets(near.sum(axis=1))
        shape = (len(near), similar.labels.n_rows)
        chosen = scipy.sparse.csr_array((np.ones(ends[-1]), nearest[near], ends), shape=shape)
        neighbour_counts = _entries(chosen @ similar.labels.to_scipy(), texts, labels)
        lifts = np.full(len(texts), np.nan)
        return Doubts(self.rows[texts], labels, probabilities, neighbour_counts.astype(int), lifts)

    def pairs(self, frequent, drawing):
        """Given labels as :class:`_Pairs`, then others, drawn from ``frequent``."""
        texts = np.repeat(self.owners, DRAWN_PER_LABEL)
        replaced = np.repeat(self.Y.indices, DRAWN_PER_LABEL)
        drawn = drawing.choice(frequent, len(texts))
        new = _entries(self.Y.to_scipy(), texts, drawn) == 0
        texts = np.concatenate([self.owners, texts[new]])
        left_out = np.concatenate([self.Y.indices, replaced[new]])
        labels = np.concatenate([self.Y.indices, drawn[new]])
        given = np.arange(len(texts)) < len(self.owners)
        columns = np.column_stack(
            [self._evidence(texts, labels), self._support(texts, labels, left_out)]
        )
        return _Pairs(columns.astype(np.float32), given, self.rows[texts])

    def _evidence(self, texts, labels):
        """Rows of evidence for a label of each of ``texts``."""
        candidates = self.candidates
        lists = [_lists(texts, labels, self.Y.n_rows)]
        ids, scores = append_candidates(candidates.ids, candidates.scores, lists)
        # the order in which labels were added means nothing
        ranks = np.minimum(np.arange(ids.shape[1]), N_CANDIDATES)
        columns = self.evidence.compute(Candidates(candidates.texts, ids, scores, ranks))
        places = (ids[texts] == labels[:, None]).argmax(axis=1)
        return columns[texts, places]

    def _support(self, texts, labels, left_out):
        """sum of P(j | i) over the labels i of a text without one, for a label j of each of
        ``texts``.
        """
        together = self.evidence.get(OtherCandidates).company.to_scipy()
        support = _entries(self.Y.to_scipy() @ together, texts, labels)
        return support - _entries(together, left_out, labels)


def _lists(texts, labels, n):
    """The labels of each of n texts: int32 (n, k), -1 where it has fewer."""
    order = np.argsort(texts, kind="stable")
    texts = texts[order]
    amounts = np.bincount(texts, minlength=n)
    lists = np.full((n, amounts.max(initial=0)), NO_LABEL, np.int32)
    lists[texts, np.arange(len(texts)) - offsets(amounts)[texts]] = labels[order]
    return lists


def _entries(matrix, rows, columns):
    """Entries of a sparse matrix at some places (m,)."""
    return matrix[rows[:, None], columns[:, None]].toarray()[:, 0]


def _lifts(pairs, threads):
    """Odds of given labels against drawn ones, by trees that have not seen the texts."""
    odd = pairs.rows % 2 == 1
    lifts = np.ones(len(pairs.rows))
    for half in (odd, ~odd):
        trees = fit_trees(pairs.columns[half], pairs.given[half], threads)
        share = pairs.given[half].mean()
        lifts[~half] = np.exp(trees.log_odds(pairs.columns[~half])) * (1 - share) / share
    return lifts[pairs.given]
