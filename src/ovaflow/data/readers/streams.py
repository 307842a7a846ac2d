"""Files of a path or a pattern, compressed or not, as streams of bytes or UTF-8 lines; none is unpacked on disk."""

import codecs
import contextlib
import glob
import io
import lzma
import re
from collections import deque
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.storage.opening import BUFFER, open_regular
from ovaflow.storage.refusals import read_error

_COMPRESSED = re.compile(rb"(?P<gzip>\x1f\x8b)|(?P<bz2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\0)|(?P<zstd>\x28\xb5\x2f\xfd)")
"""How compressed files begin, by the name that pyarrow has for each kind; it reads all but xz."""
PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Endings of compressed files' names."""
FORMATS = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tsv": "text-tsv",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".txt": "xmc-text",
}
"""Formats by the endings of files' names."""
_CONVERT = "convert the file to UTF-8, for example: iconv -f {} -t utf-8 old.csv > new.csv"


def ending_of(path):
    """The ending of a file's name, compressed or not, in lower case: ``.csv`` of ``a.CSV.gz``; empty without one."""
    name = Path(path).name.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    _, dot, ending = name.rpartition(".")
    return f".{ending}" if dot else ""


def matching_paths(location):
    """The files, or the folder, that a path or a pattern such as ``*.tsv.gz`` stands for."""
    if not glob.has_magic(str(location)) or Path(location).exists():
        return [Path(location)]
    paths = sorted(map(Path, glob.glob(str(location))))
    if not paths:
        raise InputError("no such file", path=location, remedy="paths are relative to the current folder")
    return paths


def matching_files(location):
    """The files that a path or a pattern stands for, and those in its folders."""
    files = []
    for path in matching_paths(location):
        files += sorted(filter(Path.is_file, path.iterdir())) if path.is_dir() else [path]
    return files


@contextlib.contextmanager
def open_stream(path, pipes=False):
    """Open a file for reading; what is compressed by gzip, bzip2, xz or zstd is unpacked on the fly."""
    try:
        raw = open_regular(path, pipes)
    except OSError as error:
        raise read_error(path, error) from None
    with raw:
        kind = _compression_of(raw)
        if kind is None:
            yield raw
        else:
            try:
                with _decompressed(raw, kind) as inner:
                    yield io.BufferedReader(inner, BUFFER)
            except (OSError, EOFError, lzma.LZMAError) as error:
                if getattr(error, "errno", None):  # of the system, on a file that is written meanwhile
                    raise
                message = f"truncated or damaged {kind} file ({error})"
                raise InputError(message, path=path, remedy="download or copy it again") from None


def is_compressed(path):
    """Whether a file begins as compressed ones do."""
    with open(path, "rb") as raw:
        return _compression_of(raw) is not None


@contextlib.contextmanager
def open_seekable(path):
    """Like :func:`open_stream`, for formats that jump back and forth: a compressed file is unpacked in memory."""
    with open_stream(path) as stream:
        yield io.BytesIO(stream.read()) if is_compressed(path) else stream


def _compression_of(raw):
    beginning = _COMPRESSED.match(raw.peek(10))
    return beginning and beginning.lastgroup


def _decompressed(raw, kind):
    if kind == "xz":
        return lzma.open(raw)
    # Arrow takes a tenth of a second to load
    import pyarrow

    return pyarrow.CompressedInputStream(raw, kind)


def read_lines(path):
    """Number (from 1) and text of each line of a UTF-8 file, without its end; see :class:`Lines`."""
    with open_stream(path) as stream:
        for number, line in Lines(stream, path):
            yield number, without_end(line)


class Lines:
    """Numbers (from 1) and texts of UTF-8 lines, which only line feeds end."""

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
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            return self._number, line.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise InputError("is encoded in UTF-16", path=self._path, remedy=_CONVERT.format("utf-16")) from None
            message = f"byte {error.start + 1} of the line (0x{line[error.start]:02x}) is not valid UTF-8"
            remedy = _CONVERT.format("latin1")
            raise InputError(message, path=self._path, line=self._number, remedy=remedy) from None

    @property
    def ready(self):
        """Whether the next line can be had without waiting for whoever writes to the stream."""
        return bool(self._lines)

    def _read(self):
        pieces, block = [self._rest], b"-"
        while block and b"\n" not in block:
            block = self._stream.read1(BUFFER)
            pieces.append(block)
        *lines, self._rest = b"".join(pieces).split(b"\n")
        self._lines.extend(line + b"\n" for line in lines)
        if not block and self._rest:
            self._lines.append(self._rest)
            self._rest = b""


def clean(text):
    """Text that every later step can store and print: NUL becomes a space, a lone surrogate a question mark."""
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def without_end(line):
    """A line without its line feed, and the carriage return before it."""
    return line.removesuffix("\n").removesuffix("\r")
