"""Names of labels that stand in a text, word by word.

A word of a text stands for one of a name if it begins with all but the last two letters of this,
five at least: German and Finnish words rarely change more.
"""

from array import array
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np

from ovaflow.features.tokens import REMEMBERED_WORDS, Numbering, map_words
from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_kernel

_ENDING_LETTERS = 2
_SHORTEST_STEM = 5


class Phrases:
    """Phrases of words, which are sought in tokens all at once."""

    def __init__(self, phrases) -> None:
        self._stems = Numbering()
        stems = map(_stem, chain.from_iterable(phrases))
        self._words = np.array([self._stems[stem] for stem in stems], np.int32)
        self._longest = max(map(len, self._stems), default=0)
        self._indptr = offsets(np.array([len(words) for words in phrases], np.int64))
        firsts = self._words[self._indptr[:-1]]
        self._by_first = np.argsort(firsts, kind="stable").astype(np.int32)
        self._starts = offsets(np.bincount(firsts, minlength=len(self._stems)))

    def find(self, tokens, stems):
        """Tokens at which a phrase begins, ascending, and the number of the phrase; ``stems`` of
        their words.
        """
        phrases = self._starts, self._by_first, self._indptr, self._words
        parts = tokens.ids, tokens.indptr, tokens.fields, *stems, phrases
        nothing = np.empty(0, np.int32)
        count = _find(*parts, nothing, nothing)
        positions = np.empty(count, np.int32)
        numbers = np.empty(count, np.int32)
        _find(*parts, positions, numbers)
        return positions, numbers

    def stems_of(self, words):
        """Stems that each word stands for, as (starts, stems)."""
        return map_words(words, self._stems_of)

    @cached_property
    def _stems_of(self):
        """Function from a word to its stems, which remembers words: in new texts most come again."""
        known = self._stems
        longest = self._longest

        @lru_cache(REMEMBERED_WORDS)
        def stems_of(word):
            shortest = min(_SHORTEST_STEM, len(word))
            beginnings = (word[:end] for end in range(shortest, min(len(word), longest) + 1))
            return array("i", [known[text] for text in beginnings if text in known])

        return stems_of


def _stem(word):
    return word[: max(_SHORTEST_STEM, len(word) - _ENDING_LETTERS)]


@strict_kernel
def _find(ids, indptr, fields, starts, stems, phrases, positions, numbers):
    """How many phrases begin at a token, in all; they are written down as far as there is room."""
    firsts, by_first, _, _ = phrases
    count = 0
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            for s in range(starts[ids[k]], starts[ids[k] + 1]):
                for p in range(firsts[stems[s]], firsts[stems[s] + 1]):
                    if _stands(by_first[p], phrases, k, indptr[i + 1], ids, fields, starts, stems):
                        if count < len(positions):
                            positions[count] = k
                            numbers[count] = by_first[p]
                        count += 1
    return count


@strict_kernel
def _stands(phrase, phrases, token, end, ids, fields, starts, stems):
    """Whether the words of a phrase are those of the tokens from one on, in one field."""
    _, _, indptr, words = phrases
    length = indptr[phrase + 1] - indptr[phrase]
    if token + length > end or fields[token] != fields[token + length - 1]:
        return False
    for place in range(1, length):
        word = ids[token + place]
        stands = False
        for s in range(starts[word], starts[word + 1]):
            stands |= stems[s] == words[indptr[phrase] + place]
        if not stands:
            return False
    return True
