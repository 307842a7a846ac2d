"""Places of tokens against the tokenizer itself."""

import itertools
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ovaflow.data.tokens import _composes_backwards, normal_form, token_spans, tokenizer

CHARACTERS = st.one_of(
    st.characters(),
    st.sampled_from("aeioußﬁİı\u0300\u0308\u0345\u1161\u11a8\u1100가ﾞか㏂\u09c7\u09be\u00a8Å½ \n.-"),
)


@given(st.text(CHARACTERS, max_size=12))
@example("\u0345a\u0345\u0301b")
@example("")
def test_same_tokens_as_the_tokenizer(text):
    places = token_spans(text)
    ours, theirs = [place.token for place in places], tokenizer()(text)
    assert ours == theirs
    for earlier, later in itertools.pairwise(places):
        assert earlier.start <= later.start
    for start, end, token in places:
        assert 0 <= start < end <= len(text)
        assert token in normal_form(text[start:end])


def test_every_composition_stays_within_a_cluster():
    for code in range(sys.maxunicode + 1):
        decomposed = unicodedata.normalize("NFD", chr(code))
        if len(decomposed) > 1 and unicodedata.normalize("NFC", decomposed) == chr(code):
            assert all(_composes_backwards(character) for character in decomposed[1:]), hex(code)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Großes STRASSENFEST", ["Großes", "STRASSENFEST"]),
        ("Ein Cafe\u0301 – finanziert", ["Ein", "Cafe\u0301", "finanziert"]),
        ("e\ufb03ciency, ½ of it", ["e\ufb03ciency", "of", "it"]),
        ("한\u1112\u1161\u11ab글 text", ["한\u1112\u1161\u11ab글", "text"]),
    ],
)
def test_words_as_they_were_written(text, words):
    assert [text[start:end] for start, end, _ in token_spans(text)] == words
