"""Files dropped on the page become text, or an error with its reason, and damage nothing."""

import importlib.util
import json
import time

import pytest
from pdf_files import make_locked_pdf, make_pdf, make_slow_pdf

from ovaflow.serving import dropped_files
from ovaflow.serving.replies import ExtendedProblem

PAGES = ("How to train a dragon", "the second page")


@pytest.fixture(scope="module")
def pdf() -> bytes:
    return make_pdf(*PAGES)


def send_file(service, name, content, headers=None) -> tuple[int, dict]:
    """Send a file as the page does; return status and answer."""
    connection = service.connect()
    try:
        kind = {"Content-Type": "application/octet-stream"}
        connection.request("POST", f"/texts?name={name}", content, kind | (headers or {}))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_the_text_of_a_file(service, pdf) -> None:
    text = "\n".join(PAGES)
    paged = {"cut": False, "pages": 2, "pages_read": 2}
    unpaged = {"cut": False, "pages": None, "pages_read": None}
    of_pdf = {"text": text, "characters": len(text)} | paged
    of_html = {"text": "café noir", "characters": 9} | unpaged
    of_nothing = {"text": "", "characters": 0} | unpaged
    assert send_file(service, "paper.pdf", pdf) == (200, of_pdf)
    assert send_file(service, "A.HTM", b"<p>caf\xe9 <b>noir") == (200, of_html)
    assert send_file(service, "empty.txt", b"") == (200, of_nothing)


def test_a_long_text_is_cut_and_can_be_asked_about(service) -> None:
    status, answer = send_file(service, "long.md", ("word00 ü\n" * 1000).encode())
    assert (status, answer["characters"], answer["cut"]) == (200, 2000, True)
    [prediction] = service.answer("/predict", {"text": answer["text"]})["predictions"]
    assert prediction["known_words"] > 0.99 * prediction["words"]


@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("a.docx", b"PK\3\4", 415, "kind"),
        ("noending", b"text", 415, "kind"),
        ("a.txt", "Привет".encode("windows-1251"), 422, "encoding"),
        ("a.pdf", b"text", 422, "damaged"),
        ("a.pdf", make_pdf(""), 422, "no_text"),
        ("a.pdf", make_locked_pdf(make_pdf("text"), "secret"), 422, "locked"),
        ("a.txt", b"a" * 600_000, 413, None),
        ("", b"text", 422, None),
    ],
)
def test_why_a_file_cannot_be_read(service, name, content, status, code) -> None:
    received, problem = send_file(service, name, content)
    assert (received, problem.get("code")) == (status, code)


def test_pages_of_other_sites_cannot_ask(service) -> None:
    assert send_file(service, "a.txt", b"text", {"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert send_file(service, "a.txt", b"text", {"Origin": "https://evil.example.org"})[0] == 403


def test_without_pypdf_the_extra_is_named(monkeypatch, pdf) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ExtendedProblem, match=r"pip install 'ovaflow\[pdf\]'") as error:
        dropped_files._require_kind("a.pdf", pdf)
    assert (error.value.status_code, error.value.members["code"]) == (415, "pypdf")
    assert dropped_files._require_kind("a.TXT", b"") == ".txt"


def test_a_process_that_takes_too_long_is_killed(monkeypatch, pdf) -> None:
    monkeypatch.setattr(dropped_files, "KILLING_SECONDS", 0.5)
    before = time.monotonic()
    with pytest.raises(ExtendedProblem) as error:
        dropped_files._read_in_process(".pdf", make_slow_pdf(pdf, 500_000), 10**6)
    assert error.value.members["code"] == "too_slow"
    assert time.monotonic() - before < 5


def test_a_process_that_dies_says_nothing(monkeypatch) -> None:
    monkeypatch.setattr(dropped_files.sys, "executable", "/bin/false")
    with pytest.raises(ExtendedProblem) as error:
        dropped_files._read_in_process(".txt", b"text", 10)
    assert error.value.members["code"] == "damaged"
