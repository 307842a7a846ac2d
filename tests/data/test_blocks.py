"""Features of one word that is as long as a text."""

import random

from ovaflow.data.blocks import names_of_word, places_in_word


def test_places_of_characters_in_a_long_word():
    """In a moment; it took two minutes."""
    word = "".join(map(chr, random.Random(0).choices(range(0x4E00, 0x9F00), k=200_000)))
    theirs = [(f'"{word[start : start + 4]}"', start, start + 4) for start in range(len(word) - 3)]
    assert [*places_in_word(["characters=4-4"])(word)][1:-1] == theirs


def test_stems_of_long_words():
    """In a moment; it took 8 s, in which no other thread ran."""
    stems_of = names_of_word(["stems=catalan"])
    assert list(stems_of("í" * 1_000_000)) == list(stems_of("í" * 1000))
