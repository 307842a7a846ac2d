"""Arrays, matrices and names in artifacts: contiguous on disk, shared between processes when
mapped.
"""

import errno
import itertools
import math
import mmap
import os
import resource
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self, overload

import h5py
import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from xxhash import xxh3_128

from ovaflow.sparse.csr import CSR, offsets
from ovaflow.storage.errors import damage_error
from ovaflow.storage.text_numbers import TextNumbers

PAGE_BYTES = 4096
"""Alignment of large arrays in a file, the size of a page of memory."""

_HASHED_BYTES = 1 << 18
"""Bytes that are hashed and checked together: they stay in a core's own cache in between."""

_METADATA_BYTES = 1 << 16
"""Free space for HDF5's metadata, more than one array needs."""

_CONTIGUOUS = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
_CONTIGUOUS.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
_CONTIGUOUS.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
_CONTIGUOUS.set_obj_track_times(False)


def require_space(file: h5py.File, nbytes: int) -> None:
    """Raise the error of a full disk or of a limit before HDF5 meets it, which would crash."""
    handle = file.id.get_vfd_handle()
    needed = nbytes + _METADATA_BYTES
    disk = os.fstatvfs(handle)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if needed > disk.f_bavail * disk.f_frsize:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if limit != resource.RLIM_INFINITY and file.id.get_filesize() + needed > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))


def create_array(
    group: h5py.Group,
    name: str,
    data: ArrayLike | None = None,
    shape: tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    *,
    infinite: bool = False,
) -> h5py.Dataset:
    """Store an array, or allocate one that is written part by part.

    Parameters
    ----------
    group : h5py.Group
        Group, or file, to which the array is added.
    name : str
        Name of the array in the group.
    data : array_like, optional
        Values. Without them the array has the ``shape`` and ``dtype`` given and no values yet.
    shape : tuple of int, optional
        Shape of an array without values.
    dtype : dtype, optional
        Type of the stored values; by default that of ``data``.
    infinite : bool, default=False
        Whether infinite values and NaN may be stored.

    Returns
    -------
    stored : h5py.Dataset
        The array in the file, sealed by its checksum if it has values.

    Raises
    ------
    NotFiniteError
        If a value is not finite, unless ``infinite``.
    OSError
        If the disk is full, or the file would be larger than the system allows.
    """
    if data is not None:
        data = np.asarray(data, dtype, order="C")
        shape = data.shape
        dtype = data.dtype
    assert shape is not None
    require_space(group.file, math.prod(shape) * np.dtype(dtype).itemsize)
    stored = group.create_dataset(name, shape, dtype, data=data, dcpl=_CONTIGUOUS)
    if data is not None:
        seal_array(stored, data, infinite=infinite)
    return stored


class NotFiniteError(ValueError):
    """A number that is not finite in an array to be written."""


def seal_array(stored: h5py.Dataset, values: np.ndarray, *, infinite: bool = False) -> None:
    """Write the checksum of an array's values, which must be finite unless ``infinite``."""
    digest = xxh3_128()
    must_be_finite = values.dtype.kind == "f" and not infinite
    for block in _split_blocks(values):
        digest.update(block.data)
        if must_be_finite and not np.isfinite(block).all():
            number = block[~np.isfinite(block)][0]
            raise NotFiniteError(f"{stored.name[1:]} holds {number}")
    stored.attrs["xxh3"] = np.bytes_(digest.hexdigest())


def _split_blocks(values: np.ndarray) -> Iterator[np.ndarray]:
    flat = values.reshape(-1)
    length = _HASHED_BYTES // values.itemsize
    for start in range(0, len(flat), length):
        yield flat[start : start + length]


def read_attribute_bytes(attribute: h5py.h5a.AttrID) -> bytes:
    """Read the bytes of an attribute.

    h5py's conversions would take longer than all other steps of opening a small file.
    """
    stored = attribute.get_type()
    value = np.empty(attribute.shape, f"V{stored.get_size()}")
    attribute.read(value, stored)
    return value.tobytes()


def read_or_map(array: h5py.Dataset) -> tuple[np.ndarray, mmap.mmap | None]:
    """Return the values of an array in a file, and their map.

    Small arrays and compressed ones are read; they have no map.
    """
    offset = array.id.get_offset()
    if offset is None or array.nbytes < PAGE_BYTES or offset % array.dtype.itemsize:
        return array[()], None
    start = offset % mmap.ALLOCATIONGRANULARITY
    # copy-on-write, since kernels are compiled for writable arrays only
    handle = h5py.h5i.get_file_id(array.id).get_vfd_handle()
    length = array.nbytes + start
    pages = mmap.mmap(handle, length, access=mmap.ACCESS_COPY, offset=offset - start)
    values = np.frombuffer(pages, array.dtype, array.size, start).reshape(array.shape)
    return values, pages


def map_array(array: h5py.Dataset, *, compare: bool = True) -> np.ndarray:
    """Map an array of an open artifact.

    Processes share its pages, and a write changes only the process's own page.

    Parameters
    ----------
    array : h5py.Dataset
        The array in the file.
    compare : bool, default=True
        Whether the values are compared with their checksum; not needed where this process has done
        so before.

    Returns
    -------
    values : ndarray
        The values.

    Raises
    ------
    InputError
        If the values do not match their checksum.
    """
    values, pages = read_or_map(array)
    if compare:
        _verify_checksum(array, values)
        if pages is not None:
            # pages that are used later come from the page cache again
            pages.madvise(mmap.MADV_DONTNEED)
    return values


def read_into(array: h5py.Dataset, out: np.ndarray) -> None:
    """Read an array of an open artifact into existing memory."""
    if array.size:
        array.read_direct(out)
    _verify_checksum(array, out)


def _verify_checksum(array: h5py.Dataset, values: np.ndarray) -> None:
    digest = xxh3_128()
    for block in _split_blocks(values):
        digest.update(block.data)
    stored = read_attribute_bytes(h5py.h5a.open(array.id, b"xxh3"))
    if stored != digest.hexdigest().encode():
        raise damage_error(array, f"values of {array.name} do not match their checksum")


def write_csr(group: h5py.Group, matrix: CSR) -> None:
    """Store a sparse matrix as the arrays of a group."""
    group.attrs["n_columns"] = np.int64(matrix.n_columns)
    create_array(group, "data", matrix.data)
    create_array(group, "indices", matrix.indices)
    create_array(group, "indptr", matrix.indptr)
    if matrix.places is not None:
        create_array(group, "places", matrix.places)


def read_csr(group: h5py.Group, *, compare: bool = True) -> CSR:
    """Map the matrix that :func:`write_csr` stored; ``compare`` as in :func:`map_array`."""
    places = None
    if "places" in group:
        places = map_array(group["places"], compare=compare)
    return CSR(
        data=map_array(group["data"], compare=compare),
        indices=map_array(group["indices"], compare=compare),
        indptr=map_array(group["indptr"], compare=compare),
        n_columns=int(group.attrs["n_columns"]),
        places=places,
    )


def write_strings(group: h5py.Group, name: str, strings: Sequence[str]) -> None:
    """Store texts as one block of UTF-8 and their offsets."""
    encoded = Strings.encode(strings)
    holder = group.create_group(name)
    create_array(holder, "utf8", encoded.block)
    create_array(holder, "offsets", encoded.offsets)


class Strings(Sequence[str]):
    """Texts in one block of memory, such as :func:`write_strings` stored, each decoded on demand.

    Parameters
    ----------
    block : ndarray of uint8
        All texts in UTF-8, one after the other.
    offsets : ndarray of int64, shape (n + 1,)
        Text i has the bytes offsets[i] to offsets[i + 1].
    """

    def __init__(self, block: np.ndarray, offsets: np.ndarray) -> None:
        self.block = block
        self.offsets = offsets

    @classmethod
    def encode(cls, texts: Iterable[str]) -> Self:
        """Encode texts."""
        block = bytearray()
        lengths = []
        for text in texts:
            encoded = text.encode("utf-8", "surrogatepass")
            block += encoded
            lengths.append(len(encoded))
        return cls(np.frombuffer(block, np.uint8), offsets(lengths))

    @cached_property
    def numbers(self) -> TextNumbers:
        """The number of each text by the text."""
        return TextNumbers(self.block, self.offsets)

    def beginning_with(self, letter: str) -> list[int]:
        """Find the numbers of the texts that begin with an ASCII letter."""
        filled = np.flatnonzero(np.diff(self.offsets))
        return filled[self.block[self.offsets[filled]] == ord(letter)].tolist()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        start = self.offsets[number]
        end = self.offsets[number + 1]
        return _decode_text(self.block[start:end].tobytes())

    def __iter__(self) -> Iterator[str]:
        all_bytes = self.block.tobytes()
        for start, end in itertools.pairwise(self.offsets.tolist()):
            yield _decode_text(all_bytes[start:end])

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, list | Strings):
            return NotImplemented
        return list(self) == list(other)


def _decode_text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def read_strings(group: h5py.Group, name: str) -> Strings:
    """Map the texts that :func:`write_strings` stored; each is decoded when it is asked for."""
    holder = group[name]
    return Strings(map_array(holder["utf8"]), map_array(holder["offsets"]))
