"""How familiar a text is to a model: the share of its words that the model knows, and its language."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from ovaflow.data.text_language import languages_of_texts
from ovaflow.sparse.jit import strict_kernel

FEWEST_KNOWN = 0.1
"""A text of which the model knows a smaller share of the words is doubtful."""

_LEAST_SHARE = 0.01
"""A language of at least this share of the texts whose language can be told is one that training had."""
_ENOUGH = 20
"""Texts whose language can be told, below which nothing is known about the languages of training."""


class Familiarity(NamedTuple):
    """What a model knows of some texts."""

    known: list  # shares of the words that have a feature, or are left out on purpose
    languages: list  # codes; None where it cannot be told

    @classmethod
    def of(cls, tokens, read, terms):
        """Of tokenized texts, of what is left of them without stop words, and the terms of these words."""
        known = np.empty(len(tokens.indptr) - 1)
        _share_known_words(tokens.indptr, read.ids, read.indptr, terms.starts, known)
        return cls(known.tolist(), languages_of_texts(tokens))

    @classmethod
    def together(cls, parts):
        joined = cls([], [])
        for part in parts:
            joined.known.extend(part.known)
            joined.languages.extend(part.languages)
        return joined

    def fields(self, trained):
        """What is said of each text, given the languages of training, None where these are not known."""
        for known, language in zip(self.known, self.languages, strict=True):
            doubts = {"unknown_words": known < FEWEST_KNOWN, "language": is_foreign(language, trained)}
            doubtful = [doubt for doubt, exists in doubts.items() if exists]
            yield {"known_words": round(known, 4), "language": language, "doubts": doubtful}


@strict_kernel
def _share_known_words(all_ends, ids, ends, starts, known):
    for text in range(len(known)):
        unknown, amount = 0, all_ends[text + 1] - all_ends[text]
        for k in range(ends[text], ends[text + 1]):
            unknown += starts[ids[k]] == starts[ids[k] + 1]
        # a model knows nothing of a text without words
        known[text] = 1 - unknown / amount if amount else 0


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
    noun, verb = "text" if texts == 1 else "texts", "is" if foreign.total() == 1 else "are"
    return f"{foreign.total():,} of {texts:,} {noun} {verb} in a language that training did not have ({amounts})"
