"""Pairs of npz or npy files: features and labels, as SciPy's sparse matrices or NumPy's arrays."""

import re
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.declared_sizes import require_plausible_size
from ovaflow.reading.sparse_text import ID_LIMIT, LABEL_LIMIT
from ovaflow.reading.streams import RecordFile, open_seekable
from ovaflow.sparse.csr import CSR, from_scipy

UNREADABLE_MATRIX_ERRORS = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
    SyntaxError,
)
"""Errors of NumPy and SciPy for files that are not matrices, or are encrypted."""
_LETTER_X = re.compile(r"(.*)(?<![a-zA-Z0-9])X(?![a-zA-Z0-9])")
_BLOCK_ENTRIES = 1 << 20
"""Entries of an array that are made sparse together."""
_BATCH_ROWS = 512
"""Instances of a batch."""


def read(
    paths: Sequence[StrPath], labels_paths: Sequence[StrPath | None], first: int | None = None
) -> tuple[dict[str, int], list[tuple[CSR, CSR]]]:
    """Read pairs of files.

    Returns
    -------
    numbering : dict
        Empty: features of matrices are numbered from 0.
    pairs : list
        (X, Y) of each pair of files.
    """
    pairs = []
    for path, labels_path in zip(paths, labels_paths, strict=True):
        pairs.append(read_pair(path, labels_path))
    return {}, pairs


def batches(file: RecordFile, n_features: int, first: int) -> Iterator[CSR]:
    """Yield the features of some instances at a time."""
    X = read_matrix(file.path)
    if X.n_columns != n_features:
        message = f"{X.n_columns} features, the model has {n_features}"
        raise InputError(message, path=file.name, remedy="give instances with these features")
    for low in range(0, X.n_rows, _BATCH_ROWS):
        yield X.part(low, min(low + _BATCH_ROWS, X.n_rows))


def read_pair(path: StrPath, labels_path: StrPath | None = None) -> tuple[CSR, CSR]:
    """Read X (n, d) and Y (n, l), whose file is by default named like that of X, with a Y."""
    if labels_path is None:
        labels_path = _find_labels_file(path)
    X = read_matrix(path)
    Y = read_matrix(labels_path, LABEL_LIMIT)
    if X.n_rows != Y.n_rows:
        message = f"{Y.n_rows} rows of labels for {X.n_rows} rows of features in {path}"
        raise InputError(message, path=labels_path, remedy="correct this file, or give another one")
    _require_ones(Y, labels_path)
    return X, Y


def _require_ones(Y: CSR, path: StrPath) -> None:
    """Refuse labels of other values than 1: votes, weights, and -1 for absent ones."""
    others = np.flatnonzero(Y.data != 1)
    if len(others):
        place = others[0]
        row = np.searchsorted(Y.indptr, place, "right")
        value = Y.data[place]
        raise InputError(
            f"row {row} of the labels has {value:g} for label {Y.indices[place]}, "
            "labels are 1, or 0 if absent",
            path=path,
            remedy="write for example Y > 0 with scipy.sparse.save_npz or numpy.save",
        )


def _find_labels_file(path: StrPath) -> Path:
    """Find the labels of a file of features, such as ``Y.trn.npz`` for ``X.trn.npz``.

    In its name the last X that is not part of a word is a Y.
    """
    name, n_replaced = _LETTER_X.subn(r"\1Y", Path(path).name, count=1)
    if not n_replaced:
        raise InputError(
            "cannot tell where its labels are",
            path=path,
            remedy="name the two files X.npz and Y.npz",
        )
    return Path(path).with_name(name)


def read_matrix(path: StrPath, max_columns: int = ID_LIMIT) -> CSR:
    """Read a matrix of finite numbers, without zeros."""
    with open_seekable(path) as stream:
        try:
            return _convert_matrix(_load_matrix(stream), path, max_columns)
        except UNREADABLE_MATRIX_ERRORS as error:
            reason = str(error)[:300] or type(error).__name__
            message = f"not a matrix of scipy.sparse.save_npz or numpy.save ({reason})"
            raise InputError(message, path=path, remedy="write it with one of these") from None


def _load_matrix(stream: BinaryIO) -> Any:
    """Load an array or a sparse matrix."""
    loaded = np.load(stream, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    if len(loaded.files) == 1:
        return loaded[loaded.files[0]]
    stream.seek(0)
    return scipy.sparse.load_npz(stream)


def _convert_matrix(matrix: Any, path: StrPath, max_columns: int) -> CSR:
    """Check the size and type of a matrix, and convert it."""
    if scipy.sparse.issparse(matrix):
        require_plausible_size(matrix.shape[0], "rows", matrix.nnz, path)
    is_matrix = len(matrix.shape) == 2 and matrix.shape[1] <= max_columns
    if not is_matrix or matrix.dtype.kind not in "biuf":
        raise ValueError(f"shape {matrix.shape}, type {matrix.dtype}")
    if isinstance(matrix, np.ndarray):
        matrix = _make_sparse(matrix)
    return _canonicalize(matrix)


def _make_sparse(array: np.ndarray) -> "scipy.sparse.csr_array":
    """Make a dense array sparse by blocks of rows.

    SciPy would take several times its memory for all rows at once.
    """
    height = _BLOCK_ENTRIES // max(array.shape[1], 1) + 1
    blocks = []
    with np.errstate(over="ignore"):
        for low in range(0, max(len(array), 1), height):
            block = array[low : low + height].astype(np.float32)
            blocks.append(scipy.sparse.csr_array(block))
        return scipy.sparse.vstack(blocks, format="csr")


def _canonicalize(matrix: Any) -> CSR:
    """Convert to CSR without zeros; a damaged file must not reach SciPy's unchecked loops."""
    if hasattr(matrix, "indptr"):
        matrix.check_format(full_check=True)
    with np.errstate(over="ignore"):
        csr = scipy.sparse.csr_array(matrix, dtype=np.float32)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if not np.isfinite(csr.data).all():
        raise ValueError("values that are not finite in 32 bits")
    return from_scipy(csr)
