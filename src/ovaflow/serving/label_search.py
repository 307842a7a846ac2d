"""Search of labels as people type them: by words of names, by identifiers and notations."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ovaflow.features.tokens import normal_form
from ovaflow.sparse.jit import strict_callee, strict_kernel
from ovaflow.storage.arrays import Strings

_EQUAL = 0
_BEGINS = 1
_BEGINS_WORDS = 2
_CONTAINS = 3
_NO_MATCH = 4
"""How well a text matches what is searched: it is that, begins with it, has words that begin with
the searched words, contains these, or does not. Alternative names come after names.
"""

_BETWEEN_WORDS = re.compile(r"[\s,;]+")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)


class FoundLabel(NamedTuple):
    """A label that was found."""

    label: int
    found_by: str | None  # alternative name that matches better than the name


class FoundLabels(NamedTuple):
    """A page of found labels, and the number of labels on all pages."""

    total: int
    labels: list[FoundLabel]


class LabelSearch:
    """Finds labels by words of their names, by notation and by URI.

    Parameters
    ----------
    names : sequence of str
        Name of each label.
    alternatives : sequence of sequences of str
        Alternative names of each label, separated by line feeds; one sequence for each language.
    uris, notations : sequences of str
        URI and notation of each label; empty if labels have none.
    """

    def __init__(
        self,
        names: Sequence[str],
        alternatives: Sequence[Sequence[str]] = (),
        uris: Sequence[str] = (),
        notations: Sequence[str] = (),
    ) -> None:
        self._names = _encode_forms(names)
        self._alternatives = alternatives
        self._owners = np.array(list(_list_owners(alternatives)), np.int32)
        self._alternative_forms = _encode_forms(_list_alternatives(alternatives))
        self._uris = uris if isinstance(uris, Strings) else Strings.encode(uris)
        self._notations = _encode_forms(notations)

    def __len__(self) -> int:
        return len(self._names)

    def find(self, search: str, offset: int, limit: int) -> FoundLabels:
        """Find labels, the best matches first, ties by the smaller id; all labels if nothing is
        searched.

        The best match is a name, URI, end of a URI or notation that is searched, then an
        alternative name. The others are ordered by how well a name matches. A notation matches if
        it begins with what is searched.
        """
        searched = normal_form(search.strip())
        if not searched:
            everything = range(len(self))[offset : offset + limit]
            return FoundLabels(len(self), [FoundLabel(label, None) for label in everything])
        words = [word for word in _BETWEEN_WORDS.split(searched) if word] or [searched]
        ranks = 2 * _rank(self._names, searched, words)
        if len(self._notations):
            notation_ranks = _rank(self._notations, searched, [])
            matching = np.flatnonzero(notation_ranks <= _BEGINS)
            ranks[matching] = np.minimum(ranks[matching], 2 * notation_ranks[matching])
        ranks[self._find_identified(search.strip())] = 2 * _EQUAL
        alternative_ranks = _rank(self._alternative_forms, searched, words)
        best_alternatives = np.full(len(self), _NO_MATCH, np.uint8)
        np.minimum.at(best_alternatives, self._owners, alternative_ranks)
        by_alternative = 2 * best_alternatives + 1 < ranks
        ranks[by_alternative] = 2 * best_alternatives[by_alternative] + 1
        found = np.flatnonzero(ranks < 2 * _NO_MATCH)
        order = np.argsort(ranks[found], kind="stable")
        labels = []
        for label in found[order[offset : offset + limit]].tolist():
            found_by = None
            if by_alternative[label]:
                found_by = self._find_alternative(label, alternative_ranks)
            labels.append(FoundLabel(label, found_by))
        return FoundLabels(len(found), labels)

    def _find_identified(self, search: str) -> np.ndarray:
        """Find the labels with a URI, or with one that ends with an identifier."""
        identifier = _SCHEME.sub("", search, count=1).rstrip("/")
        identified = np.zeros(len(self._uris), bool)
        if identifier:
            # letters of ASCII alone
            lowered = bytearray(identifier, "utf-8", "surrogatepass").lower()
            sought = np.frombuffer(lowered, np.uint8)
            _mark_identified(self._uris.block, self._uris.offsets, sought, identified)
        return np.flatnonzero(identified)

    def _find_alternative(self, label: int, ranks: np.ndarray) -> str:
        """Find the alternative name of a label that matches best."""
        start, end = np.searchsorted(self._owners, [label, label + 1])
        best = int(ranks[start:end].argmin())
        return list(_split_alternatives(each[label] for each in self._alternatives))[best]


def _encode_forms(texts: Iterable[str]) -> Strings:
    return Strings.encode(normal_form(text) for text in texts)


def _list_alternatives(alternatives: Sequence[Sequence[str]]) -> Iterator[str]:
    """List the alternative names of all labels, in the order of the labels."""
    for joined in zip(*alternatives, strict=True):
        yield from _split_alternatives(joined)


def _list_owners(alternatives: Sequence[Sequence[str]]) -> Iterator[int]:
    """List the label of each alternative name."""
    for label, joined in enumerate(zip(*alternatives, strict=True)):
        for _ in _split_alternatives(joined):
            yield label


def _split_alternatives(joined: Iterable[str]) -> Iterator[str]:
    for names in joined:
        if names:
            yield from names.split("\n")


def _rank(forms: Strings, searched: str, words: Sequence[str]) -> np.ndarray:
    """Rank normal forms by how well they match a searched string and its words: uint8 (n,)."""
    whole = Strings.encode([searched]).block
    encoded = Strings.encode(words)
    ranks = np.empty(len(forms), np.uint8)
    _rank_forms(forms.block, forms.offsets, whole, encoded.block, encoded.offsets, ranks)
    return ranks


@strict_kernel
def _rank_forms(
    block: np.ndarray,
    offsets: np.ndarray,
    whole: np.ndarray,
    words: np.ndarray,
    word_offsets: np.ndarray,
    ranks: np.ndarray,
) -> None:
    """Rank the texts block[offsets[i]:offsets[i + 1]] by how well they match a search.

    Parameters
    ----------
    block, whole, words : arrays of uint8
        Texts, the searched string and its words, in UTF-8.
    offsets, word_offsets : arrays of int64
        Begins of the texts and of the words, and the ends of the last ones.
    ranks : array of uint8, shape (n,)
        Is written.
    """
    for number in range(len(ranks)):
        start = offsets[number]
        end = offsets[number + 1]
        if _is_at(block, start, end, whole, 0, len(whole)):
            ranks[number] = _EQUAL if end - start == len(whole) else _BEGINS
            continue
        rank = _BEGINS_WORDS
        for word in range(len(word_offsets) - 1):
            found = _rank_word(block, start, end, words, word_offsets[word], word_offsets[word + 1])
            rank = max(rank, found)
            if rank == _NO_MATCH:
                break
        ranks[number] = rank


@strict_callee
def _rank_word(
    block: np.ndarray, start: int, end: int, words: np.ndarray, word_start: int, word_end: int
) -> int:
    """Rank the text block[start:end] by its best occurrence of a word."""
    rank = _NO_MATCH
    first = words[word_start]
    for place in range(start, end - (word_end - word_start) + 1):
        if block[place] == first and _is_at(block, place, end, words, word_start, word_end):
            rank = _CONTAINS
            if not _follows_letter(block, start, place):
                return _BEGINS_WORDS
    return rank


@strict_callee
def _is_at(
    block: np.ndarray, place: int, end: int, words: np.ndarray, word_start: int, word_end: int
) -> bool:
    """Return whether a word is at a place of the text that ends at ``end``."""
    length = word_end - word_start
    if place + length > end:
        return False
    n_same = 0
    while n_same < length and block[place + n_same] == words[word_start + n_same]:
        n_same += 1
    return n_same == length


@strict_callee
def _follows_letter(block: np.ndarray, start: int, place: int) -> bool:
    """Return whether a letter or digit of the text that begins at ``start`` is before a place.

    Of characters beyond ASCII, U+0080 to U+00BF and U+2000 to U+207F are none, such as guillemets,
    dashes and typographic apostrophes.
    """
    if place == start:
        return False
    last = block[place - 1]
    if last < 0x80:
        return 0x30 <= last <= 0x39 or 0x61 <= last <= 0x7A
    if place - 2 >= start and block[place - 2] == 0xC2:
        return False
    is_punctuation = (
        place - 3 >= start
        and block[place - 3] == 0xE2
        and (block[place - 2] == 0x80 or block[place - 2] == 0x81)
    )
    return not is_punctuation


@strict_kernel
def _mark_identified(
    block: np.ndarray, offsets: np.ndarray, sought: np.ndarray, identified: np.ndarray
) -> None:
    """Mark the URIs that are a sought one, or end with it after ``/``, ``#`` or ``:``.

    The case of ASCII letters and slashes at the end make no difference.
    """
    for number in range(len(identified)):
        start = offsets[number]
        end = offsets[number + 1]
        while end > start and block[end - 1] == 0x2F:
            end -= 1
        begin = end - len(sought)
        if begin < start:
            continue
        if begin > start:
            before = block[begin - 1]
            if before != 0x2F and before != 0x23 and before != 0x3A:
                continue
        is_same = True
        for k in range(len(sought)):
            letter = block[begin + k]
            if 0x41 <= letter <= 0x5A:
                letter += 0x20
            if letter != sought[k]:
                is_same = False
                break
        identified[number] = is_same
