"""The page in its languages: what it says, and which of them a reader gets."""

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
# what the service says in codes
CODES = {"doubt unknown_words", "doubt language"} | {f"file {code}" for code in UNREADABLE_REASONS}
# said by the service in English, by the page in its other languages
EVIDENCE = "evidence"


def values_in(sentence):
    if isinstance(sentence, str):
        return set(re.findall(r"\{(\w+)\}", sentence))
    return set().union(*map(values_in, sentence.values()))


@pytest.mark.parametrize("language", PAGE_LANGUAGES[1:])
def test_the_page_says_the_same_in_every_language(language) -> None:
    theirs = load_page_words("en")
    ours = {key: each for key, each in load_page_words(language).items() if key != EVIDENCE}
    values_of_ours, values_of_theirs = (
        {key: values_in(each) for key, each in all_.items()} for all_ in (ours, theirs)
    )
    assert values_of_ours == values_of_theirs
    same = {
        key for key in ours if ours[key] == theirs[key] and re.search("[a-z]{4}", str(ours[key]))
    }
    assert same <= {"probability", "score", "documentation"}


def test_all_that_is_said_is_in_the_files_of_words_and_nothing_else() -> None:
    page = (ASSETS / "page.html.j2").read_text(encoding="utf-8")
    scripts = "".join((ASSETS / name).read_text(encoding="utf-8") for name in SCRIPT_FILES)
    said = set(re.findall(r"words\['([^']+)'\]", page))
    known = {*load_page_words("en")} - {"own name"}
    assert known >= CODES
    known -= CODES
    assert said <= known
    unsaid = {
        key
        for key in known - said
        if f'"{key}"' not in scripts and f"{key.rsplit(' ', 1)[0]} " not in scripts + page
    }
    assert not unsaid
    called = set(re.findall(r'say\("([^"]+)"', scripts))
    assert called <= known


QUALITIES = st.sampled_from(["", ";q=1", ";q=0.9", ";q=0.5", ";q=0"])
TAGS = st.sampled_from(["en", "de", "fr", "sv-FI", "fi"])
# other orders of equal qualities are a matter of taste
HEADERS = st.lists(
    st.tuples(TAGS, QUALITIES),
    max_size=4,
    unique_by=(lambda one: one[0][:2], lambda one: one[1][-3:]),
)


@given(HEADERS)
def test_a_reader_gets_the_language_that_is_liked_best(parts) -> None:
    header = ", ".join(map("".join, parts))
    theirs = parse_accept_header(header, LanguageAccept).best_match(PAGE_LANGUAGES, default="en")
    assert choose_page_language(header) == theirs


def test_the_page_is_in_the_language_that_is_asked_for(service):
    def page(path, accepted):
        connection = service.connect()
        connection.request("GET", path, headers={"Accept-Language": accepted})
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        assert " object at " not in content, "a word is the method of a dict"
        return re.search('<html lang="(..)"', content)[1], response.headers["Vary"]

    assert page("/", "fr-CH, en;q=0.8") == ("fr", "Accept-Language")
    assert page("/?lang=de", "fr")[0] == "de"
    assert page("/?lang=xx", "*;q=0.5")[0] == "en"
    assert page("/", "de;q=nonsense")[0] == "en"
    assert (
        json.loads((ASSETS / "words" / "de.json").read_text(encoding="utf-8"))["save"]
        == "Speichern"
    )
