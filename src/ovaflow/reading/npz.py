"""Pairs of npz or npy files: features and labels, as SciPy's sparse matrices or NumPy's arrays."""

import re
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.reading.declared_sizes import require_plausible_size
from ovaflow.reading.sparse_text import ID_LIMIT, LABEL_LIMIT
from ovaflow.reading.streams import open_seekable
from ovaflow.sparse.csr import from_scipy

UNREADABLE_MATRIX_ERRORS = (
    *(ValueError, LookupError, TypeError, AttributeError, RuntimeError, OSError, EOFError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError, SyntaxError),
)
"""What NumPy and SciPy raise for files that are not matrices, or are encrypted."""
_LETTER_X = re.compile(r"(.*)(?<![a-zA-Z0-9])X(?![a-zA-Z0-9])")
_BLOCK = 1 << 20
"""Entries of an array that are made sparse together."""
_ROWS = 512
"""Instances that are asked about together."""


def read(paths, labels_paths, first=None):
    """How features are numbered, which there is nothing to say about, and (X, Y) of each pair of
    files.
    """
    return {}, [read_pair(*pair) for pair in zip(paths, labels_paths, strict=True)]


def batches(file, n_features, first):
    """Features of some instances at a time."""
    X = read_matrix(file.path)
    if X.n_columns != n_features:
        message = f"{X.n_columns} features, the model has {n_features}"
        raise InputError(message, path=file.name, remedy="give instances of its features")
    for low in range(0, X.n_rows, _ROWS):
        yield X.part(low, min(low + _ROWS, X.n_rows))


def read_pair(path, labels_path=None):
    """X (n, d) and Y (n, l), whose file is by default named like that of X, with a Y."""
    labels_path = _labels_file(path) if labels_path is None else labels_path
    X = read_matrix(path)
    Y = read_matrix(labels_path, LABEL_LIMIT)
    if X.n_rows != Y.n_rows:
        message = f"{Y.n_rows} rows of labels for {X.n_rows} rows of features in {path}"
        raise InputError(message, path=labels_path, remedy="correct this file, or give another one")
    _require_ones(Y, labels_path)
    return X, Y


def _require_ones(Y, path) -> None:
    """Refuse labels that are not merely there or absent: votes, weights, and -1 for absent ones."""
    others = np.flatnonzero(Y.data != 1)
    if len(others):
        place = others[0]
        row = np.searchsorted(Y.indptr, place, "right")
        value = Y.data[place]
        message = f"row {row} of the labels has {value:g} for label {Y.indices[place]}, labels are 1, or 0 if absent"
        remedy = "write for example Y > 0 with scipy.sparse.save_npz or numpy.save"
        raise InputError(message, path=path, remedy=remedy)


def _labels_file(path):
    """The file in whose name the last X that is not part of a word is a Y, as ``Y.trn.npz`` for
    ``X.trn.npz``.
    """
    name, replaced = _LETTER_X.subn(r"\1Y", Path(path).name, count=1)
    if not replaced:
        raise InputError(
            "cannot tell where its labels are",
            path=path,
            remedy="name the two files X.npz and Y.npz",
        )
    return Path(path).with_name(name)


def read_matrix(path, most_columns=ID_LIMIT):
    """A matrix of finite numbers, without zeros."""
    with open_seekable(path) as stream:
        try:
            matrix = _matrix(stream)
            if scipy.sparse.issparse(matrix):
                require_plausible_size(matrix.shape[0], "rows", matrix.nnz, path)
            if (
                len(matrix.shape) != 2
                or matrix.shape[1] > most_columns
                or matrix.dtype.kind not in "biuf"
            ):
                raise ValueError(f"shape {matrix.shape}, type {matrix.dtype}")
            return _canonical(_blockwise(matrix) if isinstance(matrix, np.ndarray) else matrix)
        except UNREADABLE_MATRIX_ERRORS as error:
            reason = str(error)[:300] or type(error).__name__
            message = f"not a matrix of scipy.sparse.save_npz or numpy.save ({reason})"
            raise InputError(message, path=path, remedy="write it with one of these") from None


def _matrix(stream):
    loaded = np.load(stream, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    if len(loaded.files) == 1:
        return loaded[loaded.files[0]]
    stream.seek(0)
    return scipy.sparse.load_npz(stream)


def _blockwise(array):
    """A dense array made sparse by blocks of rows: as a whole SciPy would take several times its
    memory.
    """
    height = _BLOCK // max(array.shape[1], 1) + 1
    with np.errstate(over="ignore"):
        parts = (
            array[low : low + height].astype(np.float32)
            for low in range(0, max(len(array), 1), height)
        )
        return scipy.sparse.vstack([scipy.sparse.csr_array(part) for part in parts], format="csr")


def _canonical(matrix):
    """CSR without zeros; a damaged file must not reach SciPy's unchecked loops."""
    if hasattr(matrix, "indptr"):
        matrix.check_format(full_check=True)
    with np.errstate(over="ignore"):
        csr = scipy.sparse.csr_array(matrix, dtype=np.float32)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if not np.isfinite(csr.data).all():
        raise ValueError("values that are not finite in 32 bits")
    return from_scipy(csr)
