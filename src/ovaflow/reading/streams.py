"""Streams of bytes or lines of source files; compressed ones are not unpacked on disk."""

import codecs
import contextlib
import glob
import io
import lzma
import re
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Self

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.foreign import refuse_content
from ovaflow.storage.errors import read_error
from ovaflow.storage.opening import READ_BUFFER_BYTES, open_regular

_COMPRESSED = re.compile(
    rb"(?P<gzip>\x1f\x8b)|(?P<bz2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\0)|(?P<zstd>\x28\xb5\x2f\xfd)"
)
"""First bytes of compressed files, by pyarrow's name for each kind; it reads all but xz."""


def find_matching_paths(location: StrPath) -> list[Path]:
    """Find the files or the folder of a path or of a pattern such as ``*.tsv.gz``."""
    if not glob.has_magic(str(location)) or Path(location).exists():
        return [Path(location)]
    paths = sorted(Path(path) for path in glob.glob(str(location)))
    if not paths:
        raise InputError(
            "no such file", path=location, remedy="paths are relative to the current folder"
        )
    return paths


def find_matching_files(location: StrPath) -> list[Path]:
    """Find the files of a path or of a pattern, and those in its folders."""
    files = []
    for path in find_matching_paths(location):
        if path.is_dir():
            files += sorted(inner for inner in path.iterdir() if inner.is_file())
        else:
            files.append(path)
    return files


@contextlib.contextmanager
def open_stream(path: StrPath, *, pipes: bool = False) -> Iterator[io.BufferedReader]:
    """Open a file for reading; gzip, bzip2, xz and zstd are unpacked on the fly."""
    try:
        raw = open_regular(path, pipes=pipes)
    except OSError as error:
        raise read_error(path, error) from None
    with raw:
        kind = _detect_compression(raw)
        if kind is None:
            yield raw
            return
        try:
            with _decompress(raw, kind) as inner:
                yield io.BufferedReader(inner, READ_BUFFER_BYTES)
        except (OSError, EOFError, lzma.LZMAError) as error:
            # with an errno the system could not read, whatever the content is
            if getattr(error, "errno", None):
                raise
            message = f"truncated or damaged {kind} file ({error})"
            raise InputError(message, path=path, remedy="download or copy it again") from None


def is_compressed(path: StrPath) -> bool:
    """Tell whether the first bytes of a file are those of a compressed one."""
    with open(path, "rb") as raw:
        return _detect_compression(raw) is not None


@contextlib.contextmanager
def open_seekable(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file for formats that jump back and forth; a compressed one is unpacked in memory."""
    with open_stream(path) as stream:
        if is_compressed(path):
            yield io.BytesIO(stream.read())
        else:
            yield stream


def _detect_compression(raw: io.BufferedReader) -> str | None:
    """Detect the kind of compression by the first bytes."""
    match = _COMPRESSED.match(raw.peek(10))
    return None if match is None else match.lastgroup


def _decompress(raw: io.BufferedReader, kind: str) -> Any:
    """Open the decompressed content of a stream."""
    if kind == "xz":
        return lzma.open(raw)
    # Arrow takes a tenth of a second to load
    import pyarrow

    return pyarrow.CompressedInputStream(raw, kind)


def read_lines(path: StrPath) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of each line of a UTF-8 file, without its line end.

    See :class:`Lines`.
    """
    with open_stream(path) as stream:
        for number, line in Lines(stream, path):
            yield number, strip_line_end(line)


class RecordFile:
    """A file of records, or standard input (``-``), and the encoding of its text."""

    STDIN = "-"

    def __init__(self, path: StrPath, encoding: str = "utf-8") -> None:
        self.path = path
        self._encoding = encoding
        self._lines: Lines | None = None

    @property
    def name(self) -> StrPath:
        """The file's name in messages."""
        return "standard input" if self.is_pipe else self.path

    @property
    def is_pipe(self) -> bool:
        """True for standard input."""
        return self.path == self.STDIN

    @property
    def ready(self) -> bool:
        """True if the next record is there without waiting for the program that writes it."""
        return self._lines is None or self._lines.ready

    @contextlib.contextmanager
    def bytes(self) -> Iterator[IO]:
        """Open the file's bytes, unpacked."""
        if self.is_pipe:
            yield sys.stdin.buffer
        else:
            with open_stream(self.path, pipes=True) as stream:
                yield stream

    @contextlib.contextmanager
    def lines(self) -> Iterator["Lines"]:
        """Open the file's :class:`Lines`."""
        with self.bytes() as stream:
            self._lines = Lines(stream, self.name, self._encoding)
            yield self._lines

    def seekable(self) -> contextlib.AbstractContextManager[BinaryIO]:
        """Open the file for formats that jump back and forth."""
        if self.is_pipe:
            raise InputError(
                "this format cannot be read from a pipe", path=self.name, remedy="give a file"
            )
        return open_seekable(self.path)


BYTE_ORDER_MARKS = {  # UTF-32's begins with one of UTF-16
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings by the first bytes of files that declare them."""
WINDOWS_ENCODING = "windows-1252"
"""The encoding that western Windows programs write."""
_SEVERAL_BYTES = re.compile(rb"[\x80-\xff]{2,}")


def looks_western(content: bytes) -> bool:
    """Tell whether most bytes beyond ASCII are single, as western letters with accents are."""
    n_in_sequences = sum(len(sequence) for sequence in _SEVERAL_BYTES.findall(content))
    n_beyond_ascii = sum(byte >= 0x80 for byte in content)
    return 2 * n_in_sequences <= n_beyond_ascii


CONVERT_LINE_ENDS = "convert them to line feeds: tr '\\r' '\\n' < old.csv > new.csv"
"""Remedy for lines that end with carriage returns alone, as on old Macs."""


class Lines:
    """Numbers, from 1, and texts of lines, which only line feeds end.

    Parameters
    ----------
    stream : file of bytes
    path : path
        The file's name in messages.
    encoding : str, optional
        Encoding of the text. Without it the file has no setting for one: it is in UTF-8, or begins
        with the byte order mark of UTF-16.
    """

    def __init__(self, stream: IO, path: StrPath, encoding: str | None = None) -> None:
        self._stream: Any = stream
        self._path = path
        self._has_setting = encoding is not None
        self.encoding = encoding or "utf-8"
        # UTF-16 and UTF-32 are decoded as UTF-8, after _Utf8Stream has converted them
        self._decoded_by = self.encoding
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._number = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, str]:
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
            raise self._decoding_error(error, line) from None

    @property
    def ready(self) -> bool:
        """True if the next line is there without waiting for the program that writes it."""
        return bool(self._lines)

    def _decoding_error(self, error: UnicodeDecodeError, line: bytes) -> InputError:
        """Make the error of a line that is not in the encoding."""
        name = "UTF-8" if self.encoding == "utf-8" else self.encoding
        message = (
            f"byte {error.start + 1} of the line (0x{line[error.start]:02x}) is not valid {name}"
        )
        if not self._has_setting:
            remedy = (
                "convert the file to UTF-8, for example: "
                f"iconv -f {WINDOWS_ENCODING} -t utf-8 old.csv > new.csv"
            )
        elif name != "UTF-8":
            remedy = "set encoding to that of the program that wrote the file"
        elif looks_western(line):
            remedy = (
                f"set encoding: {WINDOWS_ENCODING}, "
                "if a Windows program such as Excel wrote the file"
            )
        else:
            remedy = (
                "set encoding to that of the program, "
                "such as windows-1251, gb18030, shift_jis or euc-kr"
            )
        return InputError(message, path=self._path, line=self._number, remedy=remedy)

    def _read(self) -> None:
        """Read until at least one line is complete, or to the end."""
        if self._number == 0 and not self._rest:
            self._recognize_encoding()
        pieces = [self._rest]
        block = b"-"
        while block and b"\n" not in block:
            block = self._stream.read1(READ_BUFFER_BYTES)
            pieces.append(block)
        *lines, self._rest = b"".join(pieces).split(b"\n")
        self._lines.extend(line + b"\n" for line in lines)
        if not block and self._rest:
            self._lines.append(self._rest)
            self._rest = b""

    def _recognize_encoding(self) -> None:
        """Follow the byte order mark, and refuse files of other kinds.

        Lines of UTF-16 do not end with one byte, so it is converted to UTF-8 before they are
        divided.
        """
        peeked = self._stream.peek(4) if hasattr(self._stream, "peek") else b""
        refuse_content(peeked, self._path)
        beginning = peeked[:4]
        encoding = detect_marked_encoding(beginning) or self.encoding
        self.encoding = encoding
        self._decoded_by = encoding
        if encoding == "utf-8" and beginning.count(b"\0") == 2:
            order = "be" if beginning[:1] == b"\0" else "le"
            raise InputError(
                "looks like UTF-16 without its mark",
                path=self._path,
                remedy=f"set encoding: utf-16-{order}",
            )
        if encoding.replace("_", "-").lower().startswith(("utf-16", "utf-32")):
            self._stream = _Utf8Stream(self._stream, encoding, self._path)
            self._decoded_by = "utf-8"


def detect_marked_encoding(content: bytes) -> str | None:
    """Detect the encoding that a byte order mark declares."""
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return encoding
    return None


class _Utf8Stream:
    """A stream of text in another encoding, converted to UTF-8."""

    def __init__(self, stream: Any, encoding: str, path: StrPath) -> None:
        self._stream = stream
        self._encoding = encoding
        self._path = path
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read1(self, size: int) -> bytes:
        """Read some bytes; none at the end."""
        block = b"-"
        text = ""
        while block and not text:
            block = self._stream.read1(size)
            try:
                text = self._decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"not valid {self._encoding} ({error.reason})",
                    path=self._path,
                    remedy="download or copy it again, or set another encoding",
                ) from None
        return text.encode("utf-8", "surrogatepass")


def clean_text(text: str) -> str:
    """Make a text that can be stored and printed.

    NUL becomes a space, a lone surrogate a question mark.
    """
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def strip_line_end(line: str) -> str:
    """Remove the line feed of a line, and the carriage return before it."""
    return line.removesuffix("\n").removesuffix("\r")
