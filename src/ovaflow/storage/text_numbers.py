"""Numbers of stored texts by the text: a hash table over their bytes, without a string for each."""

import numpy as np

from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_kernel


class TextNumbers:
    """The number of each text, the last of equal ones; a dictionary of strings takes twenty times
    the memory.
    """

    def __init__(self, block, ends) -> None:
        self._texts = block, ends
        self._slots = np.full(1 << (3 * len(ends) // 2).bit_length(), -1, np.int32)
        _fill(block, ends, self._slots)

    def of(self, texts):
        """Numbers of texts, a list; -1 for one that is not there."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        sought = np.frombuffer(bytearray().join(encoded), np.uint8)
        numbers = np.empty(len(encoded), np.int32)
        _find(sought, offsets(list(map(len, encoded))), *self._texts, self._slots, numbers)
        return numbers.tolist()

    def get(self, text):
        """The number of a text; None if it is not there."""
        [number] = self.of([text])
        return None if number < 0 else number


@strict_kernel
def _fill(texts, ends, slots) -> None:
    for number in range(len(ends) - 1):
        slots[_slot(texts, ends[number], ends[number + 1], texts, ends, slots)] = number


@strict_kernel
def _find(sought, sought_ends, texts, ends, slots, numbers) -> None:
    for k in range(len(numbers)):
        numbers[k] = slots[_slot(sought, sought_ends[k], sought_ends[k + 1], texts, ends, slots)]


@strict_kernel
def _slot(sought, start, end, texts, ends, slots):
    """The slot that has the number of sought[start:end], or the free one where it would be."""
    mask = np.uint64(len(slots) - 1)
    hashed = np.uint64(14695981039346656037)
    for k in range(start, end):
        hashed = (hashed ^ np.uint64(sought[k])) * np.uint64(1099511628211)
    slot = (hashed ^ (hashed >> np.uint64(32))) & mask
    while slots[slot] >= 0:
        first = ends[slots[slot]]
        last = ends[slots[slot] + 1]
        if last - first == end - start and np.array_equal(texts[first:last], sought[start:end]):
            break
        slot = (slot + np.uint64(1)) & mask
    return slot
