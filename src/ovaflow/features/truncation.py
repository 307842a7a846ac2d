"""Truncation of texts, to imitate titles alone, by the features of complete texts."""

import numpy as np

from ovaflow.sparse.csr import CSR, NO_POSITION, offsets


def truncate_features(X: CSR, ends: np.ndarray, *, rescale: bool) -> tuple[CSR, np.ndarray]:
    """Compute the features of texts that end early.

    Parameters
    ----------
    X : CSR
        Features of the complete texts, shape (n, d), with the places of their first tokens.
    ends : ndarray of int64, shape (n,)
        Number of tokens after which each text ends.
    rescale : bool
        Whether to scale rows to length 1 again; the bias feature stays as it is.

    Returns
    -------
    X : CSR
        Features that the texts have before these ends.
    lengths : ndarray of float64, shape (n,)
        Lengths of their rows before these were scaled.
    """
    assert X.places is not None
    n = X.n_rows
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    is_word = X.places != NO_POSITION
    is_kept = ~is_word | (X.places < ends[rows])
    data = X.data[is_kept]
    rows = rows[is_kept]
    is_word = is_word[is_kept]
    squares = np.bincount(rows[is_word], data[is_word] ** 2.0, n)
    lengths = np.sqrt(np.where(squares > 0, squares, 1))
    if rescale:
        data = np.where(is_word, data / lengths[rows], data).astype(np.float32)
    indptr = offsets(np.bincount(rows, minlength=n))
    return CSR(data, X.indices[is_kept], indptr, X.n_columns, X.places[is_kept]), lengths
