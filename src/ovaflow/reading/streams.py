"""Files of a path or a pattern, compressed or not, as streams of bytes or lines of text; none is
unpacked on disk.
"""

import codecs
import contextlib
import glob
import io
import lzma
import re
import sys
from collections import deque
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.reading.foreign import refuse_content
from ovaflow.storage.errors import read_error
from ovaflow.storage.opening import BUFFER, open_regular

_COMPRESSED = re.compile(
    rb"(?P<gzip>\x1f\x8b)|(?P<bz2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\0)|(?P<zstd>\x28\xb5\x2f\xfd)"
)
"""How compressed files begin, by the name that pyarrow has for each kind; it reads all but xz."""


def find_matching_paths(location):
    """The files, or the folder, that a path or a pattern such as ``*.tsv.gz`` stands for."""
    if not glob.has_magic(str(location)) or Path(location).exists():
        return [Path(location)]
    paths = sorted(map(Path, glob.glob(str(location))))
    if not paths:
        raise InputError(
            "no such file", path=location, remedy="paths are relative to the current folder"
        )
    return paths


def find_matching_files(location):
    """The files that a path or a pattern stands for, and those in its folders."""
    files = []
    for path in find_matching_paths(location):
        files += sorted(filter(Path.is_file, path.iterdir())) if path.is_dir() else [path]
    return files


@contextlib.contextmanager
def open_stream(path, pipes=False):
    """Open a file for reading; what is compressed by gzip, bzip2, xz or zstd is unpacked on the
    fly.
    """
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
                if getattr(
                    error, "errno", None
                ):  # the system could not read, whatever the content is
                    raise
                message = f"truncated or damaged {kind} file ({error})"
                raise InputError(message, path=path, remedy="download or copy it again") from None


def is_compressed(path):
    """Whether a file begins as compressed ones do."""
    with open(path, "rb") as raw:
        return _compression_of(raw) is not None


@contextlib.contextmanager
def open_seekable(path):
    """Like :func:`open_stream`, for formats that jump back and forth: a compressed file is unpacked
    in memory.
    """
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
            yield number, strip_line_end(line)


class RecordFile:
    """A file of records, or standard input (``-``), and how its bytes become text."""

    STDIN = "-"

    def __init__(self, path, encoding="utf-8") -> None:
        self.path = path
        self._encoding = encoding
        self._lines = None

    @property
    def name(self):
        return "standard input" if self.is_pipe else self.path

    @property
    def is_pipe(self):
        return self.path == self.STDIN

    @property
    def ready(self):
        """Whether the next record can be had without waiting for whoever writes to the stream."""
        return self._lines is None or self._lines.ready

    @contextlib.contextmanager
    def bytes(self):
        """A stream of the file's bytes, unpacked."""
        if self.is_pipe:
            yield sys.stdin.buffer
        else:
            with open_stream(self.path, pipes=True) as stream:
                yield stream

    @contextlib.contextmanager
    def lines(self):
        """The file's :class:`Lines`."""
        with self.bytes() as stream:
            self._lines = Lines(stream, self.name, self._encoding)
            yield self._lines

    def seekable(self):
        """A stream for formats that jump back and forth."""
        if self.is_pipe:
            raise InputError(
                "this format cannot be read from a pipe", path=self.name, remedy="give a file"
            )
        return open_seekable(self.path)


BYTE_ORDER_MARKS = {  # that of UTF-32 begins with one of UTF-16
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""How files begin that say in which encoding they are."""
_SEVERAL_BYTES = re.compile(rb"[\x80-\xff]{2,}")


def looks_western(content):
    """Whether most bytes beyond ASCII stand alone, as western letters with accents do."""
    return 2 * sum(map(len, _SEVERAL_BYTES.findall(content))) <= sum(
        byte >= 0x80 for byte in content
    )


class Lines:
    """Numbers (from 1) and texts of lines, which only line feeds end.

    Without an encoding the file has no setting for one: it is in UTF-8, or begins with the mark of
    UTF-16.
    """

    def __init__(self, stream, path, encoding=None) -> None:
        self._stream = stream
        self._path = path
        self._has_setting = encoding is not None
        self.encoding = encoding or "utf-8"
        self._decoded_by = self.encoding
        self._lines = deque()
        self._rest = b""
        self._number = 0

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
            return self._number, line.decode(self._decoded_by)
        except UnicodeDecodeError as error:
            raise self._undecodable(error, line) from None

    @property
    def ready(self):
        """Whether the next line can be had without waiting for whoever writes to the stream."""
        return bool(self._lines)

    def _undecodable(self, error, line):
        name = "UTF-8" if self.encoding == "utf-8" else self.encoding
        message = (
            f"byte {error.start + 1} of the line (0x{line[error.start]:02x}) is not valid {name}"
        )
        remedy = "set encoding to that of the program that wrote the file"
        if name == "UTF-8":
            remedy = f"set encoding: {WINDOWS_ENCODING}, if a Windows program such as Excel wrote the file"
            if not looks_western(line):
                remedy = "set encoding to that of the program, such as windows-1251, gb18030, shift_jis or euc-kr"
        if not self._has_setting:
            remedy = f"convert the file to UTF-8, for example: iconv -f {WINDOWS_ENCODING} -t utf-8 old.csv > new.csv"
        return InputError(message, path=self._path, line=self._number, remedy=remedy)

    def _read(self) -> None:
        if self._number == 0 and not self._rest:
            self._recognise_beginning()
        pieces = [self._rest]
        block = b"-"
        while block and b"\n" not in block:
            block = self._stream.read1(BUFFER)
            pieces.append(block)
        *lines, self._rest = b"".join(pieces).split(b"\n")
        self._lines.extend(line + b"\n" for line in lines)
        if not block and self._rest:
            self._lines.append(self._rest)
            self._rest = b""

    def _recognise_beginning(self) -> None:
        """Lines of UTF-16 do not end with one byte, so it becomes UTF-8 before they are divided."""
        peeked = self._stream.peek(4) if hasattr(self._stream, "peek") else b""
        refuse_content(peeked, self._path)
        beginning = peeked[:4]
        marked = (
            encoding for mark, encoding in BYTE_ORDER_MARKS.items() if beginning.startswith(mark)
        )
        encoding = self.encoding = self._decoded_by = next(marked, self.encoding)
        if encoding == "utf-8" and beginning.count(b"\0") == 2:
            message = "looks like UTF-16 without its mark"
            remedy = f"set encoding: utf-16-{'be' if beginning[:1] == bytes(1) else 'le'}"
            raise InputError(message, path=self._path, remedy=remedy)
        if encoding.replace("_", "-").lower().startswith(("utf-16", "utf-32")):
            self._stream = _AsUtf8(self._stream, encoding, self._path)
            self._decoded_by = "utf-8"


WINDOWS_ENCODING = "windows-1252"


class _AsUtf8:
    """A stream of text in another encoding, as UTF-8."""

    def __init__(self, stream, encoding, path) -> None:
        self._stream = stream
        self._encoding = encoding
        self._path = path
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read1(self, size):
        block = b"-"
        text = ""
        while block and not text:
            block = self._stream.read1(size)
            try:
                text = self._decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                remedy = "download or copy it again, or set another encoding"
                raise InputError(
                    f"not valid {self._encoding} ({error.reason})", path=self._path, remedy=remedy
                ) from None
        return text.encode("utf-8", "surrogatepass")


def clean_text(text):
    """Text that every later step can store and print: NUL becomes a space, a lone surrogate a
    question mark.
    """
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def strip_line_end(line):
    """A line without its line feed, and the carriage return before it."""
    return line.removesuffix("\n").removesuffix("\r")
