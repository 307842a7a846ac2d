"""Familiarity of texts to a model: known words, and languages of the training."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from ovaflow.features.text_language import detect_languages
from ovaflow.features.tokens import Tokens
from ovaflow.sparse.csr import offsets

MIN_KNOWN_SHARE = 0.1
"""A text of which the model knows a smaller share of the words is doubtful."""

_MIN_TEXTS = 100
"""Number of texts below which their unknown words are never said to be too many."""

_UNUSUAL_SHARE = 0.05
"""Share of unknown words above the usual share that is too many.

Samples of one test set never reach it, see docs/results.md.
"""

_MIN_LANGUAGE_SHARE = 0.01
"""Training has a language if at least this share of the texts of known language are in it."""

_MIN_DETECTED_TEXTS = 20
"""Number of texts of known language below which the languages of training are not known."""


class WordCount(NamedTuple):
    """Number of words of some texts, and of those that a model does not know."""

    words: int = 0
    unknown: int = 0

    @property
    def unknown_share(self) -> float | None:
        """Share of unknown words; None without words."""
        if not self.words:
            return None
        return self.unknown / self.words

    @classmethod
    def sum(cls, counts: Iterable["WordCount"]) -> Self:
        """Add counts of texts."""
        words = 0
        unknown = 0
        for count in counts:
            words += count.words
            unknown += count.unknown
        return cls(words, unknown)


class Familiarity(NamedTuple):
    """Familiarity of each of some texts."""

    words: list[int]  # numbers of words
    # numbers of words that the model does not know, except those that are left out on purpose
    unknown_words: list[int]
    languages: list[str | None]  # codes; None where the language is not known

    @classmethod
    def measure(cls, tokens: Tokens, kept_tokens: Tokens, is_known: np.ndarray) -> Self:
        """Measure the familiarity of tokenized texts.

        Parameters
        ----------
        tokens : Tokens
            All tokens of the texts.
        kept_tokens : Tokens
            These without stop words.
        is_known : ndarray of bool
            Whether the model knows each of ``kept_tokens``.
        """
        words = np.diff(tokens.indptr)
        unknown_words = np.diff(offsets(~is_known)[kept_tokens.indptr])
        return cls(words.tolist(), unknown_words.tolist(), detect_languages(tokens))

    @classmethod
    def concatenate(cls, parts: Iterable["Familiarity"]) -> Self:
        """Concatenate the familiarity of several batches of texts."""
        joined = cls([], [], [])
        for part in parts:
            joined.words.extend(part.words)
            joined.unknown_words.extend(part.unknown_words)
            joined.languages.extend(part.languages)
        return joined

    @property
    def word_count(self) -> WordCount:
        """The :class:`WordCount` of all texts."""
        return WordCount(sum(self.words), sum(self.unknown_words))

    def make_fields(self, trained: Iterable[str] | None) -> Iterator[dict[str, Any]]:
        """Yield the fields of the answer to each text.

        ``trained`` are the languages of training, None where they are not known.
        """
        for words, unknown_words, language in zip(
            self.words, self.unknown_words, self.languages, strict=True
        ):
            known_words = words - unknown_words
            doubts = []
            # a model knows nothing of a text without words
            if words == 0 or known_words < MIN_KNOWN_SHARE * words:
                doubts.append("unknown_words")
            if is_foreign(language, trained):
                doubts.append("language")
            yield {
                "words": words,
                "known_words": known_words,
                "language": language,
                "doubts": doubts,
            }


UNKNOWN_FAMILIARITY: dict[str, Any] = {
    "words": None,
    "known_words": None,
    "language": None,
    "doubts": [],
}
"""Fields of the answer to features, which are no texts."""


def is_foreign(language: str | None, trained: Iterable[str] | None) -> bool:
    """Return True if a text's language is known, and training did not have it."""
    if language is None or trained is None:
        return False
    return language not in trained


def find_trained_languages(texts: Mapping[str, int]) -> tuple[str, ...] | None:
    """Find the languages of training, the most frequent first.

    ``texts`` are numbers of texts by language. None where these are too few.
    """
    n_texts = sum(texts.values())
    if n_texts < _MIN_DETECTED_TEXTS:
        return None
    languages = []
    for language, amount in Counter(texts).most_common():
        if amount >= _MIN_LANGUAGE_SHARE * n_texts:
            languages.append(language)
    return tuple(languages)


def has_many_unknown_words(texts: int, share: float | None, usual_share: float | None) -> bool:
    """Return True if far more words are unknown than usual.

    Parameters
    ----------
    texts : int
        Number of texts; the result is False for few texts.
    share : float or None
        Share of their words that are unknown.
    usual_share : float or None
        The same share of texts like those of training. Where a share is not known, the result is
        False.
    """
    if texts < _MIN_TEXTS or share is None or usual_share is None:
        return False
    return share - usual_share > _UNUSUAL_SHARE


def remark_on_words(texts: int, share: float | None, usual_share: float | None) -> str:
    """Return a remark if far more words are unknown than usual, or else an empty string.

    Parameters are those of :func:`has_many_unknown_words`.
    """
    if share is None or usual_share is None:
        return ""
    if not has_many_unknown_words(texts, share, usual_share):
        return ""
    return (
        f"the model does not know {100 * share:.1f} % of the words; "
        f"{100 * usual_share:.1f} % are normal"
    )


def remark_on_languages(
    texts: int, languages: Mapping[str, int], trained: Iterable[str] | None
) -> str:
    """Return a remark on texts in languages that training did not have, or else an empty string.

    Parameters
    ----------
    texts : int
        Number of all texts.
    languages : mapping of str to int
        Number of texts by language.
    trained : iterable of str or None
        Languages of training; None where they are not known.
    """
    foreign: Counter[str] = Counter()
    for language, amount in languages.items():
        if is_foreign(language, trained):
            foreign[language] = amount
    if not foreign:
        return ""
    amounts = ", ".join(f"{language} {amount:,}" for language, amount in foreign.most_common())
    noun = "text" if texts == 1 else "texts"
    verb = "is" if foreign.total() == 1 else "are"
    return (
        f"{foreign.total():,} of {texts:,} {noun} {verb} in a language that training did not have "
        f"({amounts})"
    )
