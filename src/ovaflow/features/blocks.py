"""Blocks of text features: words, pairs of neighbours, prefixes, stems, characters and names of
labels.

All but pairs and names are made of one word, so that a text's counts are sums over its words. A
feature's name tells its block, since its marks are in no word: ``dragon``, ``train dragon``,
``dragon*`` (longer words that begin so), ``dragon-`` (a stem), ``"drag"`` (characters, with a space
where the word ends), ``<train dragons>`` (a name).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import Stemmer

WORDS = "words"
PAIRS = "pairs"
NAMES = "names"

PHRASE_PREFIX = "<"
"""First character of features that are names of labels."""

_FEWEST_PREFIX_LETTERS = 4
"""Letters of a prefix by which a word is known.

Of words of random letters, 11 % begin with the same three letters as words of kirjastonhoitaja, and
1 % with the same four.
"""

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"  # Japanese, Chinese
)
_NOTICED_SPACELESS_SHARE = 0.01
"""Share of spaceless texts above which they are remarked upon."""
_LARGE_SPACELESS_SHARE = 0.1
"""Share of spaceless texts above which characters are recommended, although these also add features
to the other texts.
"""

_LONGEST_STEMMED = 1000
"""Letters of a word that are stemmed: some stemmers take quadratic time, in which no other thread
runs.
"""


def is_spaceless(text: str) -> bool:
    """Return whether a text or word has letters of scripts that put no spaces between words."""
    return _SPACELESS.search(text) is not None


def advise_on_spaceless(n_spaceless: int, n_texts: int) -> str:
    """Advise on features for texts without spaces; empty if at most 1 % of them have none."""
    if n_spaceless > n_texts / 2:
        return "set features: [{characters: [1, 3]}]"
    if n_spaceless > _LARGE_SPACELESS_SHARE * n_texts:
        return "set features: [words, {prefixes: 6}, {characters: [1, 3]}]"
    if n_spaceless > _NOTICED_SPACELESS_SHARE * n_texts:
        return "set features: auto, which tries characters, too"
    return ""


def make_feature_namer(blocks: Iterable[str]) -> Callable[[str], list[str]]:
    """Make a function that gives the names of a word's features.

    Parameters
    ----------
    blocks : iterable of str
        Blocks; those that are not of one word are left out.

    Returns
    -------
    name_features : callable
        Gives each name as often as it counts.
    """
    namers = []
    for block in blocks:
        name, _, argument = block.partition("=")
        if name not in (PAIRS, NAMES):
            namers.append(_BLOCK_NAMERS[name](argument))

    def name_features(word: str) -> list[str]:
        names: list[str] = []
        for namer in namers:
            names += namer(word)
        return names

    return name_features


def has_weak_features(blocks: Iterable[str]) -> bool:
    """Return whether a word can have features of these blocks without being known by them."""
    for block in blocks:
        name, _, argument = block.partition("=")
        if name == "characters":
            return True
        if name == "prefixes" and int(argument) < _FEWEST_PREFIX_LETTERS:
            return True
    return False


def is_known_word(word: str, names: Sequence[str], is_feature: Sequence[bool]) -> bool:
    """Return whether a model knows a word, by those of its features that are in the model.

    The word itself, its stem, or a prefix of four letters is enough. A word of any language has
    some known pieces, so a word is known by its pieces if all of them are; one is enough for a word
    without spaces, which is many words.

    Parameters
    ----------
    word : str
        The word.
    names : sequence of str
        Names of its features.
    is_feature : sequence of bool
        Whether each of them is in the model.
    """
    n_pieces = 0
    n_known_pieces = 0
    for name, is_known in zip(names, is_feature, strict=True):
        if name.startswith('"'):
            n_pieces += 1
            n_known_pieces += is_known
        elif is_known and (not name.endswith("*") or len(name) > _FEWEST_PREFIX_LETTERS):
            return True
    if is_spaceless(word):
        return any(is_feature)
    return 0 < n_pieces == n_known_pieces


def make_feature_locator(
    blocks: Iterable[str],
) -> Callable[[str], Iterator[tuple[str, int, int]]]:
    """Make a function that gives the name, start and end of each of a word's features.

    A feature that is only an end of the word is empty: its start is its end.
    """
    namers = [make_feature_namer([block]) for block in blocks]

    def locate_features(word: str) -> Iterator[tuple[str, int, int]]:
        for namer in namers:
            # pieces of a length come from left to right; searching each would take quadratic time
            n_pieces: Counter[int] = Counter()
            for name in namer(word):
                if name.startswith('"'):
                    start = n_pieces[len(name)] - 1
                    n_pieces[len(name)] += 1
                    yield name, max(start, 0), min(start + len(name) - 2, len(word))
                elif name.endswith("*"):
                    yield name, 0, len(name) - 1
                else:
                    yield name, 0, len(word)

    return locate_features


def format_pair(first: str, second: str) -> str:
    """Return the name of the feature of two neighbouring words."""
    return f"{first} {second}"


def format_phrase(words: Sequence[str]) -> str:
    """Return the name of the feature of a label's name."""
    return f"<{' '.join(words)}>"


def parse_phrase(name: str) -> list[str]:
    """Return the words of a label's name by the name of its feature; none for other features."""
    return name[1:-1].split() if name.startswith(PHRASE_PREFIX) else []


Namer = Callable[[str], Iterable[str]]
"""Function from a word to the names of its features in one block."""


def _make_word_namer(argument: str) -> Namer:
    return lambda word: (word,)


def _make_prefix_namer(argument: str) -> Namer:
    length = int(argument)
    return lambda word: (f"{word[:length]}*",) if len(word) > length else ()


def _make_stem_namer(argument: str) -> Namer:
    stemmers = [Stemmer.Stemmer(language).stemWord for language in argument.split(",")]
    return lambda word: dict.fromkeys(f"{stem(word[:_LONGEST_STEMMED])}-" for stem in stemmers)


def _make_character_namer(argument: str) -> Namer:
    low, high = argument.split("-")
    shortest = int(low)
    longest = int(high)

    def name_pieces(word: str) -> Iterator[str]:
        padded = f" {word} "
        last = min(longest, max(shortest, len(padded)))
        for length in range(shortest, last + 1):
            for start in range(max(1, len(padded) - length + 1)):
                yield f'"{padded[start : start + length]}"'

    return name_pieces


_BLOCK_NAMERS = {
    WORDS: _make_word_namer,
    "prefixes": _make_prefix_namer,
    "stems": _make_stem_namer,
    "characters": _make_character_namer,
}
"""Makers of the functions that name the features of each block of one word."""
