"""PDF files: as Matplotlib writes them, and as nobody should."""

import io
import zlib

import matplotlib as mpl
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject, StreamObject


def make_pdf(*pages):
    """A PDF with a text on each page."""
    file = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": 42}), PdfPages(file) as written:
        for text in pages:
            figure = Figure()
            figure.text(0.1, 0.5, text)
            written.savefig(figure)
    return file.getvalue()


def _changed(content, change):
    writer = PdfWriter(PdfReader(io.BytesIO(content)))
    file = io.BytesIO()
    change(writer)
    writer.write(file)
    return file.getvalue()


def make_locked_pdf(content, password, owner_password="owner"):
    """Readers need the password, which may be empty, to open it, and the owner's to change it."""
    return _changed(
        content, lambda writer: writer.encrypt(password, owner_password, algorithm="AES-256")
    )


def make_decompression_bomb(content):
    """Its second page unfolds to a hundred times the memory that there is."""
    packed = b"(text) Tj " * 1000
    for _ in range(2):
        packed = zlib.compress(packed * 10_000, 9)

    def change(writer) -> None:
        stream = StreamObject()
        stream._data = packed
        stream[NameObject("/Filter")] = ArrayObject([NameObject("/FlateDecode")] * 2)
        writer.pages[1][NameObject("/Contents")] = writer._add_object(stream)

    return _changed(content, change)


def make_circular_pdf(content):
    """Its pages are those of its pages."""

    def change(writer) -> None:
        pages = writer.root_object["/Pages"]
        pages[NameObject("/Kids")] = ArrayObject([pages.indirect_reference] * 2)

    return _changed(content, change)


def make_slow_pdf(content, operators):
    """Its second page is drawn by so many operators."""

    def change(writer) -> None:
        stream = StreamObject()
        stream._data = b"q BT /F1 9 Tf (a) Tj ET Q\n" * operators
        writer.pages[1][NameObject("/Contents")] = writer._add_object(stream)

    return _changed(content, change)
