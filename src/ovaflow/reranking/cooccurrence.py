"""Which labels go together: P(label | other label) among training texts."""

from dataclasses import dataclass

import numpy as np

from ovaflow.sparse.csr import CSR, from_scipy, rows_of
from ovaflow.sparse.jit import strict_kernel

PAIRS = 50_000_000
"""Most pairs of labels of one text that are counted, in texts evenly spread over all."""

OTHERS = 10
"""How many of the first candidates are asked for their company."""


@dataclass(frozen=True)
class LabelCooccurrence:
    """P(j | i) of the labels j that stand beside each label i in a training text: CSR (l, l)."""

    probabilities: CSR

    @classmethod
    def among(cls, Y):
        pairs = np.sum(np.diff(Y.indptr).astype(float) ** 2)
        if pairs > PAIRS:
            chosen = int(Y.n_rows * PAIRS / pairs)
            Y = rows_of(Y, np.arange(chosen) * Y.n_rows // chosen)
        labels = Y.to_scipy()
        together = (labels.T @ labels).tocsr()
        counts = together.diagonal()
        together.setdiag(0)
        together.eliminate_zeros()
        # one text more than there are: what was seen once is not certain
        together.data /= np.repeat(counts + 1, np.diff(together.indptr)).astype(np.float32)
        return cls(from_scipy(together))

    def support(self, candidates, likelihoods):
        """sum over the first other candidates i of p(i) P(j | i), for each candidate j: float32 (n, k)."""
        support = np.zeros(candidates.shape, np.float32)
        places = np.full(self.probabilities.n_rows, -1, np.int32)
        _support(*self.probabilities.arrays, candidates, likelihoods, places, support)
        return support

    def parts(self, candidates, likelihoods):
        """What :meth:`support` sums for the candidates (k,) of one text: float32 (first others, k)."""
        rows = rows_of(self.probabilities, candidates[:OTHERS]).to_scipy()
        return likelihoods[:OTHERS, None] * rows[:, candidates].toarray()


@strict_kernel
def _support(data, indices, indptr, candidates, likelihoods, places, support):
    """s_ij = sum over the first candidates o of p_io P(j | o)."""
    for i in range(len(candidates)):
        row = candidates[i]
        for c in range(len(row)):
            if row[c] >= 0:
                places[row[c]] = c
        for c in range(min(OTHERS, len(row))):
            if row[c] >= 0:
                for k in range(indptr[row[c]], indptr[row[c] + 1]):
                    place = places[indices[k]]
                    if place >= 0:
                        support[i, place] += likelihoods[i, c] * data[k]
        for c in range(len(row)):
            if row[c] >= 0:
                places[row[c]] = -1
