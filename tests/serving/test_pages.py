"""The page in its languages: its texts, and the choice of a language for a reader."""

import json
import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from ovaflow.reading.documents import UNREADABLE_REASONS
from ovaflow.serving.pages import (
    PAGE_LANGUAGES,
    SCRIPT_FILES,
    choose_page_language,
    load_page_words,
)

ASSETS = resources.files("ovaflow.serving") / "assets"
# the service sends codes, which the page puts into words
CODES = {"doubt unknown_words", "doubt language"} | {f"file {code}" for code in UNREADABLE_REASONS}
# texts of the service in English, of the page in its other languages
EVIDENCE = "evidence"


def find_values(sentence) -> set[str]:
    """Find the names of the values in a sentence, or in its forms."""
    if isinstance(sentence, str):
        return set(re.findall(r"\{(\w+)\}", sentence))
    values = set()
    for form in sentence.values():
        values |= find_values(form)
    return values


@pytest.mark.parametrize("language", PAGE_LANGUAGES[1:])
def test_the_page_says_the_same_in_every_language(language) -> None:
    theirs = load_page_words("en")
    ours = {key: each for key, each in load_page_words(language).items() if key != EVIDENCE}
    assert ours.keys() == theirs.keys()
    same = set()
    for key, sentence in ours.items():
        assert find_values(sentence) == find_values(theirs[key])
        if sentence == theirs[key] and re.search("[a-z]{4}", str(sentence)):
            same.add(key)
    assert same <= {"probability", "score", "documentation"}


def test_the_files_of_words_have_all_texts_of_the_page_and_no_others() -> None:
    page = (ASSETS / "page.html.j2").read_text(encoding="utf-8")
    scripts = "".join((ASSETS / name).read_text(encoding="utf-8") for name in SCRIPT_FILES)
    used = set(re.findall(r"words\['([^']+)'\]", page))
    keys = {*load_page_words("en")} - {"own name"}
    assert keys >= CODES
    keys -= CODES
    assert used <= keys
    unused = set()
    for key in keys - used:
        is_in_scripts = f'"{key}"' in scripts
        is_composed = f"{key.rsplit(' ', 1)[0]} " in scripts + page
        if not is_in_scripts and not is_composed:
            unused.add(key)
    assert not unused
    called = set(re.findall(r'say\("([^"]+)"', scripts))
    assert called <= keys


QUALITIES = st.sampled_from(["", ";q=1", ";q=0.9", ";q=0.5", ";q=0"])
TAGS = st.sampled_from(["en", "de", "fr", "sv-FI", "fi"])
# other orders of equal qualities are a matter of taste
HEADERS = st.lists(
    st.tuples(TAGS, QUALITIES),
    max_size=4,
    unique_by=(lambda one: one[0][:2], lambda one: one[1][-3:]),
)


@given(HEADERS)
def test_a_reader_gets_the_preferred_language(parts) -> None:
    header = ", ".join(f"{tag}{quality}" for tag, quality in parts)
    theirs = parse_accept_header(header, LanguageAccept).best_match(PAGE_LANGUAGES, default="en")
    assert choose_page_language(header) == theirs


def test_the_page_is_in_the_language_that_is_asked_for(service):
    def read_page(path, accepted) -> tuple[str, str]:
        connection = service.connect()
        connection.request("GET", path, headers={"Accept-Language": accepted})
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        assert " object at " not in content, "a word is the method of a dict"
        return re.search('<html lang="(..)"', content)[1], response.headers["Vary"]

    assert read_page("/", "fr-CH, en;q=0.8") == ("fr", "Accept-Language")
    assert read_page("/?lang=de", "fr")[0] == "de"
    assert read_page("/?lang=xx", "*;q=0.5")[0] == "en"
    assert read_page("/", "de;q=nonsense")[0] == "en"
    german = json.loads((ASSETS / "words" / "de.json").read_text(encoding="utf-8"))
    assert german["save"] == "Speichern"
