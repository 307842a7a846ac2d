"""PDF files that Matplotlib writes, and damaged or malicious ones."""

import io
import zlib

import matplotlib as mpl
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject, StreamObject


def make_pdf(*pages) -> bytes:
    """Make a PDF with a text on each page."""
    file = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": 42}), PdfPages(file) as written:
        for text in pages:
            figure = Figure()
            figure.text(0.1, 0.5, text)
            written.savefig(figure)
    return file.getvalue()


def _change_pdf(content, change) -> bytes:
    writer = PdfWriter(PdfReader(io.BytesIO(content)))
    file = io.BytesIO()
    change(writer)
    writer.write(file)
    return file.getvalue()


def make_locked_pdf(content, password, owner_password="owner") -> bytes:
    """Encrypt a PDF: readers need a password, which may be empty, and the owner's to change it."""

    def encrypt(writer) -> None:
        writer.encrypt(password, owner_password, algorithm="AES-256")

    return _change_pdf(content, encrypt)


def make_decompression_bomb(content) -> bytes:
    """Make the second page one whose content is far larger than memory when it is unpacked."""
    packed = b"(text) Tj " * 1000
    for _ in range(2):
        packed = zlib.compress(packed * 10_000, 9)

    def change(writer) -> None:
        stream = StreamObject()
        stream._data = packed
        stream[NameObject("/Filter")] = ArrayObject([NameObject("/FlateDecode")] * 2)
        writer.pages[1][NameObject("/Contents")] = writer._add_object(stream)

    return _change_pdf(content, change)


def make_circular_pdf(content) -> bytes:
    """Make a list of pages that contains itself."""

    def change(writer) -> None:
        pages = writer.root_object["/Pages"]
        pages[NameObject("/Kids")] = ArrayObject([pages.indirect_reference] * 2)

    return _change_pdf(content, change)


def make_slow_pdf(content, operators) -> bytes:
    """Make a second page that is drawn by a number of operators."""

    def change(writer) -> None:
        stream = StreamObject()
        stream._data = b"q BT /F1 9 Tf (a) Tj ET Q\n" * operators
        writer.pages[1][NameObject("/Contents")] = writer._add_object(stream)

    return _change_pdf(content, change)
