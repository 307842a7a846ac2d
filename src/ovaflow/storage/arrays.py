"""Arrays, matrices and names in artifacts: contiguous on disk, shared between processes when
mapped.
"""

import errno
import itertools
import math
import mmap
import os
import resource
from collections.abc import Sequence
from functools import cached_property

import h5py
import numpy as np
from xxhash import xxh3_128

from ovaflow.sparse.csr import CSR
from ovaflow.storage.errors import damage_error
from ovaflow.storage.text_numbers import TextNumbers

PAGE_BYTES = 4096

# bytes that stay in a core's own cache between hashing and checking
_HASHED_BYTES = 1 << 18
_METADATA_BYTES = 1 << 16

_CONTIGUOUS = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
_CONTIGUOUS.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
_CONTIGUOUS.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
_CONTIGUOUS.set_obj_track_times(False)


def require_space(file, nbytes) -> None:
    """Raise the error of a full disk or of a limit before HDF5 meets it, which would crash."""
    handle = file.id.get_vfd_handle()
    needed = nbytes + _METADATA_BYTES
    disk = os.fstatvfs(handle)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if needed > disk.f_bavail * disk.f_frsize:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if limit != resource.RLIM_INFINITY and file.id.get_filesize() + needed > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))


def create_array(group, name, data=None, shape=None, dtype=None, infinite=False):
    """Store an array, or make room for one that is written part by part; returns the dataset."""
    if data is not None:
        data = np.asarray(data, dtype, order="C")
        shape = data.shape
        dtype = data.dtype
    require_space(group.file, math.prod(shape) * np.dtype(dtype).itemsize)
    stored = group.create_dataset(name, shape, dtype, data=data, dcpl=_CONTIGUOUS)
    if data is not None:
        seal_array(stored, data, infinite)
    return stored


class NotFiniteError(ValueError):
    """A number that is not finite in an array to be written."""


def seal_array(stored, values, infinite=False) -> None:
    """Write the checksum of an array's values, which must be finite."""
    digest = xxh3_128()
    must_be_finite = values.dtype.kind == "f" and not infinite
    for block in _blocks(values):
        digest.update(block)
        if must_be_finite and not np.isfinite(block).all():
            number = block[~np.isfinite(block)][0]
            raise NotFiniteError(f"{stored.name[1:]} holds {number}")
    stored.attrs["xxh3"] = np.bytes_(digest.hexdigest())


def _blocks(values):
    flat = values.reshape(-1)
    length = _HASHED_BYTES // values.itemsize
    for start in range(0, len(flat), length):
        yield flat[start : start + length]


def read_attribute_bytes(attribute):
    """Bytes of an attribute; h5py's conversions would take longer than all else in opening a small
    file.
    """
    stored = attribute.get_type()
    value = np.empty(attribute.shape, f"V{stored.get_size()}")
    attribute.read(value, stored)
    return value.tobytes()


def read_or_map(array):
    """Values of an array in a file, and their map; small and compressed arrays have none."""
    offset = array.id.get_offset()
    if offset is None or array.nbytes < PAGE_BYTES or offset % array.dtype.itemsize:
        return array[()], None
    start = offset % mmap.ALLOCATIONGRANULARITY
    # copy-on-write, since kernels are compiled for writable arrays only
    handle = h5py.h5i.get_file_id(array.id).get_vfd_handle()
    length = array.nbytes + start
    pages = mmap.mmap(handle, length, access=mmap.ACCESS_COPY, offset=offset - start)
    return np.frombuffer(pages, array.dtype, array.size, start).reshape(array.shape), pages


def map_array(array, compare=True):
    """Map an array of an open artifact; processes share its pages, and a write changes only the
    process's own page.

    ``compare`` is false where this process has compared it with its checksum before.
    """
    values, pages = read_or_map(array)
    if compare:
        _compare(array, values)
        if pages is not None:
            # what is used of them comes from the page cache again
            pages.madvise(mmap.MADV_DONTNEED)
    return values


def read_into(array, out) -> None:
    """Read an array of an open artifact into memory that exists."""
    if array.size:
        array.read_direct(out)
    _compare(array, out)


def _compare(array, values) -> None:
    digest = xxh3_128()
    for block in _blocks(values):
        digest.update(block)
    if read_attribute_bytes(h5py.h5a.open(array.id, b"xxh3")) != digest.hexdigest().encode():
        raise damage_error(array, f"values of {array.name} do not match their checksum")


def write_csr(group, matrix) -> None:
    group.attrs["n_columns"] = np.int64(matrix.n_columns)
    for name, array in zip(("data", "indices", "indptr"), matrix.arrays, strict=True):
        create_array(group, name, array)
    if matrix.places is not None:
        create_array(group, "places", matrix.places)


def read_csr(group, compare=True):
    arrays = (map_array(group[name], compare) for name in ("data", "indices", "indptr"))
    places = map_array(group["places"], compare) if "places" in group else None
    return CSR(*arrays, int(group.attrs["n_columns"]), places)


def write_strings(group, name, strings) -> None:
    """Store texts as one block of UTF-8 and their offsets."""
    block = bytearray()
    offsets = np.zeros(len(strings) + 1, np.int64)
    for number, text in enumerate(strings):
        block += text.encode("utf-8", "surrogatepass")
        offsets[number + 1] = len(block)
    holder = group.create_group(name)
    create_array(holder, "utf8", np.frombuffer(block, np.uint8))
    create_array(holder, "offsets", offsets)


class Strings(Sequence):
    """Texts stored by :func:`write_strings`, mapped, each decoded on demand."""

    def __init__(self, block, offsets) -> None:
        self._block = block
        self._offsets = offsets

    @cached_property
    def numbers(self):
        """The number of each text by the text."""
        return TextNumbers(self._block, self._offsets)

    def beginning_with(self, letter):
        """Places of the texts that begin with an ASCII letter, a list."""
        filled = np.flatnonzero(np.diff(self._offsets))
        return filled[self._block[self._offsets[filled]] == ord(letter)].tolist()

    def __len__(self):
        return len(self._offsets) - 1

    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return _decoded(self._block[self._offsets[place] : self._offsets[place + 1]].tobytes())

    def __iter__(self):
        whole = self._block.tobytes()
        return (
            _decoded(whole[start:end]) for start, end in itertools.pairwise(self._offsets.tolist())
        )

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, list | Strings) else NotImplemented


def _decoded(content):
    return content.decode("utf-8", "surrogatepass")


def read_strings(group, name):
    return Strings(map_array(group[name]["utf8"]), map_array(group[name]["offsets"]))
