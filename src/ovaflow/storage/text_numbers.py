"""Numbers of stored texts by the text: a hash table over their bytes, without a string for each."""

from collections.abc import Sequence

import numpy as np

from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_callee, strict_kernel


class TextNumbers:
    """The number of each text, the last of equal ones; a dictionary of strings takes twenty times
    the memory.

    Parameters
    ----------
    block : ndarray of uint8
        All texts in UTF-8, one after the other.
    ends : ndarray of int64, shape (n + 1,)
        Text i has the bytes ends[i] to ends[i + 1].
    """

    def __init__(self, block: np.ndarray, ends: np.ndarray) -> None:
        self._block = block
        self._ends = ends
        self._slots = np.full(1 << (3 * len(ends) // 2).bit_length(), -1, np.int32)
        _fill(block, ends, self._slots)

    def find(self, texts: Sequence[str]) -> list[int]:
        """Find the numbers of texts; -1 for an unknown one."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        sought = np.frombuffer(bytearray().join(encoded), np.uint8)
        sought_ends = offsets([len(content) for content in encoded])
        numbers = np.empty(len(encoded), np.int32)
        _find(sought, sought_ends, self._block, self._ends, self._slots, numbers)
        return numbers.tolist()

    def get(self, text: str) -> int | None:
        """Find the number of a text; None for an unknown one."""
        [number] = self.find([text])
        return None if number < 0 else number


@strict_kernel
def _fill(texts: np.ndarray, ends: np.ndarray, slots: np.ndarray) -> None:
    for number in range(len(ends) - 1):
        slots[_find_slot(texts, ends[number], ends[number + 1], texts, ends, slots)] = number


@strict_kernel
def _find(
    sought: np.ndarray,
    sought_ends: np.ndarray,
    texts: np.ndarray,
    ends: np.ndarray,
    slots: np.ndarray,
    numbers: np.ndarray,
) -> None:
    for k in range(len(numbers)):
        slot = _find_slot(sought, sought_ends[k], sought_ends[k + 1], texts, ends, slots)
        numbers[k] = slots[slot]


@strict_callee
def _find_slot(
    sought: np.ndarray,
    start: int,
    end: int,
    texts: np.ndarray,
    ends: np.ndarray,
    slots: np.ndarray,
) -> np.uint64:
    """Find the slot that has the number of sought[start:end], or the free one where it would be."""
    mask = np.uint64(len(slots) - 1)
    # FNV-1a
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
