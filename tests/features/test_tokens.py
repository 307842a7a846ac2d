"""Tokens, compared with a regular expression, and their places in the text."""

import itertools
import sys
import unicodedata

import naive
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ovaflow.features.tokens import (
    FIELD_SEPARATOR,
    _composes_backwards,
    find_token_spans,
    normal_form,
    number_word_sets,
    tokenize,
)
from ovaflow.features.word_table import WordTable
from ovaflow.reading.markup import remove_markup

CHARACTERS = st.one_of(
    st.characters(),
    st.sampled_from(
        "aeioußﬁİı\u0300\u0308\u0345\u1161\u11a8\u1100가ﾞか㏂\u09c7\u09be\u00a8Å½ \n.-+#"
    ),
)


WORD_KINDS = st.sampled_from(["plain", "symbols"])


def list_tokens(texts, word_kind="plain") -> list[list[str]]:
    """List the tokens of each text."""
    tokens = tokenize(texts, word_kind=word_kind)
    words = np.array([*tokens.words, None])[tokens.ids]
    tokens_of_texts = []
    for start, end in itertools.pairwise(tokens.indptr.tolist()):
        tokens_of_texts.append(words[start:end].tolist())
    return tokens_of_texts


@given(
    st.lists(st.text(CHARACTERS | st.sampled_from("a1_ \u0301²①१.+#"), max_size=12), max_size=5),
    WORD_KINDS,
)
@example(
    ["12\u0301 a\u0301 \u0301ab 1\u0301ab 1a a 12 _1", "", "१२ \U0001d7ce\U0001d7cf \U000e0101xy"],
    "plain",
)
@example(["ab\nab", "ba", "\ud800 lone \udfff"], "plain")
@example(["a\u0301+ .a\u0301 \u0301.a a+\u0301 a++1 ..a #.a", "+", ".", "a", ".a", "a+"], "symbols")
def test_same_tokens_as_a_regular_expression(texts, word_kind) -> None:
    theirs = [naive.tokens(normal_form(text), word_kind) for text in texts]
    assert list_tokens(texts, word_kind) == theirs
    words = list(tokenize(texts, word_kind=word_kind).words)
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We like C++, C#; F# (R) and .NET.", "we like c++ c# f# r and .net"),
        ("C++. (C#) C/C++ C++11 ASP.NET", "c++ c# c c++ c++ 11 asp net"),
        ("vitamin A, type 1: the end.", "vitamin a type 1 the end"),
        ("word-word a+b page#top end.Next ...and", "word word a b page top end next and"),
        ("Ｃ＋＋ # title 3.5 +1", "c++ title 3 5 1"),
    ],
)
def test_words_with_symbols(text, words) -> None:
    assert list_tokens([text], "symbols") == [words.split()]
    assert [span.token for span in find_token_spans(text, word_kind="symbols")] == words.split()


@given(st.lists(st.text(CHARACTERS | st.sampled_from("abé1 .,"), max_size=9), max_size=9))
@example(["ab cd", "CD, ab 12 ab.", "abcd", "ab", "", "12", "ba cd"])
def test_texts_have_the_same_number_if_their_words_are_the_same(texts) -> None:
    ours = number_word_sets(tokenize(texts)).tolist()
    theirs = [frozenset(words) for words in list_tokens(texts)]
    assert [number >= 0 for number in ours] == [bool(words) for words in theirs]
    # as many numbers as sets, and as many pairs of them
    assert len({*ours}) == len({*theirs}) == len({*zip(ours, theirs, strict=True)})


def test_fields_and_words_left_out() -> None:
    found = tokenize(
        [
            f"one two{FIELD_SEPARATOR}two three{FIELD_SEPARATOR}{FIELD_SEPARATOR}four",
            "five",
            f"{FIELD_SEPARATOR}six",
        ],
        frozenset({"three"}),
    )
    assert [list(found.words)[word] for word in found.ids] == [
        "one",
        "two",
        "two",
        "four",
        "five",
        "six",
    ]
    assert (found.fields.tolist(), found.indptr.tolist()) == ([0, 0, 1, 3, 0, 1], [0, 4, 5, 6])
    assert tokenize([FIELD_SEPARATOR.join(["one"] * 300)]).fields.tolist() == [
        *range(256),
        *[255] * 44,
    ]


@given(
    st.lists(st.lists(st.text("ab\ud800", min_size=1, max_size=3), max_size=30), max_size=5),
    st.integers(2, 5),
)
def test_words_of_a_table_are_numbered_as_by_a_dictionary(batches, every) -> None:
    table = WordTable()
    theirs = {}
    issued = 0
    for batch in batches:
        for word in batch:
            if word not in theirs:
                theirs[word] = issued
                issued += 1
        letters = np.frombuffer("".join(batch).encode("utf-32-le", "surrogatepass"), np.uint32)
        places = np.cumsum([0, *(len(word) for word in batch)])
        ours = table.number(letters, places[:-1], places[1:])
        assert ours.tolist() == [theirs[word] for word in batch]
        # words whose number is a multiple are forgotten after each batch
        table.forget(np.arange(issued) % every == 0)
        theirs = {word: number for word, number in theirs.items() if number % every}
    assert {word: number for number, word in enumerate(table.words) if word} == theirs


def test_words_chosen_for_one_place_of_the_table_take_no_longer() -> None:
    # 100,000 words that a fixed seed of FNV-1a puts next to each other; it took 11 s
    prime = np.uint64(1099511628211)
    seed = np.uint64(14695981039346656037)
    first = np.arange(0x4E00, 0x5000, dtype=np.uint64)[:, None]
    second = np.arange(0x4E00, 0x9FA0, dtype=np.uint64)
    hashed = ((seed ^ first) * prime ^ second) * prime
    near = np.argwhere(((hashed ^ (hashed >> np.uint64(32))) & np.uint64((1 << 18) - 1)) < 4096)[
        :100_000
    ]
    words = [chr(0x4E00 + a) + chr(0x4E00 + b) for a, b in near.tolist()]
    assert list(tokenize([" ".join(words)]).words) == words


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\uff9e\u0301", "\u0f73\u0301"])
def test_runs_of_marks_are_divided_as_in_uax_15(marks) -> None:
    # it took minutes
    run = marks * 15
    theirs = unicodedata.normalize("NFKC", "a" + "\u034f".join([run] * 10_000))
    assert normal_form("A" + run * 10_000) == theirs
    assert normal_form("A" + run) == unicodedata.normalize("NFKC", "a" + run)


def test_all_marks_that_are_sorted_are_divided() -> None:
    for character in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.combining(unicodedata.normalize("NFKD", character)[0]):
            assert "\u034f" in normal_form(character * 31), hex(ord(character))


@given(st.text(CHARACTERS, max_size=12), WORD_KINDS)
@example("\u0345a\u0345\u0301b", "plain")
@example("ab" + "\u0301\u0316" * 40 + " ab", "plain")
@example("", "plain")
def test_token_spans_have_the_same_tokens_in_their_places(text, word_kind) -> None:
    places = find_token_spans(text, word_kind=word_kind)
    assert [place.token for place in places] == naive.tokens(normal_form(text), word_kind)
    assert places == sorted(places, key=lambda place: place.starts[0])
    for token, starts, ends in places:
        assert len(starts) == len(ends) == len(token)
        assert 0 <= starts[0] < ends[-1] <= len(text)
        assert token in normal_form(text[starts[0] : ends[-1]])


def test_every_composition_stays_within_a_cluster() -> None:
    for code in range(sys.maxunicode + 1):
        decomposed = unicodedata.normalize("NFD", chr(code))
        if len(decomposed) > 1 and unicodedata.normalize("NFC", decomposed) == chr(code):
            assert all(_composes_backwards(character) for character in decomposed[1:]), hex(code)


@pytest.mark.parametrize(
    ("html", "text", "words"),
    [
        (False, "Großes STRASSENFEST", ["Großes", "STRASSENFEST"]),
        (False, "Ein Cafe\u0301 – finanziert", ["Ein", "Cafe\u0301", "finanziert"]),
        (False, "e\ufb03ciency, ½ of it", ["e\ufb03ciency", "of", "it"]),
        (False, "한\u1112\u1161\u11ab글 text", ["한\u1112\u1161\u11ab글", "text"]),
        (
            True,
            "<p>My <b>prin</b>ter</p><br/>of M&uuml;ller",
            ["My", "prin</b>ter", "of", "M&uuml;ller"],
        ),
        (
            True,
            "x &lt; 5 &nosuch; a<!-- note -->b <style>p {}</style>&nbsp;end",
            ["&nosuch;", "end"],
        ),
        (True, "one<style></style >two <!-- never > closed", ["one", "two"]),
        (True, "one<script> var = 1; </style>", ["one"]),
    ],
)
def test_words_as_they_were_written(html, text, words) -> None:
    found = find_token_spans(text, html=html)
    assert [text[span.starts[0] : span.ends[-1]] for span in found] == words
    plain = remove_markup(text) if html else text
    assert [span.token for span in found] == [span.token for span in find_token_spans(plain)]


@pytest.mark.parametrize("text", ["<!--", "<script>", "<style></style "])
def test_html_without_ends_is_read_once(text) -> None:
    # it took hours
    assert not find_token_spans(text * 100_000, html=True)


def test_entities_of_many_digits_are_text() -> None:
    assert remove_markup(f"&#{'1' * 5000};") == f"&#{'1' * 5000};"
