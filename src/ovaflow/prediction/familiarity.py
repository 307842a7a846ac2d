"""How familiar texts are to a model: how many of their words it knows, and their languages."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from ovaflow.features.text_language import detect_languages
from ovaflow.sparse.jit import strict_kernel

MIN_KNOWN_SHARE = 0.1
"""A text of which the model knows a smaller share of the words is doubtful."""

_ENOUGH_TEXTS = 100
"""Texts below which unknown words are never said to be too many."""

_FAR_ABOVE = 0.05
"""More than the usual share of unknown words: samples of one test set never reach it, see
docs/results.md.
"""

_LEAST_SHARE = 0.01
"""A language of at least this share of the texts whose language can be told is one that training
had.
"""
_ENOUGH = 20
"""Texts whose language can be told, below which nothing is known about the languages of training.
"""


class WordCount(NamedTuple):
    """Number of words of some texts, and of those that a model does not know."""

    words: int = 0
    unknown: int = 0

    @property
    def unknown_share(self):
        """Share of unknown words; None without words."""
        return self.unknown / self.words if self.words else None

    @classmethod
    def sum(cls, counts):
        counts = list(counts)
        return cls(sum(count.words for count in counts), sum(count.unknown for count in counts))


class Familiarity(NamedTuple):
    """What a model knows of each of some texts."""

    words: list  # numbers of words
    unknown_words: list  # of these, without a feature, unless they are left out on purpose
    languages: list  # codes; None where it cannot be told

    @classmethod
    def of(cls, tokens, read, terms):
        """Of tokenized texts, of what is left of them without stop words, and the terms of these
        words.
        """
        words = np.diff(tokens.indptr)
        unknown_words = np.empty(len(words), np.int64)
        _count_unknown_words(read.ids, read.indptr, terms.starts, unknown_words)
        return cls(words.tolist(), unknown_words.tolist(), detect_languages(tokens))

    @classmethod
    def together(cls, parts):
        joined = cls([], [], [])
        for part in parts:
            joined.words.extend(part.words)
            joined.unknown_words.extend(part.unknown_words)
            joined.languages.extend(part.languages)
        return joined

    @property
    def word_count(self):
        """The :class:`WordCount` of all texts."""
        return WordCount(sum(self.words), sum(self.unknown_words))

    def fields(self, trained):
        """What is said of each text, given the languages of training, None where these are not
        known.
        """
        for words, unknown_words, language in zip(
            self.words, self.unknown_words, self.languages, strict=True
        ):
            # a model knows nothing of a text without words
            known = 1 - unknown_words / words if words else 0.0
            doubts = {
                "unknown_words": known < MIN_KNOWN_SHARE,
                "language": is_foreign(language, trained),
            }
            doubtful = [doubt for doubt, exists in doubts.items() if exists]
            yield {"known_words": round(known, 4), "language": language, "doubts": doubtful}


@strict_kernel
def _count_unknown_words(ids, ends, starts, unknown_words) -> None:
    for text in range(len(unknown_words)):
        unknown = 0
        for k in range(ends[text], ends[text + 1]):
            unknown += starts[ids[k]] == starts[ids[k] + 1]
        unknown_words[text] = unknown


UNKNOWN_FAMILIARITY: dict = {"known_words": None, "language": None, "doubts": []}
"""What is said of features."""


def is_foreign(language, trained):
    """Whether a text's language, where it can be told, is one that training did not have."""
    return None not in (language, trained) and language not in trained


def find_trained_languages(texts):
    """Languages of training, the most frequent first, given how many texts are in each; None if too
    few are told.
    """
    told = sum(texts.values())
    if told < _ENOUGH:
        return None
    return tuple(
        language
        for language, amount in Counter(texts).most_common()
        if amount >= _LEAST_SHARE * told
    )


def has_many_unknown_words(texts, share, usual_share):
    """Tell if far more words are unknown than usual; never for few texts, or where a share is not
    known.
    """
    if texts < _ENOUGH_TEXTS or share is None or usual_share is None:
        return False
    return share - usual_share > _FAR_ABOVE


def remark_on_words(texts, share, usual_share):
    """A remark on texts of which far more words are unknown than usual; empty for others."""
    if not has_many_unknown_words(texts, share, usual_share):
        return ""
    return f"the model does not know {100 * share:.1f} % of the words; {100 * usual_share:.1f} % are normal"


def remark_on_languages(texts, languages, trained):
    """A remark on texts in languages that training did not have, given how many texts are in each;
    else empty.
    """
    foreign = Counter(
        {language: n for language, n in languages.items() if is_foreign(language, trained)}
    )
    if not foreign:
        return ""
    amounts = ", ".join(f"{language} {n:,}" for language, n in foreign.most_common())
    noun = "text" if texts == 1 else "texts"
    verb = "is" if foreign.total() == 1 else "are"
    return f"{foreign.total():,} of {texts:,} {noun} {verb} in a language that training did not have ({amounts})"
