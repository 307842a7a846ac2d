"""Plain text of dropped files, and why some have none."""

import signal
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup
from pdf_files import (
    make_circular_pdf,
    make_decompression_bomb,
    make_locked_pdf,
    make_pdf,
    make_slow_pdf,
)

from ovaflow.reading.documents import TimeIsUp, UnreadableDocumentError, detect_kind, read_document
from ovaflow.reading.markup import remove_markup

UMLAUTS = "Straße – „Köln“, 5 €"
FIRST_PAGE = "A dragon for begin-\nners: größer"
PDF = make_pdf(FIRST_PAGE, "the second page")


def read_text(kind, content) -> str:
    """Read the text of a document up to 1,000 characters."""
    return read_document(kind, content, 1000).text


def find_reason(kind, content) -> str:
    """Return the code of the reason why a document has no text."""
    with pytest.raises(UnreadableDocumentError) as error:
        read_document(kind, content, 1000)
    return error.value.code


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "windows-1252"]
)
def test_text_in_any_usual_encoding(encoding) -> None:
    assert read_text(".txt", UMLAUTS.encode(encoding)) == UMLAUTS


def test_what_is_no_western_text_is_refused() -> None:
    assert find_reason(".txt", "Привет мир, как дела".encode("windows-1251")) == "encoding"
    assert find_reason(".txt", b"MZ\0\0\1 binary") == "damaged"


def test_text_is_clean_and_no_longer_than_allowed() -> None:
    document = read_document(".md", b"# one\r\ntwo\x1fthree", 9)
    assert document == ("# one\ntwo", True, None, None)
    assert read_document(".txt", b"one", 3) == ("one", False, None, None)


def test_html_is_read_as_in_training() -> None:
    html = (
        "<!doctype html><style>p {}</style><p>Hy<b>phen</b>s &amp;\n"
        "<p>a <i>dragon</i><script>a<b</script>\n"
    )
    ours = read_text(".html", html.encode())
    assert ours == "Hyphens &\na dragon"
    assert ours.split() == remove_markup(html).split()
    soup = BeautifulSoup(html, "html.parser")
    for unread in soup(["style", "script"]):
        unread.decompose()
    theirs = soup.get_text().removeprefix("html")
    assert ours.split() == theirs.split()


@pytest.mark.parametrize(
    ("declared", "encoding", "word"),
    [("windows-1251", "windows-1251", "дракон"), ("iso-8859-1", "windows-1252", "„Köln“")],
)
def test_html_declares_its_encoding(declared, encoding, word) -> None:
    page = f'<meta http-equiv="Content-Type" content="text/html; charset={declared}"><p>{word}'
    assert read_text(".htm", page.encode(encoding)) == word


def test_pages_of_a_pdf() -> None:
    text = "A dragon for beginners: größer\nthe second page"
    assert detect_kind("paper", PDF) == detect_kind("x.txt", PDF) == ".pdf"
    assert read_document(".pdf", PDF, 1000) == (text, False, 2, 2)
    assert read_document(".pdf", PDF, 10) == ("A dragon f", True, 2, 1)
    assert read_text(".pdf", make_locked_pdf(PDF, "")) == text


def test_pdfs_without_a_text() -> None:
    assert find_reason(".pdf", make_pdf("")) == "no_text"
    assert find_reason(".pdf", make_locked_pdf(PDF, "secret")) == "locked"
    for broken in (PDF[: len(PDF) // 2], b"%PDF-1.7\n", make_circular_pdf(PDF), b""):
        assert find_reason(".pdf", broken) == "damaged"


@pytest.mark.long
def test_a_page_that_unfolds_without_end_is_left_out() -> None:
    document = read_document(".pdf", make_decompression_bomb(PDF), 1000)
    assert document.cut
    assert (document.pages, document.pages_read) == (2, 1)


def test_what_was_read_in_time_is_kept() -> None:
    def end(*_):
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, end)
    try:
        pdf = make_slow_pdf(PDF, 500_000)
        signal.setitimer(signal.ITIMER_REAL, 2)
        document = read_document(".pdf", pdf, 10**6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert document == ("A dragon for beginners: größer", True, 2, 1)


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not limit memory")
def test_the_process_is_limited() -> None:
    code = (
        "from ovaflow.serving.reading_process import limit_resources; "
        "limit_resources(); bytearray(2 << 30)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MemoryError" in done.stderr
