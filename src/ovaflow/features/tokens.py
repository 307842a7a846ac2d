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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.features.word_table import WordList, WordTable
from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.reading.markup import remove_markup_with_offsets
from ovaflow.sparse.csr import CSR, offsets, select_rows
from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.splitmix import mix_bits

PLAIN = "plain"
SYMBOLS = "symbols"
"""Kinds of words: without or with signs, single letters and numbers."""
TOKEN_PATTERNS = {
    PLAIN: r"\b(?!\d+\b)\w[\w\p{M}]+",
    SYMBOLS: r"(?:(?<![\w\p{M}.+#])\.(?=\w))?\w[\w\p{M}]*(?:[+#]{2,}|[+#](?!\w))?",
}
"""Patterns of words in normal form.

Plain words have two characters or more, with their combining marks, and are not numbers. Words with
symbols have one character or more, and signs that belong to them, as in .net, c++ and c#; in a+b
and page#top the sign is between two words.
"""

REMEMBERED_WORDS = 1 << 16
"""Words whose numbers are remembered, in about 10 MB."""

_SIGN, _POINT, _NEITHER, _MARK, _LETTER, _DIGIT = range(6)
"""Classes of characters; the order is used by comparisons."""
_CLASSES_WITH_SYMBOLS = {"+": _SIGN, "#": _SIGN, ".": _POINT}
"""Classes of the signs that words can have; in plain words they are neither letters nor marks."""
_FEWEST_CHARACTERS = {PLAIN: 2, SYMBOLS: 1}
"""Characters of the shortest word of each kind."""
_MOST_MARKS = 30
"""Marks in a row that a normal form may have, as in UAX #15."""
_PERHAPS_MARK = re.compile(r"[^\0-\u02ff\w]|[\uff9e\uff9f]")
"""Pattern of all combining marks, and of other characters that most texts lack."""
_PERHAPS_MARKS = re.compile(rf"[\W\uff9e\uff9f]{{{_MOST_MARKS + 1},}}")


def normal_form(text: str) -> str:
    """Return the NFKC of the case-folded NFKC: "Straße" and "STRASSE" are one word."""
    if text.isascii():
        return text.lower()
    # no longer run of marks is between the characters that are looked at
    if _PERHAPS_MARK.search(text[:: _MOST_MARKS + 1]):
        text = _PERHAPS_MARKS.sub(_stream_safe, text)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _stream_safe(characters: re.Match[str]) -> str:
    """Return a text with at most 30 marks in a row, as in UAX #15.

    Sorting n marks in a row takes n^2 time.
    """
    safe = []
    n_marks = 0
    for character in characters[0]:
        is_mark = unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0
        if is_mark and n_marks == _MOST_MARKS:
            safe.append("\N{COMBINING GRAPHEME JOINER}")
            n_marks = 0
        if is_mark:
            n_marks += 1
        else:
            n_marks = 0
        safe.append(character)
    return "".join(safe)


_BATCH_CHARACTERS = 1 << 21
"""Characters, roughly, of the texts that are counted together."""
_LAST_FIELD = 255
"""Number of the last field and all further ones: texts may be full of separators."""


class Tokens(NamedTuple):
    """Tokens of some texts, as numbers of distinct words.

    Attributes
    ----------
    words : WordList or sequence
        Distinct words in order of appearance; None for a word that was forgotten.
    ids : ndarray of int32
        Number of each token's word.
    indptr : ndarray of int64, shape (n + 1,)
        Text i has the tokens indptr[i] to indptr[i + 1].
    fields : ndarray of uint8
        Number of the field that each token is in.
    """

    words: Any
    ids: np.ndarray
    indptr: np.ndarray
    fields: np.ndarray

    def part(self, low: int, high: int) -> "Tokens":
        """Return texts low..high, sharing memory."""
        start = self.indptr[low]
        end = self.indptr[high]
        indptr = self.indptr[low : high + 1] - start
        return Tokens(self.words, self.ids[start:end], indptr, self.fields[start:end])

    def take(self, rows: np.ndarray) -> "Tokens":
        """Return some of the texts, in the order given."""
        part = select_rows(CSR(self.fields, self.ids, self.indptr, len(self.words)), rows)
        return Tokens(self.words, part.indices, part.indptr, part.data)

    def truncate(self, lengths: np.ndarray) -> "Tokens":
        """Return the first tokens of each text, at most as many as ``lengths`` (n,)."""
        ends = np.repeat(self.indptr[:-1] + lengths, np.diff(self.indptr))
        kept = np.arange(len(self.ids)) < ends
        return Tokens(self.words, self.ids[kept], offsets(kept)[self.indptr], self.fields[kept])

    def drop_unused_words(self) -> "Tokens":
        """Return the same tokens without words that none of them has."""
        used = np.bincount(self.ids, minlength=len(self.words)) > 0
        words = [word for word, is_used in zip(self.words, used.tolist(), strict=True) if is_used]
        numbers = (np.cumsum(used) - 1).astype(np.int32)
        return self._replace(words=words, ids=numbers[self.ids])


_MARK_OF_BLOCK = re.compile(r'[ *\-"<]')
"""Characters in names of features that are no words."""


def make_tokens_from_counts(counts: CSR, names: Sequence[str]) -> Tokens:
    """Make tokens, in no order, of texts of which only the counts of words are known.

    Parameters
    ----------
    counts : CSR
        Count of each feature in each text, shape (n, d).
    names : sequence of str
        Names of all features.

    Returns
    -------
    tokens : Tokens
        The tokens; features that are no words become forgotten words.
    """
    columns, numbers = np.unique(counts.indices, return_inverse=True)
    words: list[str | None] = []
    for column in columns.tolist():
        is_word = _MARK_OF_BLOCK.search(names[column]) is None
        words.append(names[column] if is_word else None)
    amounts = np.rint(counts.data).astype(np.int64)
    ends = offsets(amounts)[counts.indptr]
    ids = np.repeat(numbers.astype(np.int32), amounts)
    return Tokens(words, ids, ends, np.zeros(len(ids), np.uint8))


class Numbering(dict):
    """Numbers of names: an unknown name gets the next number."""

    def __missing__(self, name: str) -> int:
        number = len(self)
        self[name] = number
        return number


def tokenize(
    texts: Iterable[str], left_out: Collection[str] = frozenset(), word_kind: str = PLAIN
) -> Tokens:
    """Split texts into tokens, without the words that are left out."""
    forms: list[str] = []
    field_of_form: list[int] = []
    n_forms = [0]
    for text in texts:
        for field, piece in enumerate(text.split(FIELD_SEPARATOR)):
            forms.append(normal_form(piece))
            field_of_form.append(field)
        n_forms.append(len(forms))
    codes, starts, ends = _find_spans("\n".join(forms), word_kind)
    table = WordTable()
    ids = table.number(codes, starts, ends)
    # one character is between two forms
    begins = offsets([len(form) + 1 for form in forms])
    firsts = np.searchsorted(starts, begins)
    indptr = firsts[n_forms]
    form_fields = np.minimum(field_of_form, _LAST_FIELD).astype(np.uint8)
    fields = np.repeat(form_fields, np.diff(firsts))
    tokens = Tokens(table.words, ids, indptr, fields)
    return remove_words(tokens, left_out)


def _find_spans(form: str, word_kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the code points of a normal form, and the starts and ends of its tokens among them."""
    # writable, as the letters of a word table are, so that its kernel is compiled once
    encoded = bytearray(form.encode("utf-32-le", "surrogatepass"))
    codes = np.frombuffer(encoded, np.uint32)
    limit = min(1 << int(codes.max(initial=0)).bit_length(), sys.maxunicode + 1)
    classes = _classify_characters(limit, word_kind)[codes]
    starts = np.empty(len(codes) // 2 + 1, np.int64)
    ends = np.empty(len(codes) // 2 + 1, np.int64)
    n = _find_tokens(classes, _FEWEST_CHARACTERS[word_kind], starts, ends)
    return codes, starts[:n], ends[:n]


@functools.cache
def _classify_characters(limit: int, word_kind: str) -> np.ndarray:
    """Return the class of each character below a limit: uint8 (limit,)."""
    codes = (_classify_character(chr(code)) for code in range(limit))
    classes = np.fromiter(codes, np.uint8, limit)
    if word_kind == SYMBOLS:
        # numbers are words
        classes[classes == _DIGIT] = _LETTER
        for character, its_class in _CLASSES_WITH_SYMBOLS.items():
            classes[ord(character) : ord(character) + 1] = its_class
    return classes


def _classify_character(character: str) -> int:
    if character.isdecimal():
        return _DIGIT
    if character.isalnum() or character == "_":
        return _LETTER
    return _MARK if unicodedata.category(character).startswith("M") else _NEITHER


@strict_kernel
def _find_tokens(
    classes: np.ndarray, fewest_characters: int, starts: np.ndarray, ends: np.ndarray
) -> int:
    """Find the starts and ends of tokens, and return their number.

    A token is a run of letters, digits and marks that begins with a letter or digit and is more
    than digits, with the signs after it and the point before it that belong to it.
    """
    n_tokens = 0
    end = 0
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
        signs_end = end
        while signs_end < len(classes) and classes[signs_end] == _SIGN:
            signs_end += 1
        # a single sign before a letter is between two words
        if signs_end > end + 1 or signs_end == len(classes) or classes[signs_end] < _LETTER:
            end = signs_end
        has_point = start > 0 and classes[start - 1] == _POINT
        # a point after a word or another sign ends what is before it
        if has_point and (start == 1 or classes[start - 2] == _NEITHER):
            start -= 1
        if end - start >= fewest_characters:
            starts[n_tokens] = start
            ends[n_tokens] = end
            n_tokens += 1
    return n_tokens


def remove_words(tokens: Tokens, left_out: Collection[str]) -> Tokens:
    """Return the tokens without some words."""
    if not left_out:
        return tokens
    is_left_out = np.fromiter((word in left_out for word in tokens.words), bool, len(tokens.words))
    rest = ~is_left_out[tokens.ids]
    indptr = offsets(rest)[tokens.indptr]
    return Tokens(tokens.words, tokens.ids[rest], indptr, tokens.fields[rest])


def number_word_sets(tokens: Tokens) -> np.ndarray:
    """Assign each text the number of its set of words, -1 to a text without words.

    Returns
    -------
    sets : ndarray of int64, shape (n,)
        A hash of each set; the same for equal sets only, except by chance.
    """
    assert isinstance(tokens.words, WordList)
    sets = np.empty(len(tokens.indptr) - 1, np.int64)
    _number_sets(tokens.words.letters, tokens.words.places, tokens.ids, tokens.indptr, sets)
    return sets


@strict_kernel
def _number_sets(
    letters: np.ndarray,
    places: np.ndarray,
    ids: np.ndarray,
    indptr: np.ndarray,
    sets: np.ndarray,
) -> None:
    """Fill in the sum of the hashes of each text's different words, in 63 bits.

    ``letters`` and ``places`` are those of the words, ``ids`` and ``indptr`` those of the tokens.
    """
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


def tokenize_in_batches(
    texts: Iterable[str],
    left_out: Collection[str] = frozenset(),
    threads: int = 1,
    *,
    word_kind: str = PLAIN,
    quiet: bool = False,
) -> Iterator[Tokens]:
    """Yield the :class:`Tokens` of batches of texts, which are read once."""
    find = functools.partial(tokenize, left_out=left_out, word_kind=word_kind)
    with Progress("reading texts", 0, "texts", quiet=quiet) as progress:
        for tokens in map_in_order(find, _split_batches(texts), threads):
            yield tokens
            progress.advance(len(tokens.indptr) - 1)


def _split_batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
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


def map_in_order(
    function: Callable[[Any], Any], items: Iterable[Any], threads: int
) -> Iterator[Any]:
    """Yield the results of a function for some items, in their order.

    Several threads work a few items ahead.
    """
    if threads == 1:
        for item in items:
            yield function(item)
        return
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


_JAMO_THAT_FOLLOW = range(0x1160, 0x1200)
"""Hangul vowels and finals, letters that compose with the preceding one."""


class TokenSpan(NamedTuple):
    """A token in its normal form, and the position of each of its characters in the text.

    Attributes
    ----------
    token : str
        The token.
    starts, ends : list of int
        Start and end of each of its characters.
    """

    token: str
    starts: list[int]
    ends: list[int]


def find_token_spans(text: str, *, html: bool = False, word_kind: str = PLAIN) -> list[TokenSpan]:
    """Find the :class:`TokenSpan` of each token of a text, in order.

    Tokens of HTML have their positions in the HTML.
    """
    if html:
        plain, begins, stops = remove_markup_with_offsets(text)
        spans = []
        for span in find_token_spans(plain, word_kind=word_kind):
            starts = [begins[start] for start in span.starts]
            ends = [stops[end - 1] for end in span.ends]
            spans.append(TokenSpan(span.token, starts, ends))
        return spans
    starts = []
    ends = []
    pieces = []
    for start, end in _find_clusters(text):
        piece = normal_form(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    form = "".join(pieces)
    _, firsts, lasts = _find_spans(form, word_kind)
    return [
        TokenSpan(form[first:last], starts[first:last], ends[first:last])
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]


def find_words(text: str, *, html: bool = False, word_kind: str = PLAIN) -> set[str]:
    """Find the different tokens of a text."""
    return {span.token for span in find_token_spans(text, html=html, word_kind=word_kind)}


def _find_clusters(text: str) -> Iterator[tuple[int, int]]:
    """Find the start and end of each character with the marks that compose with it."""
    first = 0
    for position in range(1, len(text)):
        if not _composes_backwards(text[position]):
            yield first, position
            first = position
    yield first, len(text)


def _composes_backwards(character: str) -> bool:
    """Return whether a character composes with the preceding one."""
    normal = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.category(normal).startswith("M") or ord(normal) in _JAMO_THAT_FOLLOW


def map_words(
    words: WordList | Sequence[str | None], find_numbers: Callable[[str], Iterable[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Collect the numbers that a function gives for each word; none for a forgotten word.

    Returns
    -------
    starts : ndarray of int64, shape (n + 1,)
        Word v has the numbers starts[v] to starts[v + 1].
    numbers : ndarray of int32
        The numbers.
    """
    starts = np.zeros(len(words) + 1, np.int64)
    numbers = array("i")
    for number, word in enumerate(words, 1):
        if word is not None:
            numbers.extend(find_numbers(word))
        starts[number] = len(numbers)
    return starts, np.array(numbers, np.int32)
