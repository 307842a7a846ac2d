"""The language of a text, told by its stop words and its script.

It is told where enough words are stop words of one language, and far fewer those of any other one;
a word that several languages have counts little. Short texts, and those in languages that are much
alike, stay open: a wrong language would be worse than none.
"""

import functools
import itertools
import re
from collections import defaultdict

import numpy as np
from stop_words import LANGUAGE_MAPPING, get_stop_words

from ovaflow.features.tokens import normal_form, tokenize
from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_kernel

LANGUAGES = tuple(LANGUAGE_MAPPING)
"""Codes, as in ISO 639-1, of the languages that can be told."""

FEWEST_STOP_WORDS = 4
LEAST_STOP_WORD_SHARE = 0.15
LEAST_LEAD = 2.5
"""How many stop words a text needs, which share of its words they are, and how many times those of
the next.
"""

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
    r"(?P<ja>.*[\u3040-\u30ff])|(?P<zh>[\u3400-\u9fff])|(?P<ko>[\uac00-\ud7af])|(?P<el>[\u0370-\u03ff\u1f00-\u1fff])"
    r"|(?P<he>[\u0590-\u05ff])"
)
_FIRST_OWN_SCRIPT = "\u0370"
_SPACELESS = ("ja", "zh")


def _cleaned(code, words):
    if code == "en":
        return {word for word in words if len(word) > 2 or word in _TWO_LETTERS} - _DOMAINS
    return words - _ENGLISH_IN_SLOVAK if code == "sk" else words


@functools.cache
def _languages_by_word():
    by_word = defaultdict(tuple)
    for number, (code, name) in enumerate(LANGUAGE_MAPPING.items()):
        for word in _cleaned(code, set(map(normal_form, get_stop_words(name)))):
            by_word[word] += (number,)
    return dict(by_word)


def _languages_of(words):
    """Numbers of the languages that each word speaks for, as (starts, languages)."""
    by_word = _languages_by_word()
    of_words = [by_word.get(word, ()) for word in words]
    if max(words, default="") >= _FIRST_OWN_SCRIPT:
        of_words = [
            _by_script(word) or languages for word, languages in zip(words, of_words, strict=True)
        ]
    starts = offsets(list(map(len, of_words)))
    return starts, np.fromiter(itertools.chain.from_iterable(of_words), np.int32, starts[-1])


def _by_script(word):
    script = _OWN_SCRIPT.match(word)
    if script is None:
        return ()
    # what has no spaces between words counts as words of two characters
    times = max(len(word) // 2, 1) if script.lastgroup in _SPACELESS else 1
    return (LANGUAGES.index(script.lastgroup),) * times


def detect_languages(tokens):
    """The code of each tokenized text's language; None where it cannot be told."""
    told = np.empty(len(tokens.indptr) - 1, np.int64)
    _tell(tokens.ids, tokens.indptr, *_languages_of(list(tokens.words)), *_no_votes(), told)
    return [LANGUAGES[number] if number >= 0 else None for number in told.tolist()]


def _no_votes():
    """How many words speak for each language, and how strongly."""
    return np.zeros(len(LANGUAGES), np.int64), np.zeros(len(LANGUAGES))


@strict_kernel
def _vote(ids, starts, languages, votes, weights) -> None:
    """A word that n languages have weighs 1 / n for each."""
    for word in ids:
        for place in range(starts[word], starts[word + 1]):
            votes[languages[place]] += 1
            weights[languages[place]] += 1 / (starts[word + 1] - starts[word])


@strict_kernel
def _tell(ids, indptr, starts, languages, votes, weights, told) -> None:
    """The number of the language of each text; -1 where it cannot be told."""
    for text in range(len(told)):
        votes[:] = 0
        weights[:] = 0
        words = ids[indptr[text] : indptr[text + 1]]
        _vote(words, starts, languages, votes, weights)
        first, second = np.argsort(-weights)[:2]
        enough = votes[first] >= FEWEST_STOP_WORDS and votes[first] >= LEAST_STOP_WORD_SHARE * len(
            words
        )
        told[text] = first if enough and weights[first] >= LEAST_LEAD * weights[second] else -1


def score_languages(text, candidates):
    """Scores of candidates, best first, whose sum is 1; that of None is what the best one lacks to
    be told.
    """
    tokens = tokenize([text])
    (counts, weights) = _no_votes()
    _vote(tokens.ids, *_languages_of(list(tokens.words)), counts, weights)
    votes = dict(zip(LANGUAGES, counts.tolist(), strict=True))
    scores = {code: votes.pop(code) for code in dict.fromkeys(candidates)}
    needed = max(FEWEST_STOP_WORDS, LEAST_STOP_WORD_SHARE * len(tokens.ids), *votes.values())
    scores[None] = max(needed - max(scores.values()), 0)
    total = sum(scores.values())
    return {
        code: round(score / total, 4)
        for code, score in sorted(scores.items(), key=lambda item: -item[1])
    }
