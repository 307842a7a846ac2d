"""Arrays, matrices and names in artifacts: contiguous on disk, shared between processes when mapped."""

import math
import mmap
import os

import h5py
import numpy as np
from xxhash import xxh3_128

from ovaflow.sparse.csr import CSR
from ovaflow.storage.damage import damaged, text_of

PAGE = 4096

LARGEST_ID = 2**31 - 1
"""Of labels and features."""

_BLOCK = 1 << 20
_ROOM_FOR_METADATA = 1 << 16

_CONTIGUOUS = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
_CONTIGUOUS.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
_CONTIGUOUS.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
_CONTIGUOUS.set_obj_track_times(False)


def reserve(file, nbytes):
    """Have the disk keep room behind what is written: HDF5 does not survive it where there is none."""
    os.posix_fallocate(file.id.get_vfd_handle(), file.id.get_filesize(), nbytes + _ROOM_FOR_METADATA)


def create_array(group, name, data=None, shape=None, dtype=None):
    """Store an array in a group, or make room for one that is written part by part; returns the h5py dataset."""
    if data is not None:
        data = np.asarray(data, dtype)
        shape, dtype = data.shape, data.dtype
    reserve(group.file, math.prod(shape) * np.dtype(dtype).itemsize)
    stored = group.create_dataset(name, shape, dtype, data=data, dcpl=_CONTIGUOUS)
    stored.attrs["xxh3"] = np.bytes_(b"0" * 32)
    return stored


def checksum_of_array(array, check=None):
    """Checksum of an array in a file, read block by block; each is checked while it is in the processor's cache."""
    digest = xxh3_128()
    for block in _blocks(array):
        digest.update(block)
        if check is not None:
            check(block)
    return digest.hexdigest()


def _mappable_offset(array):
    """First byte of an array in its file; None of small ones, and where other programs packed or did not align it."""
    offset = array.id.get_offset()
    return None if offset is None or array.nbytes < PAGE or offset % array.dtype.itemsize else offset


def _blocks(array):
    offset = _mappable_offset(array)
    if offset is None:
        if array.size:
            yield array[()].reshape(-1)
        return
    handle, end = array.file.id.get_vfd_handle(), offset + array.nbytes
    buffer = memoryview(bytearray(min(_BLOCK, array.nbytes)))
    while offset < end:
        part = buffer[: end - offset]
        if os.preadv(handle, [part], offset) != len(part):
            raise damaged(array, f"{array.name} is cut short")
        yield np.frombuffer(part, array.dtype)
        offset += len(part)


def check_finite(values):
    """ValueError that names a number which is not finite."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(values[~np.isfinite(values)][0])


def map_array(array, low=None, high=None, compare=True):
    """Map an array of an open artifact; processes share its pages, and a write changes the process's own page alone.

    It is compared with its checksum, unless this process has done so already. Bounds guard kernels that use values as
    places of other arrays.
    """
    if compare:

        def check(values):
            if (low is not None and not values.min() >= low) or (high is not None and not values.max() <= high):
                raise damaged(array, f"{array.name} holds {values.min()} to {values.max()}")

        _compare(array, checksum_of_array(array, check))
    offset = _mappable_offset(array)
    if offset is None:
        return array[()]
    start = offset % mmap.ALLOCATIONGRANULARITY
    # copy-on-write, since kernels are compiled for writable arrays only
    length, access = array.nbytes + start, mmap.ACCESS_COPY
    pages = mmap.mmap(array.file.id.get_vfd_handle(), length, access=access, offset=offset - start)
    return np.frombuffer(pages, array.dtype, array.size, start).reshape(array.shape)


def read_into(array, out):
    """Read an array of an open artifact into memory that is there already."""
    if array.size:
        array.read_direct(out)
    _compare(array, xxh3_128(out).hexdigest())


def _compare(array, checksum):
    if checksum != text_of(array, "xxh3"):
        raise damaged(array, f"values of {array.name} do not match their checksum")


def map_vector(array, dtype, low=None, high=None, ndim=1, compare=True):
    """Map an array that must be of some type; see :func:`map_array`."""
    if array.dtype != dtype or array.ndim != ndim:
        raise damaged(array, f"{array.name} is of type {array.dtype} with {array.ndim} axes")
    return map_array(array, low, high, compare)


def read_offsets(array, compare=True):
    """Where parts of an array begin, mapped: int64 of shape (parts + 1,), from 0, never falling."""
    offsets = map_vector(array, np.int64, compare=compare)
    if not len(offsets) or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        raise damaged(array, f"{array.name} does not rise from 0")
    return offsets


def write_csr(group, matrix):
    """Store a matrix in a group."""
    group.attrs["n_columns"] = np.int64(matrix.n_columns)
    for name, array in zip(("data", "indices", "indptr"), matrix.arrays, strict=True):
        create_array(group, name, array)


def read_csr(group, compare=True):
    """Matrix of a group, mapped."""
    n_columns, indptr = number_of(group, "n_columns", 0, LARGEST_ID), read_offsets(group["indptr"], compare)
    data = map_vector(group["data"], np.float32, compare=compare)
    indices = map_vector(group["indices"], np.int32, 0, n_columns - 1, compare=compare)
    if not indptr[-1] == len(data) == len(indices):
        raise damaged(group, f"{group.name}: arrays of different lengths")
    return CSR(data, indices, indptr, n_columns)


def amount_of(group, name="core_seconds"):
    """Amount among the attributes of a group: finite, not negative."""
    value = float(group.attrs[name])
    if not 0 <= value < math.inf:
        raise damaged(group, f"{name} is not an amount")
    return value


def number_of(group, name, low, high=2**62):
    """Whole number among the attributes of a group."""
    value = int(group.attrs[name])
    if not low <= value <= high:
        raise damaged(group, f"{name} is {value}, not from {low} to {high}")
    return value


def write_strings(group, name, strings):
    """Store texts as one block of UTF-8 and their offsets."""
    block, offsets = bytearray(), np.zeros(len(strings) + 1, np.int64)
    for number, text in enumerate(strings):
        block += text.encode("utf-8", "surrogatepass")
        offsets[number + 1] = len(block)
    holder = group.create_group(name)
    create_array(holder, "utf8", np.frombuffer(block, np.uint8))
    create_array(holder, "offsets", offsets)


def check_strings(group, name, *lengths):
    """Refuse a file whose texts, if it has any, are of none of these numbers."""
    if name in group and group[name]["offsets"].size - 1 not in lengths:
        raise damaged(group, f"{group[name]['offsets'].size - 1:,} {name}, expected {lengths[-1]:,}")


def read_strings(group, name, rows=None):
    """Texts stored by :func:`write_strings`, or those of some rows."""
    offsets, block = read_offsets(group[name]["offsets"]), map_vector(group[name]["utf8"], np.uint8)
    if offsets[-1] != len(block):
        raise damaged(group, f"{name}: arrays of different lengths")
    chosen = range(len(offsets) - 1) if rows is None else rows
    return [block[offsets[i] : offsets[i + 1]].tobytes().decode("utf-8", "surrogatepass") for i in chosen]
