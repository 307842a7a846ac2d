"""Pairs of scipy.sparse npz files: features and labels."""

import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.data.readers.rows import ID_LIMIT
from ovaflow.data.readers.streams import open_seekable
from ovaflow.sparse.csr import from_scipy

_FOREIGN = (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy and SciPy raise on files that are no matrix."""


def read(path, labels_path=None):
    """Read a pair, as ``scipy.sparse.save_npz`` writes it.

    Parameters
    ----------
    path : path-like
        Features, shape (n, d).
    labels_path : path-like, optional
        Labels, shape (n, l): every entry but zero is a label. By default the
        features' name with Y instead of X, as ``Y.trn.npz`` for ``X.trn.npz``.

    Returns
    -------
    X : CSR, shape (n, d)
    Y : CSR, shape (n, l)
        Ones.

    Raises
    ------
    InputError
        If a file is no such matrix, or the two have different numbers of rows.
    """
    labels_path = labels_file(path) if labels_path is None else labels_path
    X, Y = _load(path), _load(labels_path)
    if X.n_rows != Y.n_rows:
        raise InputError(f"{Y.n_rows} rows of labels for {X.n_rows} rows of features in {path}", path=labels_path)
    Y.data[:] = 1
    return X, Y


def labels_file(path):
    """Where the labels lie that belong to a file of features.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    pathlib.Path
        The last X of the name that is no part of a word becomes Y.

    Raises
    ------
    InputError
        If there is no such X.
    """
    name = Path(path).name
    for place in range(len(name) - 1, -1, -1):
        alone = not (name[:place][-1:].isalnum() or name[place + 1 :][:1].isalnum())
        if name[place] == "X" and alone:
            return Path(path).with_name(f"{name[:place]}Y{name[place + 1 :]}")
    raise InputError("cannot tell where its labels are", path=path, remedy="name the two files X.npz and Y.npz")


def _load(path):
    with open_seekable(path) as stream:
        try:
            return from_scipy(_checked(scipy.sparse.load_npz(stream)))
        except _FOREIGN as error:
            raise InputError(
                f"no matrix of scipy.sparse.save_npz ({error})", path=path, remedy="write it with scipy.sparse.save_npz"
            ) from None


def _checked(matrix):
    """CSR without zeros; a file that lies about its arrays must not reach SciPy's unchecked loops."""
    if max(matrix.shape) > ID_LIMIT or matrix.dtype.kind not in "biuf":
        raise ValueError(f"shape {matrix.shape}, type {matrix.dtype}")
    if hasattr(matrix, "indptr"):
        matrix.check_format(full_check=True)
    with np.errstate(over="ignore"):
        csr = scipy.sparse.csr_array(matrix, dtype=np.float32)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if not np.isfinite(csr.data).all():
        raise ValueError("values that are not finite in 32 bits")
    return csr
