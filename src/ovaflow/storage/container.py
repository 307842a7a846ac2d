"""How an artifact lies on disk: a page of header, the HDF5 file, and a table of contents.

===============  ======================================================================
bytes            what
===============  ======================================================================
0 to 4095        header: format version, place and checksum of the table; zeros
4096 onwards     an HDF5 file, of which the header is the user block
at the end       the table of contents, JSON: all attributes, and of each array its
                 type, shape, place and checksum
===============  ======================================================================

Other programs read the HDF5 file. ovaflow reads what the table says and never
gives a file to libhdf5, which was not made for files of strangers: no filter,
link, or object header is ever interpreted. Checksums are XXH3 of 128 bits. They
tell damage, not malice, so that whatever the table says is checked as well.

The table's checksum is the artifact's: through the checksums in it, it stands for
every byte of the content. Opening a file reads the header, the table and the few bytes
between arrays; an array is read, at the speed of memory, when it is first asked for,
so that a file of which little is needed costs little. Nothing remembers that a file
was sound: a job that trains on 10 GB of features reads them through many times anyway.
"""

import json
import math
import os
import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_128

from ovaflow.console.errors import InputError
from ovaflow.storage.remedies import remake

PAGE = 4096
FORMAT_VERSION = 2

LARGEST_TABLE = 1 << 22
"""Bytes; that of an index of 10 million labels has 200,000."""

DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")

MAGIC = b"ovaflow artifact "

_HDF5 = b"\x89HDF"
_BLOCK = 1 << 20
_HEADER = re.compile(MAGIC + rb"(\d{1,9})\ncontents (\d{1,18}) (\d{1,9})\nchecksum ([0-9a-f]{32})\n\0*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*")


def header_of(start, length, checksum):
    """The first page of a file.

    Parameters
    ----------
    start, length : int
        Of the table of contents.
    checksum : str
        Of the table of contents.

    Returns
    -------
    bytes
    """
    lines = f"ovaflow artifact {FORMAT_VERSION}\ncontents {start} {length}\nchecksum {checksum}\n"
    return lines.encode("ascii").ljust(PAGE, b"\0")


class Damaged(Exception):
    """A file is not what it says; the message tells how."""


class Placed(NamedTuple):
    """Where an array lies in a file that is being written."""

    name: str
    dtype: np.dtype
    shape: tuple
    offset: int

    @property
    def nbytes(self):
        """Its bytes."""
        return self.dtype.itemsize * math.prod(self.shape)


def seal(path, about, arrays, infinite=()):
    """Add table of contents and header to a file of HDF5 with an empty user block.

    Parameters
    ----------
    path : path-like
    about : dict
        ``kind``, ``ovaflow_version``, ``parameters``, ``inputs`` and ``groups``.
    arrays : list of Placed
    infinite : collection of str
        Names of arrays in which infinity has a meaning.

    Raises
    ------
    Damaged
        If an array or an attribute holds nan, or infinity and is not named; if the table is too large.
    """
    with open(path, "r+b", buffering=0) as handle:
        start, entries = handle.seek(0, os.SEEK_END), {}
        for array in arrays:
            bounds = (-np.inf, np.inf) if array.name in infinite else ()
            checksum = checked_blocks(handle, array, *bounds)
            entries[array.name] = [array.dtype.str, list(array.shape), array.offset, checksum]
        table = about | {"arrays": entries, "rest": rest_checksum(handle, arrays, start)}
        try:
            text = json.dumps(table, sort_keys=True, allow_nan=False).encode()
        except ValueError:
            raise Damaged("a number among its attributes or settings is not finite") from None
        if len(text) > LARGEST_TABLE:
            raise Damaged(f"its settings take {len(text):,} bytes")
        os.pwrite(handle.fileno(), text, start)
        os.pwrite(handle.fileno(), header_of(start, len(text), xxh3_128(text).hexdigest()), 0)


class Stored:
    """An open artifact, or a group in it.

    Attributes
    ----------
    path : path-like
        Of the file.
    name : str
        Of the group, empty for the whole file.
    attrs : dict
        Attributes of the group: numbers and texts.
    """

    def __init__(self, artifact, name=""):
        self._artifact, self.name, self.path = artifact, name, artifact.path
        self.attrs = _Entries(artifact.groups.get(name, {}), self, "attribute ")

    def __getitem__(self, name):
        whole = f"{self.name}/{name}".lstrip("/")
        if whole in self._artifact.arrays:
            return self._artifact.arrays[whole]
        if whole in self._artifact.groups:
            return Stored(self._artifact, whole)
        raise self.damaged(f"{whole} is missing")

    def __contains__(self, name):
        whole = f"{self.name}/{name}".lstrip("/")
        return whole in self._artifact.arrays or whole in self._artifact.groups

    def items(self):
        """Names and what they stand for, by name."""
        known, start = {*self._artifact.arrays, *self._artifact.groups}, f"{self.name}/".lstrip("/")
        names = {whole.removeprefix(start).split("/")[0] for whole in known if whole and whole.startswith(start)}
        return [(name, self[name]) for name in sorted(names)]

    @property
    def known(self):
        """Whether the file has been read already, see :class:`Artifact`."""
        return self._artifact.known

    @property
    def checksum(self):
        """Of the whole artifact."""
        return self._artifact.checksum

    @property
    def contents(self):
        """The table of contents."""
        return self._artifact.table

    def damaged(self, message):
        """The error that says what is wrong with the file, and how to make it anew.

        Parameters
        ----------
        message : str

        Returns
        -------
        InputError
        """
        return self._artifact.damaged(message)


class _Entries(dict):
    """Attributes; one that is missing is said in one line."""

    def __init__(self, entries, group, what):
        super().__init__(entries)
        self._group, self._what = group, what

    def __missing__(self, name):
        raise self._group.damaged(f"{self._what}{self._group.name}/{name} is missing")


class StoredArray:
    """An array of an open artifact; it is compared with its checksum whenever it is read.

    Attributes
    ----------
    name : str
    dtype : numpy.dtype
    shape : tuple of int
    offset : int
        Of its first byte in the file.
    nbytes : int
    """

    def __init__(self, artifact, name, entry):
        self._artifact, self.name = artifact, name
        self.dtype, self.shape, self.offset, self.nbytes, self._checksum = _checked_entry(entry, artifact.start)

    @property
    def size(self):
        """Number of values."""
        return self.nbytes // self.dtype.itemsize

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.shape)

    def __getitem__(self, key):
        if key != ():
            raise TypeError("an array of an artifact is read whole, as [()], or mapped")
        return self.copied()

    def copied(self, low=None, high=None, visit=None):
        """The array in memory of its own.

        Parameters
        ----------
        low, high, visit
            See :meth:`mapped`.

        Returns
        -------
        ndarray
        """
        array = np.empty(self.shape, self.dtype)
        self.read_direct(array, low, high, visit)
        return array

    def read_direct(self, out, low=None, high=None, visit=None):
        """Read into an array that is there already.

        Parameters
        ----------
        out : ndarray
            Contiguous, as large as the array.
        low, high, visit
            See :meth:`mapped`.
        """
        self._check(low, high, memoryview(out.reshape(-1)).cast("B") if out.size else memoryview(b""), visit)

    def mapped(self, low=None, high=None, visit=None):
        """The array, mapped: processes share its pages, and a write changes the process's own page alone.

        Parameters
        ----------
        low, high : number, optional
            Least and largest value that may be in it. By default any, of floats any finite one; nan is never accepted.
        visit : callable, optional
            Is given the values block by block, while they are compared with their checksum.

        Returns
        -------
        ndarray
            Outlives the open file.

        Raises
        ------
        InputError
            If it does not match its checksum, or has a value out of bounds.
        """
        if not self.size or self.offset % self.dtype.itemsize:
            return self.copied(low, high, visit)
        if not self._artifact.known:
            self._check(low, high, visit=visit)
        # copy-on-write, since kernels are compiled for writable arrays only
        return np.asarray(np.memmap(self._artifact.handle, self.dtype, "c", self.offset, self.shape))

    def damaged(self, message):
        """See :meth:`Stored.damaged`."""
        return self._artifact.damaged(message)

    def _check(self, low, high, into=None, visit=None):
        try:
            checksum = checked_blocks(self._artifact.handle, self, low, high, into, visit)
        except Damaged as error:
            raise self._artifact.damaged(error) from None
        if checksum != self._checksum:
            raise self._artifact.damaged(f"bytes of {self.name} do not match their checksum")


def checked_blocks(handle, array, low=None, high=None, into=None, visit=None):
    """Read an array block by block; each is looked at while the processor has it in its cache.

    Parameters
    ----------
    handle : binary file
    array : StoredArray
        Or what has its ``name``, ``dtype``, ``offset`` and ``nbytes``.
    low, high : number, optional
        See :meth:`StoredArray.mapped`.
    into : memoryview, optional
        Where the bytes shall go.
    visit : callable, optional
        Is given the values of each block in turn.

    Returns
    -------
    str
        Checksum of the bytes.

    Raises
    ------
    Damaged
        If a value is out of bounds.
    """
    digest, done = xxh3_128(), 0
    block = memoryview(bytearray(min(_BLOCK, array.nbytes))) if into is None else into
    while done < array.nbytes:
        part = block[: array.nbytes - done] if into is None else block[done : done + _BLOCK]
        _read_into(handle, part, array.offset + done)
        digest.update(part)
        values = np.frombuffer(part, array.dtype)
        wrong = values_out_of_bounds(values, low, high)
        if wrong:
            raise Damaged(f"{array.name} holds {wrong}")
        if visit is not None:
            visit(values)
        done += len(part)
    return digest.hexdigest()


def values_out_of_bounds(values, low=None, high=None):
    """What is wrong with some values.

    Parameters
    ----------
    values : ndarray
    low, high : number, optional
        See :meth:`StoredArray.mapped`.

    Returns
    -------
    str
        Empty when nothing is.
    """
    if values.dtype == bool:
        values, low, high = values.view(np.uint8), 0, 1
    elif values.dtype.kind == "f":
        # finite ones only, unless infinity itself is given
        largest = float(np.finfo(values.dtype).max)
        low, high = -largest if low is None else low, largest if high is None else high
    elif low is None and high is None:
        return ""
    least, most = values.min().item(), values.max().item()
    # nan is the minimum of what it is among, and is never at least anything
    if low is not None and not least >= low:
        return f"{least:g}, below {low:g}" if least == least else "nan"
    return f"{most:g}, above {high:g}" if high is not None and not most <= high else ""


class Artifact:
    """What the table of contents of an open file says, checked.

    Parameters
    ----------
    handle : binary file
    path : path-like
    kind : str
        For messages.
    known : str, optional
        Checksum of a file that this process has read already: of the same one arrays are not looked at again.
    """

    def __init__(self, handle, path, kind, known=None):
        self.handle, self.path, self._kind = handle, path, kind
        try:
            self.start, self.checksum, text = _read_table(handle, kind)
            self.known = self.checksum == known
            self.table = _parsed(text)
            self._check_table()
            self._check_rest()
        except Damaged as error:
            raise self.damaged(error) from None

    @property
    def whole(self):
        """All of it."""
        return Stored(self)

    def _check_table(self):
        table = self.table
        kinds = {"kind": str, "ovaflow_version": str, "parameters": dict, "inputs": dict, "groups": dict}
        for name, kind in (kinds | {"arrays": dict, "rest": str}).items():
            if not isinstance(table.get(name), kind):
                raise Damaged(f"its table of contents has no {name}")
        if not all(isinstance(value, str) for value in table["inputs"].values()):
            raise Damaged("its inputs are no checksums")
        own = {name: table[name] for name in ("kind", "ovaflow_version")}
        self.groups = {"": {}} | table["groups"]
        for name, attributes in self.groups.items():
            if (name and not _NAME.fullmatch(name)) or not isinstance(attributes, dict):
                raise Damaged("its groups have no names")
            if not all(isinstance(value, str | int | float) for value in attributes.values()):
                raise Damaged(f"attributes of {name or 'the file'} are neither numbers nor texts")
        self.groups[""] = self.groups[""] | own
        self.arrays = {}
        for name, entry in table["arrays"].items():
            if not _NAME.fullmatch(name):
                raise Damaged("its arrays have no names")
            self.arrays[name] = StoredArray(self, name, entry)
            for end in (place for place, letter in enumerate(name) if letter == "/"):
                self.groups.setdefault(name[:end], {})

    def _check_rest(self):
        if rest_checksum(self.handle, self.arrays.values(), self.start) != self.table["rest"]:
            raise Damaged("bytes do not match their checksum")

    def damaged(self, message):
        """The error that says what is wrong and how to make the file anew.

        Parameters
        ----------
        message : str

        Returns
        -------
        InputError
        """
        return InputError(f"damaged ({message})", path=self.path, remedy=remake(self._kind))


def rest_checksum(handle, arrays, start):
    """Checksum of what lies between arrays: padding, and what HDF5 says of them.

    Parameters
    ----------
    handle : binary file
    arrays : iterable
        With ``offset`` and ``nbytes``.
    start : int
        Of the table of contents.

    Returns
    -------
    str
    """
    taken = sorted((array.offset, array.offset + array.nbytes) for array in arrays if array.nbytes)
    digest = xxh3_128()
    for (_, end), (following, _) in pairwise([(PAGE, PAGE), *taken, (start, start)]):
        for place in range(end, following, _BLOCK):
            block = bytearray(min(_BLOCK, following - place))
            _read_into(handle, memoryview(block), place)
            digest.update(block)
    return digest.hexdigest()


def _read_table(handle, kind):
    """Start of the table of contents, its checksum and itself."""
    size = os.fstat(handle.fileno()).st_size
    page = os.pread(handle.fileno(), PAGE, 0)
    if page.startswith(_HDF5):
        raise Damaged("written before format version 2, or no artifact")
    match = _HEADER.fullmatch(page)
    if match is None or len(page) < PAGE:
        raise Damaged(f"not a {kind}: it lacks the header of an artifact")
    version, start, length = map(int, match.groups()[:3])
    if version != FORMAT_VERSION:
        raise Damaged(f"format version {version}, this ovaflow reads {FORMAT_VERSION}")
    checksum = match[4].decode("ascii")
    if page != header_of(start, length, checksum) or start < PAGE:
        raise Damaged("its header is not as it was written")
    if start + length != size:
        raise Damaged(f"{size:,} bytes where {start + length:,} were written")
    if length > LARGEST_TABLE:
        raise Damaged(f"a table of contents of {length:,} bytes")
    text = bytearray(length)
    _read_into(handle, memoryview(text), start)
    if xxh3_128(text).hexdigest() != checksum:
        raise Damaged("bytes do not match their checksum")
    return start, checksum, text


def _parsed(text):
    try:
        table = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Damaged("its table of contents is no JSON") from None
    if not isinstance(table, dict):
        raise Damaged("its table of contents is no JSON object")
    return table


def _refuse(constant):
    raise ValueError(constant)


def _checked_entry(entry, start):
    """Type, shape, offset, bytes and checksum of an array that lies before ``start``."""
    if not isinstance(entry, list) or len(entry) != 4:
        raise Damaged("an array without type, shape, place and checksum")
    dtype, shape, offset, checksum = entry
    if dtype not in DTYPES or not isinstance(checksum, str) or not _is_size(offset):
        raise Damaged("an array of unknown type, place or checksum")
    if not isinstance(shape, list) or len(shape) > 3 or not all(map(_is_size, shape)):
        raise Damaged("an array of unknown shape")
    dtype = np.dtype(dtype)
    nbytes = dtype.itemsize * math.prod(shape)
    if nbytes and not PAGE <= offset <= offset + nbytes <= start:
        raise Damaged(f"an array of {nbytes:,} bytes reaches beyond the file")
    return dtype, tuple(shape), offset, nbytes, checksum


def _is_size(value):
    return type(value) is int and 0 <= value < 1 << 62


def _read_into(handle, block, offset):
    while len(block):
        count = os.preadv(handle.fileno(), [block], offset)
        if not count:
            raise Damaged("shorter than it was")
        block, offset = block[count:], offset + count
