"""Files, plain or compressed, as one stream of bytes or of UTF-8 lines; nothing is unpacked on disk."""

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import zlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError

LONGEST_MAGIC = 10
LONGEST_LINE = 1 << 26
"""Bytes of a line, and characters of a field of CSV: what a file may make the readers hold at once."""
UNPACKED_IN_MEMORY = 1 << 30
"""Bytes that a packed file may have in memory, however small it is, where a format needs all of it."""
LARGEST_RATIO = 100
"""How many times a packed file's size it may have beyond that."""
_BLOCK = 1 << 17
_FED = 1 << 13
_UNPACKED = 1 << 20
_WINDOW = 1 << 29
"""Bytes that a file of xz may ask for; ``xz -9`` needs 65 MB."""


class _Compression(NamedTuple):
    name: str
    magics: tuple
    open: Callable


def _open_zstd(raw):
    # the zstandard package takes a truncated file for a whole one; Arrow takes a tenth of a second to load
    import pyarrow

    return pyarrow.CompressedInputStream(raw, "zstd")


def _open_xz(raw):
    return _Streams(raw, lambda: lzma.LZMADecompressor(memlimit=_WINDOW), padding=b"\0")


def _open_bzip2(raw):
    return _Streams(raw, bz2.BZ2Decompressor, padding=b"")


COMPRESSIONS = {
    ".gz": _Compression("gzip", (b"\x1f\x8b",), lambda raw: gzip.GzipFile(fileobj=raw)),
    ".bz2": _Compression("bzip2", tuple(b"BZh%c1AY&SY" % level for level in b"123456789"), _open_bzip2),
    ".xz": _Compression("xz", (b"\xfd7zXZ\x00",), _open_xz),
    ".zst": _Compression("zstd", (b"\x28\xb5\x2f\xfd",), _open_zstd),
}
"""What a suffix stands for: its name, how such files begin, and how to read them."""

_EMPTY_BZIP2 = b"\x17\x72\x45\x38\x50\x90"
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, OSError)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@contextlib.contextmanager
def open_stream(path):
    """Open a file for reading, decompressing on the fly what is named .gz, .bz2, .xz or .zst.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    io.BufferedReader
        The unpacked bytes. Damage that shows up while reading raises InputError.

    Raises
    ------
    InputError
        If the file cannot be opened, or its first bytes disagree with its name.
    """
    path = Path(path)
    try:
        raw = path.open("rb", buffering=1 << 17)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, remedy="look at its permissions, or give another file"
        ) from None
    with raw:
        compression = _compression_of(path, raw)
        inner = raw if compression is None else compression.open(raw)
        with inner:
            reporting = _ReportingDamage(inner, path, compression)
            yield raw if compression is None else io.BufferedReader(reporting, 1 << 17)


def is_compressed(path):
    """Whether a file's name says that it is compressed.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bool
    """
    return Path(path).suffix.lower() in COMPRESSIONS


@contextlib.contextmanager
def open_seekable(path):
    """Like :func:`open_stream`, for formats that jump to and fro: a compressed file is unpacked in memory.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    file-like
        Binary and seekable.

    Raises
    ------
    InputError
        If it unpacks to more than ``UNPACKED_IN_MEMORY`` and ``LARGEST_RATIO`` allow.
    """
    with open_stream(path) as stream:
        yield _unpacked(stream, Path(path)) if is_compressed(path) else stream


def allowed_in_memory(packed):
    """Bytes that may come out of a packed file, or of what a file says about itself.

    Parameters
    ----------
    packed : int
        Its size.

    Returns
    -------
    int
    """
    return max(UNPACKED_IN_MEMORY, LARGEST_RATIO * packed)


def _unpacked(stream, path):
    allowed, content = allowed_in_memory(path.stat().st_size), io.BytesIO()
    while block := stream.read(_UNPACKED):
        content.write(block)
        if content.tell() > allowed:
            raise InputError(
                f"unpacks to more than {allowed:,} bytes: refused as a bomb", path=path, remedy="unpack it first"
            )
    content.seek(0)
    return content


def _compression_of(path, raw):
    head = raw.peek(LONGEST_MAGIC)[:LONGEST_MAGIC]
    named = COMPRESSIONS.get(path.suffix.lower())
    found = next((kind for kind in COMPRESSIONS.values() if _begins(head, kind)), None)
    if named is not found:
        suffix = next((suffix for suffix, kind in COMPRESSIONS.items() if kind is found), None)
        _refuse_suffix(path, named, found, suffix, head)
    return found


def _begins(head, kind):
    return head.startswith(kind.magics) or (kind.name == "bzip2" and head[4:] == _EMPTY_BZIP2 and head[:3] == b"BZh")


def _refuse_suffix(path, named, found, suffix, head):
    if found is not None:
        raise InputError(f"its content is {found.name}, its name says otherwise", path=path, remedy=f"name it {suffix}")
    if not head:
        raise InputError(f"is empty, so it is no {named.name} file", path=path, remedy="download or copy it again")
    raise InputError(
        f"named {path.suffix} but its content is not {named.name}",
        path=path,
        remedy="download or copy it again, or rename it if it is not compressed",
    )


class _Streams(io.RawIOBase):
    """Compressed streams, one after the other; Python's own readers take damage in a later one for the end.

    Parameters
    ----------
    raw : file-like
    new : callable
        Makes a decompressor.
    padding : bytes
        What may stand between streams.
    """

    def __init__(self, raw, new, padding):
        self._raw, self._new, self._padding = raw, new, padding
        self._decompressor, self._left = new(), b""

    def readable(self):
        return True

    def readinto(self, buffer):
        data = b""
        while not data and not self._ended():
            fed = self._taken() if self._decompressor.needs_input else b""
            data = self._decompressor.decompress(fed, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _taken(self):
        fed, self._left = self._left or self._raw.read(_FED), b""
        if not fed:
            raise EOFError("its end is missing")
        return fed

    def _ended(self):
        """Whether there is nothing more to unpack; where a stream has ended and another follows, that is begun."""
        if not self._decompressor.eof:
            return False
        rest = self._decompressor.unused_data.lstrip(self._padding)
        while not rest:
            block = self._raw.read(_FED)
            if not block:
                return True
            rest = block.lstrip(self._padding)
        self._decompressor, self._left = self._new(), rest
        return False


class _ReportingDamage(io.RawIOBase):
    """A decompressor whose errors name the file and what to do."""

    def __init__(self, inner, path, compression):
        self._inner, self._path, self._compression = inner, path, compression

    def readable(self):
        return True

    def readinto(self, buffer):
        try:
            return self._inner.readinto(buffer)
        except Exception as error:
            if not (isinstance(error, _DAMAGED) or type(error).__module__.startswith("pyarrow")):
                raise
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(
                f"truncated or damaged {self._compression.name} file ({reason})",
                path=self._path,
                remedy="download or copy it again",
            ) from None


def read_lines(path, keep_ends=False):
    """Lines of a UTF-8 text file, one at a time.

    Only a line feed ends a line (Unicode's other separators may stand in
    texts); a byte order mark at the file's beginning is skipped.

    Parameters
    ----------
    path : path-like
        Plain or compressed.
    keep_ends : bool
        Keep line feeds (and carriage returns before them).

    Yields
    ------
    int, str
        Number of the line, counted from 1, and its text.

    Raises
    ------
    InputError
        If a line is no UTF-8.
    """
    with open_stream(path) as stream:
        for number, text in Lines(stream, path):
            yield number, text if keep_ends else without_end(text)


class Lines:
    """Lines of a stream of UTF-8, with their numbers from 1; see :func:`read_lines`.

    Parameters
    ----------
    stream : io.BufferedReader
    path : path-like
        For messages.
    """

    def __init__(self, stream, path):
        self._stream, self._path = stream, path
        self._lines, self._rest, self._number = deque(), b"", 0

    def __iter__(self):
        return self

    def __next__(self):
        if not self._lines:
            self._read()
        if not self._lines:
            raise StopIteration
        line = self._lines.popleft()
        self._number += 1
        if self._number == 1:
            line = _without_mark(line, self._path)
        return self._number, _decode(line, self._path, self._number)

    @property
    def ready(self):
        """Whether the next line is there, so that asking for it does not wait for whoever writes into the stream."""
        return bool(self._lines)

    def _read(self):
        pieces, size, block = [self._rest], len(self._rest), b"-"
        while block and b"\n" not in block:
            block = self._stream.read1(_BLOCK)
            pieces.append(block)
            size += len(block)
            if size > LONGEST_LINE:
                raise too_long(self._path, self._number + 1)
        *lines, self._rest = b"".join(pieces).split(b"\n")
        self._lines.extend(line + b"\n" for line in lines)
        if not block and self._rest:
            self._lines.append(self._rest)
            self._rest = b""


def too_long(path, line):
    """What is said of a line beyond :data:`LONGEST_LINE`.

    Parameters
    ----------
    path : path-like
    line : int

    Returns
    -------
    InputError
    """
    remedy = "is it a text file whose lines end with a line feed?"
    return InputError(f"a line of more than {LONGEST_LINE:,} bytes", path=path, line=line, remedy=remedy)


def without_end(line):
    """A line without its line feed, and the carriage return before it.

    Parameters
    ----------
    line : str

    Returns
    -------
    str
    """
    return line.removesuffix("\n").removesuffix("\r")


def _without_mark(line, path):
    # letters of ASCII in UTF-16 have a NUL before or behind each; a single NUL is one
    if line.startswith(_UTF_16) or b"\0\0" in (line[:4:2], line[1:4:2]):
        raise InputError("looks like UTF-16", path=path, line=1, remedy="convert it to UTF-8")
    return line.removeprefix(codecs.BOM_UTF8)


def _decode(line, path, number):
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start + 1} of the line (0x{line[error.start]:02x}) is no UTF-8",
            path=path,
            line=number,
            remedy="convert the file to UTF-8",
        ) from None
