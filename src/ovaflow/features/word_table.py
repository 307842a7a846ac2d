"""Words and their numbers: a hash table over code points, without a string for each word."""

import secrets
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ovaflow.sparse.csr import ensure_capacity, offsets
from ovaflow.sparse.jit import strict_kernel

_SEED = np.uint64(secrets.randbits(64))
"""Nobody can choose words that all have the same place in the table."""


@dataclass(frozen=True)
class WordList:
    """Words as code points, made strings where they are iterated over; a forgotten word has no
    letters.
    """

    letters: np.ndarray  # uint32
    places: np.ndarray  # int64; word v has the letters places[v] to places[v + 1]

    def __len__(self):
        return len(self.places) - 1

    def __iter__(self):
        joined = self.letters.tobytes().decode("utf-32-le", "surrogatepass")
        return (joined[begin:end] for begin, end in pairwise(self.places.tolist()))


class WordTable:
    """Numbers of words, in order of appearance: a hash table with open addressing."""

    def __init__(self) -> None:
        self._clear(slots=16)

    def _clear(self, slots) -> None:
        self.issued = 0
        self._letters = np.empty(0, np.uint32)
        self._places = np.zeros(1, np.int64)
        self._slots = np.full(slots, -1, np.int32)

    @property
    def words(self):
        places = self._places[: self.issued + 1]
        return WordList(self._letters[: places[-1]], places)

    def number(self, letters, starts, ends):
        """The number of each of n words, letters[starts[k]:ends[k]]: int32, shape (n,)."""
        most = self.issued + len(starts)
        if 2 * most > len(self._slots):
            self._fill(self.words, 1 << (2 * most).bit_length())
        self._letters = ensure_capacity(
            self._letters, self._places[self.issued] + int((ends - starts).sum())
        )
        self._places = ensure_capacity(self._places, most + 1)
        numbers = np.empty(len(starts), np.int32)
        table = self._slots, _SEED, self._letters, self._places
        self.issued = _number_words(letters, starts, ends, *table, self.issued, numbers)
        return numbers

    def forget(self, is_forgotten) -> None:
        """Forget some words, whose numbers are not used again: bool, one for each number issued."""
        words = self.words
        lengths = np.diff(self.words.places)
        letters = words.letters[np.repeat(~is_forgotten, lengths)]
        self._fill(WordList(letters, offsets(np.where(is_forgotten, 0, lengths))), len(self._slots))

    def _fill(self, words, slots) -> None:
        self._clear(slots)
        self.number(words.letters, words.places[:-1], words.places[1:])


@strict_kernel
def _number_words(letters, starts, ends, slots, seed, known, places, n_words, numbers):
    """Number equal words alike, each one without letters anew; word v has known[places[v]:places[v
    + 1]].
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
