"""How familiar a text is to a model: the share of its words that the model knows, and its language."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from ovaflow.data.text_language import languages_of_texts
from ovaflow.sparse.csr import offsets

FEWEST_KNOWN = 0.1
"""A text of which the model knows a smaller share of the words is doubtful."""

_LEAST_SHARE = 0.01
"""A language of at least this share of the texts whose language can be told is one that training had."""
_ENOUGH = 20
"""Texts whose language can be told, below which nothing is known about the languages of training."""


class Familiarity(NamedTuple):
    """What a model knows of some texts."""

    known: np.ndarray  # (n,); share of the words that have a feature, or are left out on purpose
    languages: list  # codes; None where it cannot be told

    @classmethod
    def of(cls, tokens, read, terms):
        """Of tokenized texts, of what is left of them without stop words, and the terms of these words."""
        is_unknown = (np.diff(terms.starts) == 0)[read.ids]
        unknown = np.diff(offsets(is_unknown)[read.indptr])
        amounts = np.diff(tokens.indptr)
        # a model knows nothing of a text without words
        known = np.where(amounts > 0, 1 - unknown / np.maximum(amounts, 1), 0)
        return cls(known, languages_of_texts(tokens))

    @classmethod
    def together(cls, parts):
        known, languages = np.empty(0), []
        for part in parts:
            known = np.append(known, part.known)
            languages += part.languages
        return cls(known, languages)

    def fields(self, trained):
        """What is said of each text, given the languages of training, None where these are not known."""
        for known, language in zip(self.known.tolist(), self.languages, strict=True):
            doubts = {"unknown_words": known < FEWEST_KNOWN, "language": is_foreign(language, trained)}
            doubtful = [doubt for doubt, exists in doubts.items() if exists]
            yield {"known_words": round(known, 4), "language": language, "doubts": doubtful}


UNKNOWN: dict = {"known_words": None, "language": None, "doubts": []}
"""What is said of features."""


def is_foreign(language, trained):
    """Whether a text's language, where it can be told, is one that training did not have."""
    return None not in (language, trained) and language not in trained


def trained_languages(texts):
    """Languages of training, the most frequent first, given how many texts are in each; None if too few are told."""
    told = sum(texts.values())
    if told < _ENOUGH:
        return None
    return tuple(language for language, amount in Counter(texts).most_common() if amount >= _LEAST_SHARE * told)


def remark_on_languages(texts, languages, trained):
    """A remark on texts in languages that training did not have, given how many texts are in each; else empty."""
    foreign = Counter({language: n for language, n in languages.items() if is_foreign(language, trained)})
    if not foreign:
        return ""
    amounts = ", ".join(f"{language} {n:,}" for language, n in foreign.most_common())
    texts_are = "text is" if foreign.total() == 1 else "texts are"
    return f"{foreign.total():,} of {texts:,} {texts_are} in a language that training did not have ({amounts})"
