"""The language of article 1 of the Declaration of Human Rights is detected; a wrong language is
worse than none.
"""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stop_words import LANGUAGE_MAPPING, get_stop_words

from ovaflow.features.text_language import LANGUAGES, detect_languages, score_languages
from ovaflow.features.tokens import normal_form, tokenize

ARTICLES = {
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. "
    "Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. "
    "Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit "
    "begegnen.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "en": "All human beings are born free and equal in dignity and rights. "
    "They are endowed with reason and conscience and should act towards one another in a spirit of "
    "brotherhood.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, "
    "dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los "
    "otros.",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. "
    "Heille on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden "
    "hengessä.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. "
    "Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un "
    "esprit de fraternité.",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. "
    "Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства. "
    "Каждый человек должен обладать всеми правами и всеми свободами, "
    "без какого бы то ни было различия.",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
}


def detect(*texts) -> list[str | None]:
    return detect_languages(tokenize(texts))


def test_the_language_of_an_article_is_detected() -> None:
    assert detect(*ARTICLES.values()) == list(ARTICLES)


def test_single_letters_and_numbers_do_not_change_the_language() -> None:
    texts = [f"{text} a 1 b 2 c 3 i 4 y 5 o 6 e 7 u 8" for text in ARTICLES.values()]
    assert detect_languages(tokenize(texts, word_kind="symbols")) == detect(*texts)


def test_the_language_of_short_texts_is_unknown() -> None:
    assert set(
        detect(*(" ".join(text.split()[:3]) for text in ARTICLES.values() if " " in text))
    ) <= {None, "el", "ko"}
    assert (
        detect("", "1984", "How to train a dragon", "Alice & Bob", "DIN DIN DIN DIN DIN")
        == [None] * 5
    )


def test_mixed_or_similar_languages_are_unknown() -> None:
    assert detect(ARTICLES["de"] + ARTICLES["fr"]) == [None]
    danish = (
        "Alle mennesker er født frie og lige i værdighed og rettigheder. "
        "De er udstyret med fornuft og samvittighed"
    )
    assert detect(danish)[0] in (None, "da")


LISTS = {
    code: {normal_form(word) for word in get_stop_words(name)}
    for code, name in LANGUAGE_MAPPING.items()
}
# of English and Slovak not all words are taken
POOL = sorted(
    word for word in (LISTS["de"] | LISTS["nl"]) - LISTS["en"] - LISTS["sk"] if len(word) > 1
)


@given(st.lists(st.sampled_from([*POOL, "haus", "boot"]), min_size=3))
def test_languages_are_those_that_slow_counting_finds(words) -> None:
    weights = Counter()
    for word in words:
        of_word = [code for code in LISTS if word in LISTS[code]]
        weights.update({code: Fraction(1, len(of_word)) for code in of_word})
    theirs = None
    if weights:
        (first, most), (_, least), *_ = [*weights.most_common(2), (None, 0)]
        enough = sum(word in LISTS[first] for word in words) >= max(4, 0.15 * len(words))
        theirs = first if enough and most >= 2.5 * least else None
    [ours] = detect(" ".join(words))
    assert ours == theirs


def test_scores_of_candidates() -> None:
    scores = score_languages(ARTICLES["de"], ["en", "de"])
    assert next(iter(scores)) == "de"
    assert sum(scores.values()) == pytest.approx(1)
    assert next(iter(score_languages(ARTICLES["fr"], ["fi", "sv"]))) is None
    assert score_languages("", ["en"]) == {None: 1, "en": 0}
    assert set(score_languages("a", LANGUAGES)) == {*LANGUAGES, None}
