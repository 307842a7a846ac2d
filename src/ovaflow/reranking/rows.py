"""Rows as evidence compares them: of length 1, without the bias feature."""

import numpy as np
import scipy.sparse

from ovaflow.sparse.csr import from_scipy


def unit_rows(X, bias_feature=-1):
    """Rows of length 1; the bias feature, where there is one, is left out."""
    matrix = X.to_scipy()
    if bias_feature >= 0:
        matrix = matrix[:, :bias_feature]
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    scale = np.divide(1, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    return from_scipy(scipy.sparse.diags_array(scale) @ matrix)
