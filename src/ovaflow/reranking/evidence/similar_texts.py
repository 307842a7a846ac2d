"""Votes of similar training texts for the candidates of a text."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ovaflow.features.normalize import copy_unit_rows
from ovaflow.model.index import LARGEST_DENSE, LARGEST_LISTED, IndexPanel, build_index
from ovaflow.model.top_k import insert_label, make_empty_ranking, search_rounded
from ovaflow.reranking.candidates import MAX_FURTHER_CANDIDATES
from ovaflow.reranking.evidence.kind import Evidence, Wording
from ovaflow.sparse.csr import CSR, select_rows
from ovaflow.sparse.jit import strict_kernel

N_NEAREST = 30
"""Texts that vote."""

MAX_INDEXED_TEXTS = 200_000
"""Training texts that are searched, evenly spread over all: the index takes 3 bytes for each of
their features.
"""


class Nearest(NamedTuple):
    """The nearest training texts of each text, the nearest first."""

    texts: np.ndarray  # int32 (n, m); -1 where there are fewer
    cosines: np.ndarray  # float32 (n, m); up to the rounding of the index


@dataclass(frozen=True)
class SimilarTexts(Evidence):
    """Votes of the nearest training texts, which are the panels of an index."""

    name = "similar texts"
    columns = ("votes", "votes of all")
    directions: ClassVar[dict[str, int]] = {"votes of all": 0}
    words = Wording(
        place=2,
        translations={
            "de": "{count} der {of} ähnlichsten Datensätze haben es",
            "fr": "{count} des {of} notices les plus semblables l’ont",
        },
        numbers={
            "count": (int, "similar records that have the label"),
            "of": (int, "similar records"),
        },
    )

    labels: CSR  # of the training texts
    panels: list[IndexPanel]  # the training texts, of length 1 and without the bias feature

    @classmethod
    def fit(cls, training):
        documents = training.dataset.documents.train
        X = documents.X
        labels = documents.Y
        if X.n_rows > MAX_INDEXED_TEXTS:
            rows = np.arange(MAX_INDEXED_TEXTS) * X.n_rows // MAX_INDEXED_TEXTS
            X = select_rows(X, rows)
            labels = select_rows(labels, rows)
        return cls.index(copy_unit_rows(X, training.dataset.n_word_features), labels)

    @classmethod
    def index(cls, X, labels):
        """Index training texts, rows of length 1, and their labels."""
        panels = build_index(X, np.ones(X.n_rows, bool), cut=0.0)
        return cls(labels, [_in_bytes(panel) for panel in panels])

    def look_up(self, texts):
        return self.nearest(texts.words, texts.threads)

    def suggest_candidates(self, texts):
        return self.find_most_voted(texts.found[self.name], MAX_FURTHER_CANDIDATES)

    def compute(self, candidates):
        shares, sums = self.votes(candidates.texts.found[self.name], candidates.ids)
        return [shares, sums[:, None]]

    def reasons(self, text):
        nearest, cosines = text.candidates.texts.found[self.name]
        similar = nearest[cosines > 0]
        counts = np.bincount(
            select_rows(self.labels, similar).indices, minlength=self.labels.n_columns
        )
        return [_reason(count, len(similar)) for count in counts[text.candidates.ids[0]].tolist()]

    def nearest(self, X, threads=1):
        """Find the nearest training texts of each text, rows of length 1."""
        k = min(N_NEAREST, self.labels.n_rows)
        return Nearest(*search_rounded(self.panels, X, k, threads))

    def votes(self, nearest, candidates):
        """Share of the votes of the nearest texts for each candidate, weighted by cosine, and their
        sum, by text.
        """
        shares = np.zeros(candidates.shape, np.float32)
        sums = np.zeros(len(candidates), np.float32)
        votes = np.zeros(self.labels.n_columns, np.float32)
        _, indices, indptr = self.labels.arrays
        _count_votes(
            nearest.texts, nearest.cosines, indices, indptr, votes, candidates, shares, sums
        )
        return shares, sums

    def find_most_voted(self, nearest, k):
        """The k labels of most votes, int32 (n, k), ties by the smaller id."""
        ids, best = make_empty_ranking(len(nearest.texts), k)
        votes = np.zeros(self.labels.n_columns, np.float32)
        _, indices, indptr = self.labels.arrays
        _keep_most(nearest.texts, nearest.cosines, indices, indptr, votes, ids, best)
        return ids


def _reason(count, similar):
    if count == 0:
        return None
    have = "has" if count == 1 else "have"
    return {
        "text": f"{count} of the {similar} most similar records {have} it",
        "count": count,
        "of": similar,
    }


def _in_bytes(panel):
    """A panel whose lists have 8 bits a value, too."""
    coarser = LARGEST_LISTED / LARGEST_DENSE
    step = np.where(panel.dense_row >= 0, panel.step, panel.step * np.float32(coarser))
    return panel._replace(step=step, values=np.rint(panel.values / coarser).astype(np.int8))


@strict_kernel
def _count_votes(nearest, cosines, indices, indptr, votes, candidates, shares, sums) -> None:
    """share_ij = sum_k cos(x_i, x_k) [j in Y_k] / sum_k cos(x_i, x_k) over the nearest texts k,
    cosines above 0.
    """
    for i in range(len(nearest)):
        sums[i] = _add_votes(nearest[i], cosines[i], indices, indptr, votes)
        for c in range(candidates.shape[1]):
            if candidates[i, c] >= 0 and sums[i] > 0:
                shares[i, c] = votes[candidates[i, c]] / sums[i]
        for k in range(nearest.shape[1]):
            if nearest[i, k] >= 0:
                for p in range(indptr[nearest[i, k]], indptr[nearest[i, k] + 1]):
                    votes[indices[p]] = 0


@strict_kernel
def _keep_most(nearest, cosines, indices, indptr, votes, ids, best) -> None:
    for i in range(len(nearest)):
        _add_votes(nearest[i], cosines[i], indices, indptr, votes)
        for k in range(nearest.shape[1]):
            if nearest[i, k] >= 0:
                for p in range(indptr[nearest[i, k]], indptr[nearest[i, k] + 1]):
                    label = indices[p]
                    last = best[i, -1]
                    if votes[label] > max(last, 0) or (votes[label] == last and label < ids[i, -1]):
                        insert_label(votes[label], label, ids[i], best[i])
                    votes[label] = 0


@strict_kernel
def _add_votes(nearest, cosines, indices, indptr, votes):
    """votes_j += cos(x, x_k) for each label j of each nearest text k with a cosine above 0; returns
    their sum.
    """
    total = np.float32(0)
    for k in range(len(nearest)):
        if nearest[k] >= 0 and cosines[k] > 0:
            total += cosines[k]
            for p in range(indptr[nearest[k]], indptr[nearest[k] + 1]):
                votes[indices[p]] += cosines[k]
    return total
