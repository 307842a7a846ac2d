"""Plain text of documents as people have them: text, HTML and PDF.

They may be hostile: run this in a process with limits on time and memory.
"""

import contextlib
import io
import re
from typing import NamedTuple

from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.reading.markup import remove_markup
from ovaflow.reading.streams import BYTE_ORDER_MARKS, WINDOWS_ENCODING, clean_text, looks_western

MAX_PAGES = 500

_PDF = b"%PDF-"
_CHARSET = re.compile(rb"""<meta\b[^>]{0,200}\bcharset\s*=\s*["']?([\w-]{1,40})""", re.IGNORECASE)
_LATIN = ("iso-8859-1", "latin1", "us-ascii", "ascii")
"""What pages in windows-1252 say they are in; browsers know it."""
_BEGINNING = 1024
"""Bytes in which a file says what it is, as browsers have it."""
_HYPHEN_AT_LINE_END = re.compile("(?<=[^\\W\\d])[-\u00ad]\n(?=[^\\W\\d_A-Z])")


class Document(NamedTuple):
    """The text of a document."""

    text: str
    cut: bool  # whether the document has more
    pages: int | None = None  # of a PDF
    pages_read: int | None = None


class UnreadableDocument(Exception):
    """A document that has no text for us; ``code`` is one of :data:`UNREADABLE_REASONS`."""

    def __init__(self, code) -> None:
        super().__init__(UNREADABLE_REASONS[code])
        self.code = code


UNREADABLE_REASONS = {
    "no_text": "the PDF has no text; it is probably scanned: recognise its text first (OCR)",
    "locked": "the PDF is locked by a password: save it without one",
    "damaged": "the file is damaged, or not what its name says",
    "encoding": "the encoding of the file is not known: save it as UTF-8",
    "too_slow": "the file takes too long to read: give a part of it",
}


def detect_kind(name, content):
    """Ending of a document's name, .pdf for every PDF; None for kinds that are not read."""
    if _PDF in content[:_BEGINNING]:
        return ".pdf"
    ending = f".{name.rpartition('.')[2].lower()}"
    return ending if ending in DOCUMENT_READERS else None


def read_document(kind, content, most):
    """The :class:`Document` of some bytes, with at most so many characters."""
    document = DOCUMENT_READERS[kind](content, most)
    # as training reads texts
    text = clean_text(document.text.replace(FIELD_SEPARATOR, " "))
    return document._replace(text=text[:most], cut=document.cut or len(text) > most)


def _plain(content, most):
    return Document(_decoded(content), False)


def _html(content, most):
    charset = _CHARSET.search(content[:_BEGINNING])
    lines = remove_markup(_decoded(content, charset and charset[1].decode().lower())).split("\n")
    return Document("\n".join(filter(None, (" ".join(line.split()) for line in lines))), False)


def _decoded(content, said=None):
    """Text in the encoding of its mark, in UTF-8, as the document says, or as western Windows
    programs write.
    """
    marked = _marked(content)
    guessed = (
        "utf-8",
        WINDOWS_ENCODING if said in _LATIN else said,
        WINDOWS_ENCODING if looks_western(content) else None,
    )
    for encoding in filter(None, (marked,) if marked else guessed):
        try:
            text = content.decode(encoding)
        except (UnicodeError, LookupError):
            continue
        if "\0" in text:
            raise UnreadableDocument("damaged")
        return text.removeprefix("\ufeff").replace("\r\n", "\n")
    raise UnreadableDocument("encoding")


def _marked(content):
    marked = (encoding for mark, encoding in BYTE_ORDER_MARKS.items() if content.startswith(mark))
    if content[:4].count(0) == 2:
        # UTF-16 without its mark
        return next(marked, "utf-16-be" if content[:1] == b"\0" else "utf-16-le")
    return next(marked, None)


def _pdf(content, most):
    import pypdf

    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument("locked")
        n_pages = len(reader.pages)
    except UnreadableDocument:
        raise
    except pypdf.errors.DependencyError:
        raise UnreadableDocument("locked") from None
    except Exception:  # pypdf raises any on what is no PDF
        raise UnreadableDocument("damaged") from None
    texts = []
    in_time = True
    try:
        for number in range(min(n_pages, MAX_PAGES)):
            # some pages may be damaged
            with contextlib.suppress(Exception):
                texts.append(reader.pages[number].extract_text())
            if sum(map(len, texts)) > most:
                break
    except TimeIsUp:
        in_time = False
    if in_time and not texts:
        raise UnreadableDocument("damaged")
    text = _HYPHEN_AT_LINE_END.sub("", "\n".join(texts))
    if not text.strip():
        raise UnreadableDocument("no_text" if in_time else "too_slow")
    return Document(text, len(texts) < n_pages, n_pages, len(texts))


class TimeIsUp(BaseException):
    """Raised by a signal; what was read until then is kept."""


DOCUMENT_READERS = {".txt": _plain, ".md": _plain, ".html": _html, ".htm": _html, ".pdf": _pdf}
"""Endings of documents that are read."""
