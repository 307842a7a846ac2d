"""Votes of similar training texts for the candidates of a text."""

from dataclasses import dataclass

import numpy as np

from ovaflow.data.normalize import unit_rows
from ovaflow.model.index import build_index
from ovaflow.model.top_k import search_index
from ovaflow.sparse.csr import CSR, rows_of
from ovaflow.sparse.jit import strict_kernel

NEAREST = 30
"""Texts that vote."""

MOST = 200_000
"""Training texts that are searched, evenly spread over all: the index takes 6 bytes for each of their features."""


@dataclass(frozen=True)
class Neighbours:
    """Training texts, of length 1 and without the bias feature, and their labels."""

    X: CSR
    Y: CSR
    panels: list

    @classmethod
    def of(cls, X, Y):
        return cls(X, Y, list(build_index(X, np.ones(X.n_rows, bool))))

    @classmethod
    def among(cls, dataset):
        """Those of the training texts of a dataset; names of labels are none."""
        documents, bias_feature = dataset.documents.train, dataset.bias_feature
        n = documents.X.n_rows
        if n <= MOST:
            return cls.of(unit_rows(documents.X, bias_feature), documents.Y)
        rows = np.arange(MOST) * n // MOST
        return cls.of(unit_rows(rows_of(documents.X, rows), bias_feature), rows_of(documents.Y, rows))

    def votes(self, X, candidates, threads=1):
        """Share of the votes of the nearest texts for each candidate, weighted by cosine, and their sum, by text."""
        nearest, cosines = self._nearest(X, threads)
        shares, sums = np.zeros(candidates.shape, np.float32), np.zeros(len(candidates), np.float32)
        _count_votes(
            nearest, cosines, *self.Y.arrays[1:], np.zeros(self.Y.n_columns, np.float32), candidates, shares, sums
        )
        return shares, sums

    def holders(self, x):
        """How many of the nearest texts of one text have each label, int (l,), and how many such texts there are."""
        nearest, cosines = self._nearest(x, 1)
        texts = nearest[cosines > 0]
        counts = np.bincount(rows_of(self.Y, texts).indices, minlength=self.Y.n_columns)
        return counts, len(texts)

    def _nearest(self, X, threads):
        return search_index(self.panels, self.X, X, min(NEAREST, self.X.n_rows), threads)


@strict_kernel
def _count_votes(nearest, cosines, indices, indptr, votes, candidates, shares, sums):
    """share_ij = sum_k cos(x_i, x_k) [j in Y_k] / sum_k cos(x_i, x_k) over the nearest texts k, cosines above 0."""
    for i in range(len(nearest)):
        total = np.float32(0)
        for k in range(nearest.shape[1]):
            if nearest[i, k] >= 0 and cosines[i, k] > 0:
                total += cosines[i, k]
                for p in range(indptr[nearest[i, k]], indptr[nearest[i, k] + 1]):
                    votes[indices[p]] += cosines[i, k]
        sums[i] = total
        for c in range(candidates.shape[1]):
            if candidates[i, c] >= 0 and total > 0:
                shares[i, c] = votes[candidates[i, c]] / total
        for k in range(nearest.shape[1]):
            if nearest[i, k] >= 0:
                for p in range(indptr[nearest[i, k]], indptr[nearest[i, k] + 1]):
                    votes[indices[p]] = 0
