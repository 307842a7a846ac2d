"""Tokens of texts, as numbers of words, and their places in the text.

Tokens are taken from the normal form of a text, which may be longer or shorter ("ﬁ" is "fi"). To
map them back it is computed cluster by cluster: a character and the marks that compose with it.
"""

import functools
import re
import sys
import unicodedata
from array import array
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.features.word_table import WordList, WordTable
from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.reading.markup import remove_markup_with_offsets
from ovaflow.sparse.csr import CSR, offsets, select_rows
from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.splitmix import mix_bits

TOKEN_PATTERN = r"\b(?!\d+\b)\w[\w\p{M}]+"
"""Words of two characters or more, with the marks that are part of them, that are not numbers."""

REMEMBERED_WORDS = 1 << 16
"""Words of which it is remembered what they stand for, in about 10 MB."""

_NEITHER, _MARK, _LETTER, _DIGIT = range(4)
_MOST_MARKS = 30
_PERHAPS_MARK = re.compile(r"[^\0-\u02ff\w]|[\uff9e\uff9f]")
"""Finds all combining marks, and other characters that most texts lack."""
_PERHAPS_MARKS = re.compile(rf"[\W\uff9e\uff9f]{{{_MOST_MARKS + 1},}}")


def normal_form(text):
    """NFKC of the case-folded NFKC: "Straße" and "STRASSE" are one word."""
    if text.isascii():
        return text.lower()
    # no longer run of marks is between the characters that are looked at
    if _PERHAPS_MARK.search(text[:: _MOST_MARKS + 1]):
        text = _PERHAPS_MARKS.sub(_stream_safe, text)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _stream_safe(characters):
    """A text with at most 30 marks in a row, as in UAX #15: to put n of them in order takes n^2
    time.
    """
    safe = []
    n_marks = 0
    for character in characters[0]:
        is_mark = unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
        if is_mark and n_marks == _MOST_MARKS:
            safe.append("\N{COMBINING GRAPHEME JOINER}")
            n_marks = 0
        n_marks = n_marks + 1 if is_mark else 0
        safe.append(character)
    return "".join(safe)


_BATCH_CHARACTERS = 1 << 21
"""Characters, roughly, of the texts that are counted together."""
_LAST_FIELD = 255
"""The number of all further fields, too; what people send may be full of separators."""


class Tokens(NamedTuple):
    """Tokens of some texts: the distinct words, and which of them each token is."""

    words: WordList | list  # in order of appearance; None for a word that was forgotten
    ids: np.ndarray  # int32, one for each token
    indptr: np.ndarray  # int64; text i has the tokens indptr[i] to indptr[i + 1]
    fields: np.ndarray  # uint8; the field that each token is in

    def part(self, low, high):
        """Texts low..high, sharing memory."""
        start = self.indptr[low]
        end = self.indptr[high]
        indptr = self.indptr[low : high + 1] - start
        return Tokens(self.words, self.ids[start:end], indptr, self.fields[start:end])

    def take(self, rows):
        """Some of the texts, in the order given."""
        part = select_rows(CSR(self.fields, self.ids, self.indptr, len(self.words)), rows)
        return Tokens(self.words, part.indices, part.indptr, part.data)

    def beginnings(self, lengths):
        """The first tokens of each text, so many of them at most."""
        ends = np.repeat(self.indptr[:-1] + lengths, np.diff(self.indptr))
        kept = np.arange(len(self.ids)) < ends
        return Tokens(self.words, self.ids[kept], offsets(kept)[self.indptr], self.fields[kept])

    def drop_unused_words(self):
        """The same tokens without words that none of them is."""
        used = np.bincount(self.ids, minlength=len(self.words)) > 0
        words = [word for word, is_used in zip(self.words, used.tolist(), strict=True) if is_used]
        numbers = (np.cumsum(used) - 1).astype(np.int32)
        return self._replace(words=words, ids=numbers[self.ids])


_MARK_OF_BLOCK = re.compile(r'[ *\-"<]')
"""In names of features that are no words."""


def make_tokens_from_counts(counts, names):
    """Tokens of texts of which only the counts of words are known, by the names of all features; in
    no order.
    """
    columns, numbers = np.unique(counts.indices, return_inverse=True)
    words = [
        None if _MARK_OF_BLOCK.search(names[column]) else names[column]
        for column in columns.tolist()
    ]
    amounts = np.rint(counts.data).astype(np.int64)
    ends = offsets(amounts)[counts.indptr]
    ids = np.repeat(numbers.astype(np.int32), amounts)
    return Tokens(words, ids, ends, np.zeros(len(ids), np.uint8))


class Numbering(dict):
    """Names to numbers: an unknown one gets the next."""

    def __missing__(self, name):
        self[name] = number = len(self)
        return number


def tokenize(texts, left_out=frozenset()):
    """:class:`Tokens` of some texts, without some words."""
    pieces = [text.split(FIELD_SEPARATOR) for text in texts]
    forms = [normal_form(piece) for parts in pieces for piece in parts]
    codes, starts, ends = _spans("\n".join(forms))
    table = WordTable()
    ids = table.number(codes, starts, ends)
    # one character is between two pieces
    before = np.cumsum([0, *(len(form) + 1 for form in forms)])
    firsts = np.searchsorted(starts, before)
    indptr = firsts[np.cumsum([0, *map(len, pieces)])]
    field_of_piece = [field for parts in pieces for field in range(len(parts))]
    fields = np.repeat(np.minimum(field_of_piece, _LAST_FIELD).astype(np.uint8), np.diff(firsts))
    tokens = Tokens(table.words, ids, indptr, fields)
    return remove_words(tokens, left_out)


def _spans(form):
    """Code points of a normal form, and where its tokens begin and end."""
    codes = np.frombuffer(form.encode("utf-32-le", "surrogatepass"), np.uint32)
    classes = _classes(min(1 << int(codes.max(initial=0)).bit_length(), sys.maxunicode + 1))[codes]
    starts = np.empty(len(codes) // 2 + 1, np.int64)
    ends = np.empty(len(codes) // 2 + 1, np.int64)
    n = _find_tokens(classes, starts, ends)
    return codes, starts[:n], ends[:n]


@functools.cache
def _classes(limit):

    def class_of(character):
        if character.isdecimal():
            return _DIGIT
        if character.isalnum() or character == "_":
            return _LETTER
        return _MARK if unicodedata.category(character).startswith("M") else _NEITHER

    return np.fromiter(map(class_of, map(chr, range(limit))), np.uint8, limit)


@strict_kernel
def _find_tokens(classes, starts, ends):
    """A token is a run of letters, digits and marks that begins with a letter or digit and is more
    than digits.
    """
    n_tokens = end = 0
    while end < len(classes):
        start = end
        while start < len(classes) and classes[start] < _LETTER:
            start += 1
        end = start
        while end < len(classes) and classes[end] == _DIGIT:
            end += 1
        if end > start and (end == len(classes) or classes[end] < _LETTER):
            continue
        while end < len(classes) and classes[end] > _NEITHER:
            end += 1
        if end - start > 1:
            starts[n_tokens] = start
            ends[n_tokens] = end
            n_tokens += 1
    return n_tokens


def remove_words(tokens, left_out):
    """Tokens without some words."""
    if not left_out:
        return tokens
    is_left_out = np.fromiter((word in left_out for word in tokens.words), bool, len(tokens.words))
    rest = ~is_left_out[tokens.ids]
    indptr = offsets(rest)[tokens.indptr]
    return Tokens(tokens.words, tokens.ids[rest], indptr, tokens.fields[rest])


def number_word_sets(tokens):
    """A number of the set of words of each text, by which copies are told; -1 without a word: int64
    (n,).
    """
    sets = np.empty(len(tokens.indptr) - 1, np.int64)
    _number_sets(tokens.words.letters, tokens.words.places, tokens.ids, tokens.indptr, sets)
    return sets


@strict_kernel
def _number_sets(letters, places, ids, indptr, sets) -> None:
    """The sum of the hashes of a text's different words, in 63 bits."""
    hashes = np.empty(len(places) - 1, np.uint64)
    for word in range(len(hashes)):
        hashed = np.uint64(14695981039346656037)
        for k in range(places[word], places[word + 1]):
            hashed = (hashed ^ np.uint64(letters[k])) * np.uint64(1099511628211)
        hashes[word] = mix_bits(hashed)
    last_text = np.full(len(hashes), -1, np.int64)
    for i in range(len(sets)):
        total = np.uint64(0)
        for k in range(indptr[i], indptr[i + 1]):
            if last_text[ids[k]] != i:
                last_text[ids[k]] = i
                total += hashes[ids[k]]
        sets[i] = np.int64(total >> np.uint64(1)) if indptr[i + 1] > indptr[i] else -1


def tokenize_in_batches(texts, left_out=frozenset(), threads=1, quiet=False):
    """:class:`Tokens` of batches of texts, which are read once."""
    find = functools.partial(tokenize, left_out=left_out)
    with Progress("reading texts", 0, "texts", quiet=quiet) as progress:
        for tokens in map_in_order(find, _batches(texts), threads):
            yield tokens
            progress.advance(len(tokens.indptr) - 1)


def _batches(texts):
    batch = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch


def map_in_order(function, items, threads):
    """Results of a function for some items, in their order; with several threads a few are worked
    on ahead.
    """
    if threads == 1:
        yield from map(function, items)
        return
    waiting = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


_JAMO_THAT_FOLLOW = range(0x1160, 0x1200)
"""Hangul vowels and finals, letters that compose with what precedes them."""


class TokenSpan(NamedTuple):
    """A token in its normal form, and where each of its characters begins and ends in the text."""

    token: str
    starts: list
    ends: list


def find_token_spans(text, html=False):
    """The :class:`TokenSpan` of each token of a text, in order; for HTML with places in the HTML."""
    if html:
        plain, begins, stops = remove_markup_with_offsets(text)
        return [
            TokenSpan(token, [begins[start] for start in starts], [stops[end - 1] for end in ends])
            for token, starts, ends in find_token_spans(plain)
        ]
    starts = []
    ends = []
    pieces = []
    for start, end in _clusters(text):
        piece = normal_form(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    form = "".join(pieces)
    _, firsts, lasts = _spans(form)
    return [
        TokenSpan(form[first:last], starts[first:last], ends[first:last])
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]


def _clusters(text):
    first = 0
    for place in range(1, len(text)):
        if not _composes_backwards(text[place]):
            yield first, place
            first = place
    yield first, len(text)


def _composes_backwards(character):
    normal = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.category(normal).startswith("M") or ord(normal) in _JAMO_THAT_FOLLOW


def map_words(words, numbers_of):
    """The numbers that a function gives for each word, as (starts, numbers); none for one that is
    forgotten.
    """
    starts = np.zeros(len(words) + 1, np.int64)
    numbers = array("i")
    for place, word in enumerate(words, 1):
        if word is not None:
            numbers.extend(numbers_of(word))
        starts[place] = len(numbers)
    return starts, np.array(numbers, np.int32)
