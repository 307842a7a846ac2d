"""Detection of the language of a text by its stop words and its script.

A language is detected if enough words are its stop words, and far fewer are those of any other one;
a word that several languages have counts little. For short texts, and for languages that are much
alike, the language stays unknown: a wrong language would be worse than none.
"""

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from stop_words import LANGUAGE_MAPPING, get_stop_words

from ovaflow.features.tokens import Tokens, normal_form, remove_words, tokenize
from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_kernel

LANGUAGES = tuple(LANGUAGE_MAPPING)
"""Codes, as in ISO 639-1, of the languages that can be detected."""

FEWEST_STOP_WORDS = 4
"""Stop words of its language that a text needs at least."""
LEAST_STOP_WORD_SHARE = 0.15
"""Share of a text's words that these need to be."""
LEAST_LEAD = 2.5
"""Weight of these, as a multiple of the weight of the next language's."""

# the lists are not clean: that of English has domains of the internet, that of Slovak has English
# words
_TWO_LETTERS = frozenset(
    re.findall(r"\w+", "am an as at be by do go he if in is it me my no of on or so to up us we")
)
_DOMAINS = frozenset(
    ["com", "edu", "gov", "http", "https", "html", "inc", "int", "mil", "net", "org", "www"]
)
_ENGLISH_IN_SLOVAK = frozenset(("and", "for", "of", "the"))

_OWN_SCRIPT = re.compile(
    r"(?P<ja>.*[\u3040-\u30ff])|(?P<zh>[\u3400-\u9fff])|(?P<ko>[\uac00-\ud7af])"
    r"|(?P<el>[\u0370-\u03ff\u1f00-\u1fff])|(?P<he>[\u0590-\u05ff])"
)
_FIRST_OWN_SCRIPT = "\u0370"
"""First character of a script that few languages have."""
_SPACELESS_LANGUAGES = ("ja", "zh")


class _WordLanguages(NamedTuple):
    """Languages whose stop word a word is: word v has languages[starts[v]:starts[v + 1]]."""

    starts: np.ndarray
    languages: np.ndarray


def _clean_stop_words(code: str, words: set[str]) -> set[str]:
    if code == "en":
        return {word for word in words if len(word) > 2 or word in _TWO_LETTERS} - _DOMAINS
    if code == "sk":
        return words - _ENGLISH_IN_SLOVAK
    return words


@functools.cache
def _number_languages_by_word() -> dict[str, tuple[int, ...]]:
    """Return the numbers of the languages that have each stop word."""
    by_word: dict[str, tuple[int, ...]] = defaultdict(tuple)
    for number, (code, name) in enumerate(LANGUAGE_MAPPING.items()):
        words = {normal_form(word) for word in get_stop_words(name)}
        for word in _clean_stop_words(code, words):
            by_word[word] += (number,)
    return dict(by_word)


def _find_word_languages(words: Sequence[str]) -> _WordLanguages:
    by_word = _number_languages_by_word()
    has_own_script = max(words, default="") >= _FIRST_OWN_SCRIPT
    languages_of_words = []
    for word in words:
        languages = by_word.get(word, ())
        if has_own_script:
            languages = _find_script_languages(word) or languages
        languages_of_words.append(languages)
    starts = offsets([len(languages) for languages in languages_of_words])
    numbers = itertools.chain.from_iterable(languages_of_words)
    return _WordLanguages(starts, np.fromiter(numbers, np.int32, starts[-1]))


def _find_script_languages(word: str) -> tuple[int, ...]:
    """Return the number of the language that a word's script shows, once for each vote."""
    script = _OWN_SCRIPT.match(word)
    if script is None or script.lastgroup is None:
        return ()
    # text without spaces between words counts as words of two characters
    n_votes = max(len(word) // 2, 1) if script.lastgroup in _SPACELESS_LANGUAGES else 1
    return (LANGUAGES.index(script.lastgroup),) * n_votes


def detect_languages(tokens: Tokens) -> list[str | None]:
    """Detect the code of each tokenized text's language; None where it is unknown.

    Single letters and numbers do not count, so that the kind of words does not matter.
    """
    tokens = remove_words(
        tokens, {word for word in tokens.words if len(word) < 2 or word.isdecimal()}
    )
    detected = np.empty(len(tokens.indptr) - 1, np.int64)
    known = _find_word_languages(list(tokens.words))
    votes = np.zeros(len(LANGUAGES), np.int64)
    weights = np.zeros(len(LANGUAGES))
    _detect(tokens.ids, tokens.indptr, known.starts, known.languages, votes, weights, detected)
    return [LANGUAGES[number] if number >= 0 else None for number in detected.tolist()]


@strict_kernel
def _add_votes(
    ids: np.ndarray,
    starts: np.ndarray,
    languages: np.ndarray,
    votes: np.ndarray,
    weights: np.ndarray,
) -> None:
    """Count the words of each language; a word that n languages have weighs 1 / n for each.

    ``ids`` are the words of a text, ``starts`` and ``languages`` those of :class:`_WordLanguages`;
    ``votes`` and ``weights`` are added to, one for each language.
    """
    for word in ids:
        for place in range(starts[word], starts[word + 1]):
            votes[languages[place]] += 1
            weights[languages[place]] += 1 / (starts[word + 1] - starts[word])


@strict_kernel
def _detect(
    ids: np.ndarray,
    indptr: np.ndarray,
    starts: np.ndarray,
    languages: np.ndarray,
    votes: np.ndarray,
    weights: np.ndarray,
    detected: np.ndarray,
) -> None:
    """Fill in the number of the language of each text; -1 where it is unknown.

    ``ids`` and ``indptr`` are those of the tokens, the other arrays those of :func:`_add_votes`.
    """
    for text in range(len(detected)):
        votes[:] = 0
        weights[:] = 0
        words = ids[indptr[text] : indptr[text + 1]]
        _add_votes(words, starts, languages, votes, weights)
        first, second = np.argsort(-weights)[:2]
        enough = votes[first] >= FEWEST_STOP_WORDS and votes[first] >= LEAST_STOP_WORD_SHARE * len(
            words
        )
        if enough and weights[first] >= LEAST_LEAD * weights[second]:
            detected[text] = first
        else:
            detected[text] = -1


def score_languages(text: str, candidates: Iterable[str]) -> dict[str | None, float]:
    """Score candidates for the language of a text.

    Parameters
    ----------
    text : str
        The text.
    candidates : iterable of str
        Codes of languages.

    Returns
    -------
    scores : dict
        Scores by code, best first, whose sum is 1. The score of None is the share of words that the
        best candidate lacks to be detected.
    """
    tokens = tokenize([text])
    known = _find_word_languages(list(tokens.words))
    counts = np.zeros(len(LANGUAGES), np.int64)
    weights = np.zeros(len(LANGUAGES))
    _add_votes(tokens.ids, known.starts, known.languages, counts, weights)
    votes = dict(zip(LANGUAGES, counts.tolist(), strict=True))
    scores: dict[str | None, float] = {}
    for code in dict.fromkeys(candidates):
        scores[code] = votes.pop(code)
    needed = max(FEWEST_STOP_WORDS, LEAST_STOP_WORD_SHARE * len(tokens.ids), *votes.values())
    scores[None] = max(needed - max(scores.values()), 0)
    total = sum(scores.values())
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return {code: round(score / total, 4) for code, score in ranked}
