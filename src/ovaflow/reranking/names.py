"""Names of labels that stand in a text."""

from dataclasses import dataclass

import numpy as np

from ovaflow.reranking.rows import unit_rows
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.sparse.jit import strict_kernel

WHOLE = 1 - 1e-6
"""Share of a name above which all of it is in a text, but for rounding."""


@dataclass(frozen=True)
class LabelNames:
    """Features of the names of labels: a row of length 1 for each label, empty where it has no name."""

    features: CSR

    @classmethod
    def of(cls, dataset):
        X, Y = dataset.train.X, dataset.train.Y
        features, labels = (each.part(dataset.n_documents, X.n_rows).to_scipy() for each in (X, Y))
        return cls(unit_rows(from_scipy(labels.T @ features), dataset.bias_feature))

    def overlap(self, X, candidates):
        """Cosine of text and name, share of the name in the text (squares of its features), length of the name."""
        cosine, share = np.zeros(candidates.shape, np.float32), np.zeros(candidates.shape, np.float32)
        _overlap(*X.arrays, *self.features.arrays, np.zeros(X.n_columns, np.float32), candidates, cosine, share)
        length = np.diff(self.features.indptr)[candidates].astype(np.float32)
        return cosine, share, length


@strict_kernel
def _overlap(data, indices, indptr, n_data, n_indices, n_indptr, spread, candidates, cosine, share):
    """cos_ij = <x_i, n_j>, share_ij = sum of n_jf^2 over the features f of x_i."""
    for i in range(len(candidates)):
        for k in range(indptr[i], indptr[i + 1]):
            spread[indices[k]] = data[k]
        for c in range(candidates.shape[1]):
            j = candidates[i, c]
            if j >= 0:
                for k in range(n_indptr[j], n_indptr[j + 1]):
                    x = spread[n_indices[k]]
                    if x != 0:
                        cosine[i, c] += x * n_data[k]
                        share[i, c] += n_data[k] * n_data[k]
        for k in range(indptr[i], indptr[i + 1]):
            spread[indices[k]] = 0
