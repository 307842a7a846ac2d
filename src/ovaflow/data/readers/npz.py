"""Pairs of npz or npy files: features and labels, as SciPy's sparse matrices or NumPy's arrays."""

import io
import math
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.data.readers.rows import ID_LIMIT, LABEL_LIMIT
from ovaflow.data.readers.streams import allowed_in_memory, open_seekable
from ovaflow.sparse.csr import CSR, from_scipy

_FOREIGN = (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy and SciPy raise on files that are no matrix."""

_BLOCK = 1 << 20
"""Entries of an array that are looked at together."""


def read(path, labels_path=None):
    """Read a pair, each as ``scipy.sparse.save_npz``, ``numpy.save`` or ``numpy.savez`` (of one array) writes it.

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
    X, Y = _load(path, ID_LIMIT), _load(labels_path, LABEL_LIMIT)
    if X.n_rows != Y.n_rows:
        raise InputError(
            f"{Y.n_rows} rows of labels for {X.n_rows} rows of features in {path}",
            path=labels_path,
            remedy="mend this file, or give another one",
        )
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


def _load(path, most_columns):
    with open_seekable(path) as stream:
        try:
            size = check_sizes(stream)
            array = _array(stream)
            if array is None:
                stream.seek(0)
                array = scipy.sparse.load_npz(stream)
            _check_kind(array, most_columns, allowed_in_memory(size))
            return _without_zeros(array) if isinstance(array, np.ndarray) else from_scipy(_checked(array))
        except _FOREIGN as error:
            raise InputError(
                f"no matrix of scipy.sparse.save_npz or numpy.save ({error or type(error).__name__})",
                path=path,
                remedy="write it with one of these",
            ) from None


def check_sizes(stream):
    """See that a file's headers promise what it has, since NumPy makes room for what they promise.

    Parameters
    ----------
    stream : binary file
        Of ``numpy.save`` or ``numpy.savez``; left at its beginning.

    Returns
    -------
    int
        Its size.

    Raises
    ------
    ValueError, zipfile.BadZipFile, and others of NumPy
        If they do not, or if it unpacks to far more than it takes.
    """
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    if stream.read(2) != b"PK":
        stream.seek(0)
        _check_header(stream, size)
    else:
        with zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > allowed_in_memory(size):
                raise ValueError(f"unpacks to more than {allowed_in_memory(size):,} bytes")
            for member in members:
                with archive.open(member) as content:
                    _check_header(content, member.file_size)
    stream.seek(0)
    return size


def _check_header(stream, size):
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format")
    shape, _, dtype = _HEADERS[version](stream)
    if not all(isinstance(count, int) and count >= 0 for count in shape):
        raise ValueError(f"shape {shape}")
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise ValueError(f"the header promises {shape} values of type {dtype}, the file has other {size:,} bytes")


_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def _array(stream):
    """The array of numpy.save, or the only one of numpy.savez; None if it is neither."""
    loaded = np.load(stream, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    return loaded[loaded.files[0]] if len(loaded.files) == 1 else None


def _without_zeros(array):
    """CSR of a dense array, by blocks of rows: SciPy would take several times its memory."""
    n, d = array.shape
    indptr = np.zeros(n + 1, np.int64)
    blocks = [slice(low, low + _BLOCK // max(d, 1) + 1) for low in range(0, n, _BLOCK // max(d, 1) + 1)]
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


def _checked(matrix):
    """CSR without zeros; a file that lies about its arrays must not reach SciPy's unchecked loops."""
    if hasattr(matrix, "indptr"):
        matrix.check_format(full_check=True)
    with np.errstate(over="ignore"):
        csr = scipy.sparse.csr_array(matrix, dtype=np.float32)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    _check_finite(csr.data)
    return csr


def _check_kind(matrix, most_columns, allowed):
    if len(matrix.shape) != 2:
        raise ValueError(f"{len(matrix.shape)} dimensions instead of 2")
    n, d = matrix.shape
    # a row takes 8 bytes, and coordinates alone can promise any number of them
    if n > min(ID_LIMIT, allowed // 8) or d > most_columns or matrix.dtype.kind not in "biuf":
        raise ValueError(f"shape {matrix.shape}, type {matrix.dtype}")


def _check_finite(data):
    if not np.isfinite(data).all():
        raise ValueError("values that are not finite in 32 bits")
