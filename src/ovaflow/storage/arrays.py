"""Matrices and names in HDF5: contiguous on disk, shared between processes when mapped."""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import CSR


def map_array(dataset):
    """Map a contiguous dataset of an open file into memory.

    The mapping outlives the file handle. Processes that map the same file share
    its pages; a write would go to a private copy of the page and never to the
    file.

    Parameters
    ----------
    dataset : h5py.Dataset

    Returns
    -------
    ndarray
        Same shape and dtype; an ordinary copy where the dataset is compressed.
    """
    offset = dataset.id.get_offset()
    if offset is None or dataset.size == 0:
        return dataset[()]
    # copy-on-write, since kernels are compiled for writable arrays only
    return np.asarray(np.memmap(dataset.file.filename, dataset.dtype, "c", offset, dataset.shape))


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


def read_csr(group, mapped=True):
    """Matrix of a group.

    Parameters
    ----------
    group : h5py.Group
    mapped : bool
        Map the arrays (see :func:`map_array`) instead of copying them.

    Returns
    -------
    CSR

    Raises
    ------
    InputError
        If the three arrays do not fit together.
    """
    load = map_array if mapped else np.asarray
    matrix = CSR(load(group["data"]), load(group["indices"]), load(group["indptr"]), int(group.attrs["n_columns"]))
    nnz = int(matrix.indptr[-1]) if matrix.indptr.size else -1
    if not (matrix.indptr.size and matrix.indptr[0] == 0 and nnz == len(matrix.data) == len(matrix.indices)):
        raise InputError(
            f"{group.name}: arrays of different lengths", path=group.file.filename, remedy="delete it and run again"
        )
    return matrix


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
    offsets = holder["offsets"][()]
    block = map_array(holder["utf8"])
    chosen = range(len(offsets) - 1) if rows is None else rows
    return [block[offsets[i] : offsets[i + 1]].tobytes().decode("utf-8", "surrogatepass") for i in chosen]
