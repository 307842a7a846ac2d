"""Names of labels that occur in a text, word by word.

A word of a text matches a word of a name if it begins with all but the last two letters of the
latter, and with at least five: German and Finnish words rarely change more.
"""

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np

from ovaflow.features.tokens import REMEMBERED_WORDS, Numbering, Tokens, map_words
from ovaflow.features.word_table import WordList
from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_callee, strict_kernel

_ENDING_LETTERS = 2
"""Letters at the end of a word that may change."""
_SHORTEST_STEM = 5
"""Letters of the shortest stem."""


class Phrases:
    """Phrases of words, which are found in tokens all at once."""

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        self._stems = Numbering()
        stems = [self._stems[_stem(word)] for word in chain.from_iterable(phrases)]
        self._words = np.array(stems, np.int32)
        self._longest = max((len(stem) for stem in self._stems), default=0)
        self._indptr = offsets(np.array([len(words) for words in phrases], np.int64))
        firsts = self._words[self._indptr[:-1]]
        self._by_first = np.argsort(firsts, kind="stable").astype(np.int32)
        self._starts = offsets(np.bincount(firsts, minlength=len(self._stems)))

    def count_words(self, numbers: np.ndarray) -> np.ndarray:
        """Count the words of phrases with these numbers: int64 (n,)."""
        return self._indptr[numbers + 1] - self._indptr[numbers]

    def find(
        self, tokens: Tokens, stems: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the phrases in texts.

        Parameters
        ----------
        tokens : Tokens
            Tokens of the texts.
        stems : pair of ndarrays
            Stems of their words, as :meth:`find_stems` gives them.

        Returns
        -------
        positions : ndarray of int32
            Tokens at which a phrase begins, ascending.
        numbers : ndarray of int32
            Number of the phrase that begins there.
        """
        nothing = np.empty(0, np.int32)
        count = self._fill(tokens, stems, nothing, nothing)
        positions = np.empty(count, np.int32)
        numbers = np.empty(count, np.int32)
        self._fill(tokens, stems, positions, numbers)
        return positions, numbers

    def _fill(
        self,
        tokens: Tokens,
        stems: tuple[np.ndarray, np.ndarray],
        positions: np.ndarray,
        numbers: np.ndarray,
    ) -> int:
        stem_starts, stem_numbers = stems
        phrases = (self._starts, self._by_first, self._indptr, self._words)
        return _find(
            tokens.ids,
            tokens.indptr,
            tokens.fields,
            stem_starts,
            stem_numbers,
            phrases,
            positions,
            numbers,
        )

    def find_stems(self, words: WordList | Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
        """Find the stems that each word matches; word v has stems[starts[v]:starts[v + 1]].

        Returns
        -------
        starts : ndarray of int64, shape (n + 1,)
            Start of each word's stems, and the end of the last.
        stems : ndarray of int32
            Numbers of the stems.
        """
        return map_words(words, self._find_word_stems)

    @cached_property
    def _find_word_stems(self) -> Callable[[str], array]:
        """Function that gives the stems of a word.

        It remembers words, since most words of a text occur in the next texts, too.
        """
        numbers = self._stems
        longest = self._longest

        @lru_cache(REMEMBERED_WORDS)
        def find_word_stems(word: str) -> array:
            shortest = min(_SHORTEST_STEM, len(word))
            stems = array("i")
            for end in range(shortest, min(len(word), longest) + 1):
                if word[:end] in numbers:
                    stems.append(numbers[word[:end]])
            return stems

        return find_word_stems


def _stem(word: str) -> str:
    return word[: max(_SHORTEST_STEM, len(word) - _ENDING_LETTERS)]


@strict_kernel
def _find(
    ids: np.ndarray,
    indptr: np.ndarray,
    fields: np.ndarray,
    starts: np.ndarray,
    stems: np.ndarray,
    phrases: tuple,
    positions: np.ndarray,
    numbers: np.ndarray,
) -> int:
    """Count the phrases that begin at a token, and fill in as many as there are positions.

    Parameters
    ----------
    ids, indptr, fields : ndarrays
        Those of the tokens.
    starts, stems : ndarrays of int64 and int32
        Stems of each word: word v has stems[starts[v]:starts[v + 1]].
    phrases : tuple of ndarrays
        Start of the phrases with each first stem; phrases by first stem; start of the stems of each
        phrase; their stems.
    positions, numbers : ndarrays of int32
        Output: token at which a phrase begins, and number of the phrase.
    """
    firsts, by_first, _, _ = phrases
    count = 0
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            for s in range(starts[ids[k]], starts[ids[k] + 1]):
                for p in range(firsts[stems[s]], firsts[stems[s] + 1]):
                    if _matches(by_first[p], phrases, k, indptr[i + 1], ids, fields, starts, stems):
                        if count < len(positions):
                            positions[count] = k
                            numbers[count] = by_first[p]
                        count += 1
    return count


@strict_callee
def _matches(
    phrase: int,
    phrases: tuple,
    token: int,
    end: int,
    ids: np.ndarray,
    fields: np.ndarray,
    starts: np.ndarray,
    stems: np.ndarray,
) -> bool:
    """Return whether the tokens from one on match the words of a phrase, in one field."""
    _, _, indptr, words = phrases
    length = indptr[phrase + 1] - indptr[phrase]
    if token + length > end or fields[token] != fields[token + length - 1]:
        return False
    for place in range(1, length):
        word = ids[token + place]
        matches = False
        for s in range(starts[word], starts[word + 1]):
            if stems[s] == words[indptr[phrase] + place]:
                matches = True
        if not matches:
            return False
    return True
