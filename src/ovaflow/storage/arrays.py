"""Matrices and names in HDF5: contiguous on disk, shared between processes when mapped."""

import math

import numpy as np

from ovaflow.machine.room import require_room
from ovaflow.sparse.csr import CSR

LARGEST_ID = 2**31 - 1
"""Of labels and features."""

_BYTES_OF_A_COLUMN = 16
"""Whatever uses a matrix has arrays of its number of columns: an index takes so much, training more."""


def map_array(array, low=None, high=None):
    """Map an array of an open artifact into memory; see :meth:`ovaflow.storage.container.StoredArray.mapped`.

    Parameters
    ----------
    array : StoredArray
    low, high : number, optional
        Least and largest value that may be in it.

    Returns
    -------
    ndarray
        Same shape and dtype.
    """
    return array.mapped(low, high)


def write_csr(group, matrix):
    """Store a matrix in a group.

    Parameters
    ----------
    group : h5py.Group
    matrix : CSR
    """
    group.attrs["n_columns"] = np.int64(matrix.n_columns)
    for name, array in zip(("data", "indices", "indptr"), matrix.arrays, strict=True):
        group.create_dataset(name, data=array)


def read_csr(group, ascending=True, low=None):
    """Matrix of a group, mapped.

    Parameters
    ----------
    group : Stored
    ascending : bool
        Whether columns must ascend within a row.
    low : float, optional
        Least value that may be in it.

    Returns
    -------
    CSR

    Raises
    ------
    InputError
        If the three arrays do not fit together, or a value cannot be.
    """
    n_columns = number_of(group, "n_columns", 0, LARGEST_ID)
    require_room(n_columns, _BYTES_OF_A_COLUMN, "columns", group.path)
    indptr = read_offsets(group["indptr"])
    order = _Order(indptr) if ascending else None
    data = map_vector(group["data"], np.float32, low)
    indices = map_vector(group["indices"], np.int32, 0, n_columns - 1, visit=order)
    if not indptr[-1] == len(data) == len(indices):
        raise group.damaged(f"{group.name}: arrays of different lengths")
    if ascending and not order.holds:
        raise group.damaged(f"columns of {group.name} do not ascend")
    return CSR(data, indices, indptr, n_columns)


class _Order:
    """Whether columns ascend within rows, seen block by block: where they do not, a row must begin."""

    def __init__(self, indptr):
        self.holds, self._starts, self._last, self._done = True, indptr, -1, 0

    def __call__(self, values):
        falls = self._done + 1 + np.flatnonzero(values[1:] <= values[:-1])
        if values[0] <= self._last:
            falls = np.append(falls, self._done)
        places = np.minimum(np.searchsorted(self._starts, falls), len(self._starts) - 1)
        self.holds &= bool((self._starts[places] == falls).all())
        self._last, self._done = values[-1], self._done + len(values)


def read_offsets(array):
    """Where parts of an array begin, mapped.

    Parameters
    ----------
    array : StoredArray

    Returns
    -------
    ndarray of int64, shape (parts + 1,)
        From 0, never falling.
    """
    offsets = map_vector(array, np.int64)
    if not len(offsets) or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        raise array.damaged(f"{array.name} does not rise from 0")
    return offsets


def map_vector(array, dtype, low=None, high=None, ndim=1, visit=None):
    """Map an array that must be of some type.

    Parameters
    ----------
    array : StoredArray
    dtype : numpy type
    low, high : number, optional
        See :func:`map_array`.
    ndim : int
    visit : callable, optional
        See :func:`map_array`.

    Returns
    -------
    ndarray
    """
    if array.dtype != dtype or array.ndim != ndim:
        raise array.damaged(f"{array.name} is of type {array.dtype} with {array.ndim} axes")
    return array.mapped(low, high, visit)


def amount_of(group, name="core_seconds"):
    """Amount among the attributes of a group.

    Parameters
    ----------
    group : Stored
    name : str

    Returns
    -------
    float
        Finite, not negative.
    """
    value = group.attrs[name]
    if isinstance(value, str) or not 0 <= value < math.inf:
        raise group.damaged(f"{name} is no amount")
    return float(value)


def number_of(group, name, low, high=2**62):
    """Whole number among the attributes of a group.

    Parameters
    ----------
    group : Stored
    name : str
    low, high : int

    Returns
    -------
    int
    """
    value = group.attrs[name]
    if type(value) is not int or not low <= value <= high:
        raise group.damaged(f"{name} is no whole number from {low} to {high}")
    return value


def write_strings(group, name, strings):
    """Store texts as one block of UTF-8 and their offsets.

    Parameters
    ----------
    group : h5py.Group
    name : str
    strings : sequence of str
    """
    block, offsets = bytearray(), np.zeros(len(strings) + 1, np.int64)
    for number, text in enumerate(strings):
        block += text.encode("utf-8", "surrogatepass")
        offsets[number + 1] = len(block)
    holder = group.create_group(name)
    holder.create_dataset("utf8", data=np.frombuffer(block, np.uint8))
    holder.create_dataset("offsets", data=offsets)


def check_strings(group, name, *lengths):
    """Refuse a file whose texts, if it has any, are more or fewer than they must be.

    Parameters
    ----------
    group : Stored
    name : str
    *lengths : int
        Numbers of texts that are right.

    Raises
    ------
    InputError
    """
    if name in group and group[name]["offsets"].size - 1 not in lengths:
        raise group.damaged(f"{group[name]['offsets'].size - 1:,} {name}, expected {lengths[-1]:,}")


def read_strings(group, name, rows=None):
    """Texts stored by :func:`write_strings`.

    Parameters
    ----------
    group : h5py.Group
    name : str
    rows : sequence of int, optional
        Only these, in this order.

    Returns
    -------
    list of str
    """
    holder = group[name]
    offsets = read_offsets(holder["offsets"])
    block = map_vector(holder["utf8"], np.uint8)
    if offsets[-1] != len(block):
        raise holder.damaged(f"{holder.name}: arrays of different lengths")
    chosen = range(len(offsets) - 1) if rows is None else rows
    return [_decoded(holder, block[offsets[i] : offsets[i + 1]]) for i in chosen]


def _decoded(holder, block):
    try:
        return block.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise holder.damaged(f"{holder.name} is no UTF-8") from None
