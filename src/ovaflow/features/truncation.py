"""Texts that end early, as titles alone do, from the features of whole texts."""

import numpy as np

from ovaflow.sparse.csr import CSR, NO_POSITION, offsets


def truncate_features(X, ends, normalized):
    """Features that texts have before their tokens ``ends`` (n,), and the lengths of these rows.

    Rows are scaled to length 1 if they are ``normalized``; the bias feature stays.
    """
    n = X.n_rows
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    words = X.places != NO_POSITION
    kept = ~words | (X.places < ends[rows])
    data = X.data[kept]
    rows = rows[kept]
    words = words[kept]
    squares = np.bincount(rows[words], data[words] ** 2.0, n)
    lengths = np.sqrt(np.where(squares > 0, squares, 1))
    if normalized:
        data = np.where(words, data / lengths[rows], data).astype(np.float32)
    indptr = offsets(np.bincount(rows, minlength=n))
    return CSR(data, X.indices[kept], indptr, X.n_columns, X.places[kept]), lengths
