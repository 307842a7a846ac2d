"""Labels of texts that are probably wrong or missing, by a model that has not seen these texts.

A given label is doubtful where it fits its text no better than one drawn at random. Trees tell
given labels from labels drawn by frequency, each in the place of a given one, by the evidence of
the second stage and by the other labels of the text. Both groups have equally many rare labels, so
a label is not doubtful only because it cannot be predicted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.model.model_file import Model
from ovaflow.model.ranked_labels import find_hits
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import BoostedTrees, fit_trees
from ovaflow.reranking.candidates import Candidates, append_candidates
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.kind import EvidenceTraining
from ovaflow.reranking.evidence.kinds import KINDS, select_kinds
from ovaflow.reranking.evidence.other_candidates import OtherCandidates
from ovaflow.reranking.evidence.similar_texts import SimilarTexts
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.reranking.held_out_texts import MIN_HELD_OUT_TEXTS, fit_likelihood
from ovaflow.reranking.sampled_candidates import sample_candidates
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import CSR, offsets, select_rows

DRAWN_PER_LABEL = 3
"""Number of labels drawn in the place of each given one."""

LIFT_TREES = 100
"""Number of trees that tell given labels from drawn ones: 250 find no more planted labels."""

MIN_MISSING_PROBABILITY = 0.5
"""Least probability of a missing label."""

MAX_TEXTS_PER_BLOCK = 5000
"""Most texts whose evidence is in memory together; trees that give probabilities are fitted to the
first block.
"""


class Doubts(NamedTuple):
    """Given labels of some training instances, and labels that are likely missing: (m,) each."""

    rows: np.ndarray  # numbers of the training instances
    labels: np.ndarray
    probabilities: np.ndarray  # 0 where a label is no candidate
    neighbour_counts: np.ndarray  # number of the nearest training texts that have the label
    # how many times as likely a given label is as labels drawn by frequency; nan where not given
    lifts: np.ndarray

    def take(self, chosen: np.ndarray) -> "Doubts":
        """Select some of the labels, by their positions or a mask."""
        return Doubts(
            rows=self.rows[chosen],
            labels=self.labels[chosen],
            probabilities=self.probabilities[chosen],
            neighbour_counts=self.neighbour_counts[chosen],
            lifts=self.lifts[chosen],
        )

    @property
    def given(self) -> np.ndarray:
        """Labels that the instances have: bool (m,)."""
        return ~np.isnan(self.lifts)

    def sort_worst_first(self) -> "Doubts":
        """Sort given labels that are less likely than drawn ones, and missing ones, by turns."""
        wrong = np.flatnonzero(self.lifts < 1)
        missing = np.flatnonzero(~self.given)
        wrong = wrong[np.argsort(self.lifts[wrong], kind="stable")]
        missing = missing[np.argsort(-self.probabilities[missing], kind="stable")]
        turns = np.concatenate([np.arange(len(wrong)), np.arange(len(missing)) + 0.5])
        return self.take(np.concatenate([wrong, missing])[np.argsort(turns)])


_NOTHING = np.empty(0, int)

NO_DOUBTS = Doubts(_NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING)


def join_doubts(parts: Sequence[Doubts]) -> Doubts:
    """Join the doubts about several parts of a dataset."""
    return Doubts(
        rows=np.concatenate([part.rows for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
        probabilities=np.concatenate([part.probabilities for part in parts]),
        neighbour_counts=np.concatenate([part.neighbour_counts for part in parts]),
        lifts=np.concatenate([part.lifts for part in parts]),
    )


def find_doubts(
    dataset: Dataset, rows: np.ndarray, others: Dataset, model: Model, threads: int = 1
) -> Doubts:
    """Find doubtful labels of training instances.

    There are none for fewer instances than :data:`MIN_HELD_OUT_TEXTS`.

    Parameters
    ----------
    dataset : Dataset
    rows : int (n,)
        The instances, by their numbers.
    others : Dataset
        The dataset without these instances.
    model : Model
        A model of ``others``.
    threads : int
    """
    n = len(rows)
    if n < MIN_HELD_OUT_TEXTS:
        return NO_DOUBTS
    split = dataset.train.take(rows)
    ids, scores = model.top_k(model.instances(split), N_CANDIDATES, threads, quiet=False)
    n_blocks = -(-n // MAX_TEXTS_PER_BLOCK)
    blocks = [np.arange(first, n, n_blocks) for first in range(n_blocks)]
    evidence = _take_evidence(split, blocks[0], others, ids, scores)
    if evidence is None:
        return NO_DOUBTS
    drawing = np.random.default_rng(0)
    trees = None
    given = []
    missing = []
    pairs = []
    for block in blocks:
        X = select_rows(split.X, block)
        candidates = evidence.find_candidates(
            evidence.prepare_texts(X, None, threads), ids[block], scores[block]
        )
        texts = _LabelledTexts(rows[block], select_rows(split.Y, block), candidates, evidence)
        if trees is None:
            trees = _fit_trees_of_probabilities(texts, threads)
        probabilities = trees.compute_probabilities(texts.evidence_values, candidates.ids)
        missing.append(texts.find_missing(probabilities))
        given.append(texts.find_given(probabilities))
        pairs.append(texts.draw_pairs(split.Y.indices, drawing))
    lifts = _estimate_lifts(_join_pairs(pairs), threads)
    return join_doubts([join_doubts(given)._replace(lifts=lifts), *missing])


def _take_evidence(
    split: Split, block: np.ndarray, others: Dataset, ids: np.ndarray, scores: np.ndarray
) -> CandidateEvidence | None:
    """Take evidence from the other texts, and the likelihood of scores from a block of the texts.

    Returns None where the candidates of the block are all right or all wrong.
    """
    hits = find_hits(ids[block], select_rows(split.Y, block))
    if len(np.unique(hits[ids[block] != NO_LABEL])) < 2:
        return None
    likelihood = fit_likelihood(ids[block], scores[block], hits)
    training = EvidenceTraining(others, others, likelihood)
    return CandidateEvidence.fit(training, select_kinds(KINDS, []))


def _fit_trees_of_probabilities(texts: "_LabelledTexts", threads: int) -> BoostedTrees:
    """Fit trees that tell true candidates from others."""
    held_out = HeldOutCandidates(
        kinds=texts.evidence.kinds,
        evidence_values=texts.evidence_values,
        ids=texts.candidates.ids,
        hits=texts.hits,
        positives=np.diff(texts.Y.indptr),
    )
    return fit_trees(*sample_candidates(held_out, threads).training_rows, threads=threads)


class _Pairs(NamedTuple):
    """Pairs of a text and a label that it has, or one drawn by frequency in its place."""

    evidence_values: np.ndarray  # float32 (m, c); evidence that they belong together
    given: np.ndarray  # bool (m,)
    rows: np.ndarray  # training instances (m,)


def _join_pairs(parts: Sequence[_Pairs]) -> _Pairs:
    return _Pairs(
        np.concatenate([part.evidence_values for part in parts]),
        np.concatenate([part.given for part in parts]),
        np.concatenate([part.rows for part in parts]),
    )


@dataclass(frozen=True)
class _LabelledTexts:
    """Some training instances with their labels and candidates."""

    rows: np.ndarray  # numbers of the instances (n,)
    Y: CSR
    candidates: Candidates
    evidence: CandidateEvidence

    @cached_property
    def evidence_values(self) -> np.ndarray:
        """Evidence about the candidates: float32 (n, k, c)."""
        return self.evidence.compute(self.candidates)

    @cached_property
    def hits(self) -> np.ndarray:
        """Candidates that are given labels: bool (n, k)."""
        return find_hits(self.candidates.ids, self.Y)

    @cached_property
    def owners(self) -> np.ndarray:
        """The text of each given label: int (labels,)."""
        return np.repeat(np.arange(self.Y.n_rows), np.diff(self.Y.indptr))

    def find_missing(self, probabilities: np.ndarray) -> Doubts:
        """Find candidates that are likely and not given."""
        texts, places = np.nonzero((probabilities >= MIN_MISSING_PROBABILITY) & ~self.hits)
        labels = self.candidates.ids[texts, places]
        return self._make_doubts(texts, labels, probabilities[texts, places])

    def find_given(self, probabilities: np.ndarray) -> Doubts:
        """Find all given labels, still without lifts."""
        equal = self.candidates.ids[self.owners] == self.Y.indices[:, None]
        of_labels = np.max(probabilities[self.owners] * equal, axis=1)
        return self._make_doubts(self.owners, self.Y.indices, of_labels)

    def _make_doubts(
        self, texts: np.ndarray, labels: np.ndarray, probabilities: np.ndarray
    ) -> Doubts:
        counts = self._count_neighbours()
        return Doubts(
            rows=self.rows[texts],
            labels=labels,
            probabilities=probabilities,
            neighbour_counts=_look_up_entries(counts, texts, labels).astype(int),
            lifts=np.full(len(texts), np.nan),
        )

    def _count_neighbours(self) -> "scipy.sparse.csr_array":
        """Count the nearest training texts of each text that have each label: (n, l)."""
        similar = self.evidence.get(SimilarTexts)
        nearest, cosines = self.candidates.texts.lookups[similar.name]
        is_near = (nearest >= 0) & (cosines > 0)
        indptr = offsets(is_near.sum(axis=1))
        ones = np.ones(indptr[-1])
        shape = (len(is_near), similar.labels.n_rows)
        neighbours = scipy.sparse.csr_array((ones, nearest[is_near], indptr), shape=shape)
        return neighbours @ similar.labels.to_scipy()

    def draw_pairs(self, frequent: np.ndarray, drawing: np.random.Generator) -> _Pairs:
        """Pair texts with their given labels, then with others, drawn from ``frequent``.

        ``frequent`` has each label as often as it is given.
        """
        texts = np.repeat(self.owners, DRAWN_PER_LABEL)
        replaced = np.repeat(self.Y.indices, DRAWN_PER_LABEL)
        drawn = drawing.choice(frequent, len(texts))
        is_new = _look_up_entries(self.Y.to_scipy(), texts, drawn) == 0
        texts = np.concatenate([self.owners, texts[is_new]])
        left_out = np.concatenate([self.Y.indices, replaced[is_new]])
        labels = np.concatenate([self.Y.indices, drawn[is_new]])
        given = np.arange(len(texts)) < len(self.owners)
        evidence = self._compute_evidence(texts, labels)
        support = self._compute_support(texts, labels, left_out)
        values = np.column_stack([evidence, support]).astype(np.float32)
        return _Pairs(values, given, self.rows[texts])

    def _compute_evidence(self, texts: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Compute the evidence about a label of each of ``texts`` (m,): float32 (m, c)."""
        candidates = self.candidates
        lists = [_list_labels(texts, labels, self.Y.n_rows)]
        ids, scores = append_candidates(candidates.ids, candidates.scores, lists)
        # the order in which labels were appended means nothing
        ranks = np.minimum(np.arange(ids.shape[1]), N_CANDIDATES)
        values = self.evidence.compute(Candidates(candidates.texts, ids, scores, ranks))
        places = (ids[texts] == labels[:, None]).argmax(axis=1)
        return values[texts, places]

    def _compute_support(
        self, texts: np.ndarray, labels: np.ndarray, left_out: np.ndarray
    ) -> np.ndarray:
        """Sum P(j | i) over the labels i of a text but the one left out, for a label j: (m,)."""
        together = self.evidence.get(OtherCandidates).cooccurrence.to_scipy()
        support = _look_up_entries(self.Y.to_scipy() @ together, texts, labels)
        return support - _look_up_entries(together, left_out, labels)


def _list_labels(texts: np.ndarray, labels: np.ndarray, n: int) -> np.ndarray:
    """List the labels of each of n texts: int32 (n, k), -1 where it has fewer."""
    order = np.argsort(texts, kind="stable")
    texts = texts[order]
    counts = np.bincount(texts, minlength=n)
    places = np.arange(len(texts)) - offsets(counts)[texts]
    lists = np.full((n, counts.max(initial=0)), NO_LABEL, np.int32)
    lists[texts, places] = labels[order]
    return lists


def _look_up_entries(
    matrix: "scipy.sparse.csr_array", rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Look up the entries of a sparse matrix at some rows and columns (m,)."""
    return matrix[rows[:, None], columns[:, None]].toarray()[:, 0]


def _estimate_lifts(pairs: _Pairs, threads: int) -> np.ndarray:
    """Estimate the odds of given against drawn labels by trees that have not seen the texts."""
    is_odd = pairs.rows % 2 == 1
    lifts = np.ones(len(pairs.rows))
    for half in (is_odd, ~is_odd):
        trees = fit_trees(
            pairs.evidence_values[half], pairs.given[half], threads=threads, n_trees=LIFT_TREES
        )
        share = pairs.given[half].mean()
        lifts[~half] = (
            np.exp(trees.compute_log_odds(pairs.evidence_values[~half])) * (1 - share) / share
        )
    return lifts[pairs.given]
