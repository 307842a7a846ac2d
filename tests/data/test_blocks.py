"""Features of one word that is as long as a text."""

import random
from collections import Counter

from ovaflow.data.blocks import names_of_word, places_in_word


def test_places_of_characters_in_a_long_word():
    """In a moment; it took a minute."""
    word = "".join(random.Random(0).choices("abcdefghij", k=200_000))
    theirs = Counter(word[start : start + 4] for start in range(len(word) - 3))
    ours = {piece: len(places_in_word(f'"{piece}"', word)) for piece in [*theirs][:3000]}
    assert ours.items() <= theirs.items()


def test_stems_of_long_words():
    """In a moment; it took 8 s, in which no other thread ran."""
    stems_of = names_of_word(["stems=catalan"])
    assert list(stems_of("í" * 1_000_000)) == list(stems_of("í" * 1000))


def test_the_end_of_a_word_is_no_place_in_the_text():
    """It stands for a feature where texts without words are among those of training."""
    assert '" "' in names_of_word(["characters=1-2"])("cats")
    assert places_in_word('" "', "cats") == []
