"""Blocks of text features: words, pairs of neighbours, prefixes, stems, characters and names of
labels.

All but pairs and names are made of one word, so that a text's counts are sums over its words. A
feature's name tells its block, since its marks are in no word: ``dragon``, ``train dragon``,
``dragon*`` (longer words that begin so), ``dragon-`` (a stem), ``"drag"`` (characters, with a space
where the word ends), ``<train dragons>`` (a name).
"""

import re
from collections import Counter

import Stemmer

WORDS = "words"
PAIRS = "pairs"
NAMES = "names"

PHRASE_PREFIX = "<"
"""With which the names of features begin that are names of labels."""

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"  # Japanese, Chinese
)
_NOTICED_SPACELESS_SHARE = 0.01
_LARGE_SPACELESS_SHARE = 0.1
"""Share of spaceless texts that is noticed, and that is worth characters whatever they cost the
others.
"""


def is_spaceless(text):
    """Whether a text, or word, has letters of scripts that put no spaces between words."""
    return _SPACELESS.search(text) is not None


def advise_on_spaceless(spaceless, texts):
    """What to do if so many of the texts are spaceless; nothing if they are a hundredth or less."""
    if spaceless > texts / 2:
        return "set features: [{characters: [1, 3]}]"
    if spaceless > _LARGE_SPACELESS_SHARE * texts:
        return "set features: [words, {prefixes: 6}, {characters: [1, 3]}]"
    return (
        "set features: auto, which tries characters, too"
        if spaceless > _NOTICED_SPACELESS_SHARE * texts
        else ""
    )


def make_feature_namer(blocks):
    """Function from a word to the names of its features in all blocks of one word, each as often as
    it counts.
    """
    makers = []
    for block in blocks:
        name, _, argument = block.partition("=")
        if name not in (PAIRS, NAMES):
            makers.append(_MAKERS[name](argument))
    return lambda word: [name for make in makers for name in make(word)]


def make_feature_locator(blocks):
    """Function from a word to (name, start, end) of each of its features, empty for an end of the
    word alone.
    """
    makers = [make_feature_namer([block]) for block in blocks]

    def places(word):
        for names_of in makers:
            # pieces of a length come from left to right; to look for each would take quadratic time
            starts = Counter()
            for name in names_of(word):
                if name.startswith('"'):
                    start = starts[len(name)] - 1
                    starts[len(name)] += 1
                    yield name, max(start, 0), min(start + len(name) - 2, len(word))
                else:
                    yield name, 0, len(name) - 1 if name.endswith("*") else len(word)

    return places


def format_pair(first, second):
    return f"{first} {second}"


def format_phrase(words):
    return f"<{' '.join(words)}>"


def parse_phrase(name):
    """The words of a label's name that is a feature of this name; none of other features."""
    return name[1:-1].split() if name.startswith(PHRASE_PREFIX) else []


def _words(argument):
    return lambda word: (word,)


def _prefixes(argument):
    length = int(argument)
    return lambda word: (f"{word[:length]}*",) if len(word) > length else ()


_LONGEST_STEMMED = 1000
"""Letters of a word that are stemmed; some stemmers take quadratic time, and hold the interpreter.
"""


def _stems(argument):
    stemmers = [Stemmer.Stemmer(language).stemWord for language in argument.split(",")]
    return lambda word: dict.fromkeys(f"{stem(word[:_LONGEST_STEMMED])}-" for stem in stemmers)


def _characters(argument):
    low, high = map(int, argument.split("-"))

    def pieces(word):
        padded = f" {word} "
        last = min(high, max(low, len(padded)))
        for length in range(low, last + 1):
            for start in range(max(1, len(padded) - length + 1)):
                yield f'"{padded[start : start + length]}"'

    return pieces


_MAKERS = {WORDS: _words, "prefixes": _prefixes, "stems": _stems, "characters": _characters}
