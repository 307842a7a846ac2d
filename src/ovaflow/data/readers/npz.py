"""Pairs of npz or npy files: features and labels, as SciPy's sparse matrices or NumPy's arrays."""

import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.data.readers.rows import ID_LIMIT, LABEL_LIMIT
from ovaflow.data.readers.streams import open_seekable
from ovaflow.sparse.csr import CSR, from_scipy

_FOREIGN = (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy and SciPy raise on files that are not matrices."""
_BLOCK = 1 << 20
"""Entries of an array that are looked at together."""


def read(path, labels_path=None):
    """X (n, d) and Y (n, l), each as SciPy's save_npz, ``numpy.save`` or ``numpy.savez`` of one array writes it.

    Every entry of the labels but zero is a label. By default their file is named like that of the features, with Y
    instead of X.
    """
    labels_path = _labels_file(path) if labels_path is None else labels_path
    X, Y = _load(path, ID_LIMIT), _load(labels_path, LABEL_LIMIT)
    if X.n_rows != Y.n_rows:
        message = f"{Y.n_rows} rows of labels for {X.n_rows} rows of features in {path}"
        raise InputError(message, path=labels_path, remedy="correct this file, or give another one")
    Y.data[:] = 1
    return X, Y


def _labels_file(path):
    """The file in whose name the last X that is not part of a word is a Y, as ``Y.trn.npz`` for ``X.trn.npz``."""
    name = Path(path).name
    for k in range(len(name) - 1, -1, -1):
        alone = not (name[:k][-1:].isalnum() or name[k + 1 :][:1].isalnum())
        if name[k] == "X" and alone:
            return Path(path).with_name(f"{name[:k]}Y{name[k + 1 :]}")
    raise InputError("cannot tell where its labels are", path=path, remedy="name the two files X.npz and Y.npz")


def _load(path, most_columns):
    with open_seekable(path) as stream:
        try:
            matrix = _matrix(stream)
            if len(matrix.shape) != 2 or matrix.shape[1] > most_columns or matrix.dtype.kind not in "biuf":
                raise ValueError(f"shape {matrix.shape}, type {matrix.dtype}")
            csr = _without_zeros(matrix) if isinstance(matrix, np.ndarray) else _canonical(matrix)
        except _FOREIGN as error:
            message = f"not a matrix of scipy.sparse.save_npz or numpy.save ({error or type(error).__name__})"
            raise InputError(message, path=path, remedy="write it with one of these") from None
    return csr


def _matrix(stream):
    loaded = np.load(stream, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    if len(loaded.files) == 1:
        return loaded[loaded.files[0]]
    stream.seek(0)
    return scipy.sparse.load_npz(stream)


def _without_zeros(array):
    """CSR of a dense array, by blocks of rows: SciPy would take several times its memory."""
    n, d = array.shape
    indptr = np.zeros(n + 1, np.int64)
    height = _BLOCK // max(d, 1) + 1
    blocks = [slice(low, low + height) for low in range(0, n, height)]
    for block in blocks:
        indptr[1:][block] = np.count_nonzero(_single(array[block]), axis=1)
    np.cumsum(indptr, out=indptr)
    data, indices = np.empty(indptr[-1], np.float32), np.empty(indptr[-1], np.int32)
    for block in blocks:
        part = _single(array[block])
        rows, columns = np.nonzero(part)
        entries = slice(indptr[block.start], indptr[min(block.stop, n)])
        data[entries], indices[entries] = part[rows, columns], columns
    _check_finite(data)
    return CSR(data, indices, indptr, d)


def _single(values):
    with np.errstate(over="ignore"):
        return values.astype(np.float32, copy=False)


def _canonical(matrix):
    """CSR without zeros; a damaged file must not reach SciPy's unchecked loops."""
    if hasattr(matrix, "indptr"):
        matrix.check_format(full_check=True)
    with np.errstate(over="ignore"):
        csr = scipy.sparse.csr_array(matrix, dtype=np.float32)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    _check_finite(csr.data)
    return from_scipy(csr)


def _check_finite(data):
    if not np.isfinite(data).all():
        raise ValueError("values that are not finite in 32 bits")
