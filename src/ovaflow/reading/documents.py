"""Plain text of the documents that people have: text, HTML and PDF.

They may be hostile: run this in a process with limits on time and memory.
"""

import contextlib
import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.reading.markup import remove_markup
from ovaflow.reading.streams import (
    WINDOWS_ENCODING,
    clean_text,
    detect_marked_encoding,
    looks_western,
)

MAX_PAGES = 500
"""Pages of a PDF that are read; more would take too long."""

_PDF_MARK = b"%PDF-"
_CHARSET = re.compile(rb"""<meta\b[^>]{0,200}\bcharset\s*=\s*["']?([\w-]{1,40})""", re.IGNORECASE)
_LATIN_ENCODINGS = ("iso-8859-1", "latin1", "us-ascii", "ascii")
"""Encodings that pages declare which are in windows-1252; browsers read them so, too."""
_DECLARATION_BYTES = 1024
"""Bytes in which browsers look for a declaration of type or encoding."""
_HYPHEN_AT_LINE_END = re.compile("(?<=[^\\W\\d])[-\u00ad]\n(?=[^\\W\\d_A-Z])")


class Document(NamedTuple):
    """The text of a document."""

    text: str
    cut: bool  # true if the document has more
    pages: int | None = None  # of a PDF
    pages_read: int | None = None


class UnreadableDocumentError(Exception):
    """A document without a text for us; ``code`` is one of :data:`UNREADABLE_REASONS`."""

    def __init__(self, code: str) -> None:
        super().__init__(UNREADABLE_REASONS[code])
        self.code = code


UNREADABLE_REASONS = {
    "no_text": "the PDF has no text; it is probably scanned: recognize its text first (OCR)",
    "locked": "the PDF is locked by a password: save it without one",
    "damaged": "the file is damaged, or not what its name says",
    "encoding": "the encoding of the file is not known: save it as UTF-8",
    "too_slow": "the file takes too long to read: give a part of it",
}
"""Reasons for people, by code."""


def detect_kind(name: str, content: bytes) -> str | None:
    """Detect the kind of a document, as an ending of :data:`DOCUMENT_READERS`; None for others."""
    if _PDF_MARK in content[:_DECLARATION_BYTES]:
        return ".pdf"
    ending = f".{name.rpartition('.')[2].lower()}"
    return ending if ending in DOCUMENT_READERS else None


def read_document(kind: str, content: bytes, max_characters: int) -> Document:
    """Read the text of a document, up to a number of characters."""
    document = DOCUMENT_READERS[kind](content, max_characters)
    # training reads texts in the same way
    text = clean_text(document.text.replace(FIELD_SEPARATOR, " "))
    is_cut = document.cut or len(text) > max_characters
    return document._replace(text=text[:max_characters], cut=is_cut)


def _read_plain(content: bytes, max_characters: int) -> Document:
    return Document(_decode(content), cut=False)


def _read_html(content: bytes, max_characters: int) -> Document:
    charset = _CHARSET.search(content[:_DECLARATION_BYTES])
    declared = charset[1].decode().lower() if charset else None
    lines = []
    for line in remove_markup(_decode(content, declared)).split("\n"):
        words = line.split()
        if words:
            lines.append(" ".join(words))
    return Document("\n".join(lines), cut=False)


def _decode(content: bytes, declared: str | None = None) -> str:
    """Decode a text in the encoding of its mark; without one, guess the encoding.

    The guesses are UTF-8, the encoding that the document declares, and that of western Windows
    programs.
    """
    marked = _detect_encoding(content)
    if marked:
        encodings = [marked]
    else:
        encodings = ["utf-8"]
        if declared:
            encodings.append(WINDOWS_ENCODING if declared in _LATIN_ENCODINGS else declared)
        if looks_western(content):
            encodings.append(WINDOWS_ENCODING)
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except (UnicodeError, LookupError):
            continue
        if "\0" in text:
            raise UnreadableDocumentError("damaged")
        return text.removeprefix("\ufeff").replace("\r\n", "\n")
    raise UnreadableDocumentError("encoding")


def _detect_encoding(content: bytes) -> str | None:
    """Detect the encoding by the byte order mark, or as UTF-16 without its mark."""
    marked = detect_marked_encoding(content)
    if marked is None and content[:4].count(0) == 2:
        return "utf-16-be" if content[:1] == b"\0" else "utf-16-le"
    return marked


def _read_pdf(content: bytes, max_characters: int) -> Document:
    reader = _open_pdf(content)
    n_pages = len(reader.pages)
    texts: list[str] = []
    in_time = True
    try:
        for number in range(min(n_pages, MAX_PAGES)):
            # some pages may be damaged
            with contextlib.suppress(Exception):
                texts.append(reader.pages[number].extract_text())
            if sum(len(text) for text in texts) > max_characters:
                break
    except TimeIsUp:
        in_time = False
    if in_time and not texts:
        raise UnreadableDocumentError("damaged")
    text = _HYPHEN_AT_LINE_END.sub("", "\n".join(texts))
    if not text.strip():
        raise UnreadableDocumentError("no_text" if in_time else "too_slow")
    is_cut = len(texts) < n_pages
    return Document(text, is_cut, pages=n_pages, pages_read=len(texts))


def _open_pdf(content: bytes) -> Any:
    """Open a PDF by pypdf, whose pages can be counted."""
    import pypdf

    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocumentError("locked")
        # this alone finds some damages
        len(reader.pages)
    except UnreadableDocumentError:
        raise
    except pypdf.errors.DependencyError:
        raise UnreadableDocumentError("locked") from None
    except Exception:  # pypdf raises any on what is no PDF
        raise UnreadableDocumentError("damaged") from None
    return reader


class TimeIsUp(BaseException):
    """Raised by a signal; pages that were read until then are kept."""


DOCUMENT_READERS: dict[str, Callable[[bytes, int], Document]] = {
    ".txt": _read_plain,
    ".md": _read_plain,
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
}
"""Readers of documents by the ending of their names."""
