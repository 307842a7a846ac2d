"""Words and their numbers: a hash table over code points, without a string for each word."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ovaflow.sparse.csr import ensure_capacity, offsets
from ovaflow.sparse.jit import strict_kernel

_SEED = np.uint64(secrets.randbits(64))
"""Random start of hashes, so that texts cannot be made whose words all have the same slot."""


@dataclass(frozen=True)
class WordList:
    """Words as code points; iteration makes strings. A forgotten word has no letters.

    Attributes
    ----------
    letters : ndarray of uint32
        Code points of all words.
    places : ndarray of int64, shape (n + 1,)
        Word v has the letters places[v] to places[v + 1].
    """

    letters: np.ndarray
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.places) - 1

    def __iter__(self) -> Iterator[str]:
        joined = self.letters.tobytes().decode("utf-32-le", "surrogatepass")
        return (joined[begin:end] for begin, end in pairwise(self.places.tolist()))


class WordTable:
    """Numbers of words, in order of appearance: a hash table with open addressing."""

    def __init__(self) -> None:
        self._clear(slots=16)

    def _clear(self, slots: int) -> None:
        self.issued = 0
        self._letters = np.empty(0, np.uint32)
        self._places = np.zeros(1, np.int64)
        self._slots = np.full(slots, -1, np.int32)

    @property
    def words(self) -> WordList:
        """All words, by number."""
        places = self._places[: self.issued + 1]
        return WordList(self._letters[: places[-1]], places)

    def number(self, letters: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Assign numbers to n words, letters[starts[k]:ends[k]]: int32 (n,)."""
        most = self.issued + len(starts)
        if 2 * most > len(self._slots):
            self._fill(self.words, 1 << (2 * most).bit_length())
        self._letters = ensure_capacity(
            self._letters, self._places[self.issued] + int((ends - starts).sum())
        )
        self._places = ensure_capacity(self._places, most + 1)
        numbers = np.empty(len(starts), np.int32)
        self.issued = _number_words(
            letters,
            starts,
            ends,
            self._slots,
            _SEED,
            self._letters,
            self._places,
            self.issued,
            numbers,
        )
        return numbers

    def forget(self, is_forgotten: np.ndarray) -> None:
        """Forget some words, whose numbers are not used again: bool, one for each number issued."""
        words = self.words
        lengths = np.diff(self.words.places)
        letters = words.letters[np.repeat(~is_forgotten, lengths)]
        places = offsets(np.where(is_forgotten, 0, lengths))
        self._fill(WordList(letters, places), len(self._slots))

    def _fill(self, words: WordList, slots: int) -> None:
        self._clear(slots)
        self.number(words.letters, words.places[:-1], words.places[1:])


@strict_kernel
def _number_words(
    letters: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    slots: np.ndarray,
    seed: Any,
    known: np.ndarray,
    places: np.ndarray,
    n_words: int,
    numbers: np.ndarray,
) -> int:
    """Assign numbers to words, equal ones alike and each one without letters anew; count them.

    Parameters
    ----------
    letters : ndarray of uint32
        Code points of the words; word k has letters[starts[k]:ends[k]].
    starts, ends : ndarrays of int64, shape (n,)
        Start and end of each word.
    slots : ndarray of int32
        Hash table of the numbers of known words, -1 for a free slot.
    seed : uint64
        Start of all hashes.
    known : ndarray of uint32
        Code points of known words; word v has known[places[v]:places[v + 1]].
    places : ndarray of int64
        Start and end of each known word.
    n_words : int
        Number of known words.
    numbers : ndarray of int32, shape (n,)
        Output: the number of each word.
    """
    mask = np.uint64(len(slots) - 1)
    for word in range(len(starts)):
        start = starts[word]
        length = ends[word] - starts[word]
        if length == 0:
            numbers[word] = n_words
            places[n_words + 1] = places[n_words]
            n_words += 1
            continue
        hashed = seed
        for k in range(start, start + length):
            hashed = (hashed ^ np.uint64(letters[k])) * np.uint64(1099511628211)
        slot = (hashed ^ (hashed >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            first = places[slots[slot]]
            same = places[slots[slot] + 1] - first == length
            k = 0
            while same and k < length:
                same = letters[start + k] == known[first + k]
                k += 1
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = n_words
            end = places[n_words]
            for k in range(start, start + length):
                known[end] = letters[k]
                end += 1
            n_words += 1
            places[n_words] = end
        numbers[word] = slots[slot]
    return n_words
