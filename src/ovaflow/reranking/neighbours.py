"""Votes of similar training texts for the candidates of a text."""

from dataclasses import dataclass

import numpy as np

from ovaflow.features.normalize import unit_rows
from ovaflow.model.index import LARGEST_DENSE, LARGEST_LISTED, IndexPanel, build_index
from ovaflow.model.top_k import insert_label, no_labels, search_rounded
from ovaflow.sparse.csr import CSR, rows_of
from ovaflow.sparse.jit import strict_kernel

NEAREST = 30
"""Texts that vote."""

MOST = 200_000
"""Training texts that are searched, evenly spread over all: the index takes 3 bytes for each of their features."""


@dataclass(frozen=True)
class Neighbours:
    """Training texts, of length 1 and without the bias feature, as panels of an index, and their labels."""

    Y: CSR
    panels: list[IndexPanel]

    @classmethod
    def of(cls, X, Y):
        panels = build_index(X, np.ones(X.n_rows, bool), cut=0.0)
        return cls(Y, [_in_bytes(panel) for panel in panels])

    @classmethod
    def among(cls, dataset):
        """The training texts of a dataset, without the names of labels."""
        X, Y = dataset.documents.train.X, dataset.documents.train.Y
        if X.n_rows > MOST:
            rows = np.arange(MOST) * X.n_rows // MOST
            X, Y = rows_of(X, rows), rows_of(Y, rows)
        return cls.of(unit_rows(X, dataset.n_word_features), Y)

    def nearest(self, X, threads=1):
        """The nearest texts of each of these, and their cosines up to the panels' rounding, the nearest first."""
        k = min(NEAREST, self.Y.n_rows)
        return search_rounded(self.panels, X, k, threads)

    def votes(self, nearest, candidates):
        """Share of the votes of the nearest texts for each candidate, weighted by cosine, and their sum, by text."""
        shares, sums = np.zeros(candidates.shape, np.float32), np.zeros(len(candidates), np.float32)
        votes = np.zeros(self.Y.n_columns, np.float32)
        _count_votes(*nearest, *self.Y.arrays[1:], votes, candidates, shares, sums)
        return shares, sums

    def most_voted(self, nearest, k):
        """The k labels of most votes, int32 (n, k), ties by the smaller id."""
        ids, votes = no_labels(len(nearest[0]), k)
        _keep_most(*nearest, *self.Y.arrays[1:], np.zeros(self.Y.n_columns, np.float32), ids, votes)
        return ids

    def neighbour_counts(self, x):
        """How many of the nearest texts of one text have each label, int (l,), and how many such texts there are."""
        nearest, cosines = self.nearest(x)
        texts = nearest[cosines > 0]
        counts = np.bincount(rows_of(self.Y, texts).indices, minlength=self.Y.n_columns)
        return counts, len(texts)


def _in_bytes(panel):
    """A panel whose lists have 8 bits a value, too."""
    coarser = LARGEST_LISTED / LARGEST_DENSE
    step = np.where(panel.dense_row >= 0, panel.step, panel.step * np.float32(coarser))
    return panel._replace(step=step, values=np.rint(panel.values / coarser).astype(np.int8))


@strict_kernel
def _count_votes(nearest, cosines, indices, indptr, votes, candidates, shares, sums):
    """share_ij = sum_k cos(x_i, x_k) [j in Y_k] / sum_k cos(x_i, x_k) over the nearest texts k, cosines above 0."""
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
def _keep_most(nearest, cosines, indices, indptr, votes, ids, best):
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
    """votes_j += cos(x, x_k) for each label j of each nearest text k with a cosine above 0; returns their sum."""
    total = np.float32(0)
    for k in range(len(nearest)):
        if nearest[k] >= 0 and cosines[k] > 0:
            total += cosines[k]
            for p in range(indptr[nearest[k]], indptr[nearest[k] + 1]):
                votes[indices[p]] += cosines[k]
    return total
