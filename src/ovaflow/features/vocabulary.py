"""Choice of the terms of each block that are features, by the number of training texts with them.

Texts are read once. Meanwhile their tokens are kept on disk, so that memory depends on the number
of different words and pairs. Where these do not fit, the rarest are forgotten, as in lossy counting
(Manku and Motwani, 2002).
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from stop_words import AVAILABLE_LANGUAGES, get_stop_words

from ovaflow.console.errors import InputError, StrPath
from ovaflow.features.blocks import (
    NAMES,
    PAIRS,
    WORDS,
    advise_on_spaceless,
    format_pair,
    format_phrase,
    is_spaceless,
    make_feature_namer,
)
from ovaflow.features.columns import ColumnFeatures
from ovaflow.features.normalize import iterate_row_blocks
from ovaflow.features.phrases import Phrases
from ovaflow.features.tfidf import Features, GrowingVector, TfIdf, compute_idf, find_neighbours
from ovaflow.features.tokens import (
    PLAIN,
    Numbering,
    Tokens,
    map_in_order,
    map_words,
    normal_form,
    number_word_sets,
    remove_words,
    tokenize,
    tokenize_in_batches,
)
from ovaflow.features.word_table import WordList, WordTable
from ovaflow.reading.streams import read_lines
from ovaflow.settings.prepare import is_language
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.jit import strict_kernel

_MAX_WORDS = 1 << 22
"""Words that the growing vocabulary may hold, about 0.7 GB."""
_MAX_PAIRS = 1 << 24
"""Pairs of words that are counted at a time, about 0.6 GB."""
_PART_TOKENS = 1 << 20
"""Tokens that are worked on together."""

Terms = list[tuple[int, str]]
"""Terms as (-df, name), so that they are sorted by falling document frequency, then by name."""


class NoTermsError(InputError):
    """No term that is in enough texts, and in few enough."""


class FittedFeatures(NamedTuple):
    """Features of training texts.

    Attributes
    ----------
    X : CSR
        Features of each text.
    norms : ndarray of float64, or None
        Lengths of their rows before these were scaled, if they are.
    transform : TfIdf
        Transform of further texts.
    counts : dict
        Numbers of counted and forgotten terms, by name.
    """

    X: CSR
    norms: np.ndarray | None
    transform: TfIdf
    counts: dict[str, int]


class FrequencyLimits(NamedTuple):
    """Numbers of training texts in which a feature must occur, at least and at most."""

    fewest: int
    most: int


def fit_features(
    texts: Iterable[str],
    settings: Any,
    label_names: Callable[[], Iterable[str]] = list,
    *,
    tfidf: bool = True,
) -> FittedFeatures:
    """Choose features, compute idf, and transform texts; parameters as in :func:`fit_tokens`.

    Texts are read once, before ``label_names`` is called.
    """
    tokens, _ = read_tokens(texts, word_kind=settings.words)
    return fit_tokens(tokens, settings, label_names, tfidf=tfidf)


def fit_tokens(
    tokens: Tokens,
    settings: Any,
    label_names: Callable[[], Iterable[str]],
    *,
    tfidf: bool,
    threads: int = 1,
    folder: StrPath | None = None,
    beside: Sequence[tuple] | None = None,
) -> FittedFeatures:
    """Choose features of tokenized texts, compute idf, and transform the texts.

    Parameters
    ----------
    tokens : Tokens
        Tokens of the training texts.
    settings : ovaflow.settings.prepare.Prepare
        Settings of features.
    label_names : callable
        Gives the names of labels; called only if they are features.
    tfidf : bool
        Whether terms are weighted by idf; a term of every text is then no feature.
    threads : int, default=1
        Number of threads.
    folder : path-like, optional
        Folder of temporary files, from which the features are mapped.
    beside : sequence of tuples, optional
        Values of each record in the columns, if the settings name columns.

    Returns
    -------
    fitted : FittedFeatures
        Features, transform and counts.

    Raises
    ------
    InputError
        If there are no texts.
    NoTermsError
        If no term is frequent enough, or all are too frequent.
    """
    left_out = read_stop_words(settings.stop_words)
    tokens = remove_words(tokens, frozenset(left_out))
    n = len(tokens.indptr) - 1
    if n == 0:
        raise InputError("no training texts", remedy="give a training file with texts")
    document_frequency = count_document_frequencies(tokens.ids, tokens.indptr, len(tokens.words))
    limits = _make_limits(settings, n, tfidf=tfidf)
    counted = _CountedTokens(tokens, document_frequency, limits, left_out)
    chosen = _choose_terms(counted, settings, label_names)
    counts = _count_words(tokens, document_frequency) | chosen.counts
    if not chosen.names:
        raise _no_terms_error(limits, n, counts.get("texts_without_spaces", 0))
    idf = np.ones(len(chosen.names), np.float32)
    if tfidf:
        idf = compute_idf(np.array(chosen.frequencies), n)
    transform = TfIdf(
        chosen.names,
        idf,
        settings.sublinear,
        settings.normalize,
        settings.bias,
        features=tuple(settings.features),
        words=settings.words,
        left_out=left_out,
        column_weights=tuple(settings.column_weights) or (1.0,),
        columns=ColumnFeatures.fit(beside, settings) if beside else None,
    )
    features = _transform_parts(transform, tokens, threads, folder, beside)
    return FittedFeatures(features.X, features.norms, transform, counts)


class _CountedTokens(NamedTuple):
    """Tokens of the training texts, and what decides which terms are features."""

    tokens: Tokens  # without stop words
    document_frequency: np.ndarray  # int64; number of texts that have each word
    limits: FrequencyLimits
    stop_words: tuple[str, ...]


class _ChosenTerms(NamedTuple):
    """Terms that are features, block by block."""

    names: list[str]
    frequencies: list[int]  # number of texts that have each term
    counts: dict[str, int]  # numbers of forgotten terms, by name


def _make_limits(settings: Any, n: int, *, tfidf: bool) -> FrequencyLimits:
    """Make the limits of n texts."""
    # a term in every text has idf 0
    most_with_idf = n - 1 if tfidf else n
    return FrequencyLimits(
        fewest=_count_texts(settings.min_df, n, math.ceil),
        most=min(_count_texts(settings.max_df, n, math.floor), most_with_idf),
    )


def _choose_terms(
    counted: _CountedTokens, settings: Any, label_names: Callable[[], Iterable[str]]
) -> _ChosenTerms:
    """Choose the terms of each block, the most frequent first."""
    tokens = counted.tokens
    limits = counted.limits
    chosen = _ChosenTerms([], [], {})
    for block in settings.features:
        if block == PAIRS:
            terms, n_forgotten = _choose_pairs(tokens, counted.document_frequency, limits)
            chosen.counts["pairs_forgotten"] = n_forgotten
        elif block == WORDS:
            terms = _choose_words(tokens, counted.document_frequency, limits)
        elif block == NAMES:
            names = tokenize(label_names(), frozenset(counted.stop_words), settings.words)
            terms = _choose_phrases(tokens, names, limits.most)
        else:
            terms = _choose_word_terms(tokens, block, limits)
        for negative_frequency, name in sorted(terms)[: settings.max_features]:
            chosen.names.append(name)
            chosen.frequencies.append(-negative_frequency)
    return chosen


def _count_words(tokens: Tokens, document_frequency: np.ndarray) -> dict[str, int]:
    """Count words, forgotten ones, and, where it is worth a remark, texts without spaces."""
    n_forgotten = sum(1 for word in tokens.words if word is None)
    counts = {
        "tokens": int(np.count_nonzero(document_frequency)) - n_forgotten,
        "tokens_forgotten": n_forgotten,
    }
    n_spaceless = _count_spaceless(tokens)
    if advise_on_spaceless(n_spaceless, len(tokens.indptr) - 1):
        counts["texts_without_spaces"] = n_spaceless
    return counts


def _no_terms_error(limits: FrequencyLimits, n: int, n_spaceless: int) -> NoTermsError:
    remedy = "lower min_df, raise max_df or give more texts"
    advice = advise_on_spaceless(n_spaceless, n)
    if advice:
        remedy = f"{advice}, or {remedy}"
    message = (
        f"no token occurs in at least {limits.fewest} and at most {limits.most} "
        f"of the {n} training texts"
    )
    return NoTermsError(message, remedy=remedy)


def read_stop_words(origin: str | None) -> tuple[str, ...]:
    """Read the words to leave out, in normal form, ascending.

    Parameters
    ----------
    origin : str or None
        A language, or the path of a file with a word in each line; None for no words.

    Returns
    -------
    words : tuple of str
        The words.

    Raises
    ------
    InputError
        If there are no stop words for the language.
    """
    if origin is None:
        return ()
    if not is_language(origin):
        words = [line.strip() for _, line in read_lines(origin)]
    elif origin in AVAILABLE_LANGUAGES:
        words = get_stop_words(origin)
    else:
        languages = ", ".join(AVAILABLE_LANGUAGES)
        remedy = f"there are {languages}; or give the path of a file, such as ./{origin}"
        raise InputError(f"no stop words for the language {origin!r}", remedy=remedy)
    return tuple(sorted({normal_form(word) for word in words if word}))


def _count_texts(limit: float, n: int, round_share: Callable[[float], int]) -> int:
    """Return the number of texts that a limit means: an integer, or a share of all texts."""
    return limit if isinstance(limit, int) else round_share(limit * n)


def read_tokens(
    texts: Iterable[str],
    threads: int = 1,
    folder: StrPath | None = None,
    word_kind: str = PLAIN,
) -> tuple[Tokens, np.ndarray]:
    """Read the tokens of all texts.

    Parameters
    ----------
    texts : iterable of str
        The texts, which are read once.
    threads : int, default=1
        Number of threads.
    folder : path-like, optional
        Folder of temporary files; by default that of the system.
    word_kind : str
        Kind of words.

    Returns
    -------
    tokens : Tokens
        Tokens, mapped from disk; words that were forgotten are None.
    sets : ndarray of int64
        :func:`number_word_sets` of the texts.
    """
    table = WordTable()
    folder = folder or tempfile.gettempdir()
    ids = GrowingVector(np.int32, folder)
    fields = GrowingVector(np.uint8, folder)
    lengths = [np.zeros(1, np.int64)]
    sets = [np.empty(0, np.int64)]
    for tokens in tokenize_in_batches(texts, threads=threads, word_kind=word_kind):
        sets.append(number_word_sets(tokens))
        words = tokens.words
        assert isinstance(words, WordList)
        numbers = table.number(words.letters, words.places[:-1], words.places[1:])
        ids.extend(numbers[tokens.ids])
        fields.extend(tokens.fields)
        lengths.append(np.diff(tokens.indptr))
        _forget_rare_words(table, ids, lengths)
    known_words = [word or None for word in table.words]
    indptr = np.cumsum(np.concatenate(lengths))
    return Tokens(known_words, ids.mapped(), indptr, fields.mapped()), np.concatenate(sets)


def take_tokens(tokens: Tokens, rows: np.ndarray, folder: StrPath | None = None) -> Tokens:
    """Take the tokens of some of the texts; with a folder they are mapped from there."""
    ids = GrowingVector(np.int32, folder)
    fields = GrowingVector(np.uint8, folder)
    indptr = offsets(np.diff(tokens.indptr)[rows])
    for low, high in iterate_row_blocks(indptr, _PART_TOKENS):
        part = tokens.take(rows[low:high])
        ids.extend(part.ids)
        fields.extend(part.fields)
    return Tokens(tokens.words, ids.mapped(), indptr, fields.mapped())


def join_tokens(tokens: Tokens, others: Tokens, folder: StrPath | None = None) -> Tokens:
    """Join tokens of texts and those of others; with a folder they are mapped from there."""
    ids = GrowingVector(np.int32, folder)
    fields = GrowingVector(np.uint8, folder)
    for part in _split_parts(tokens):
        ids.extend(part.ids)
        fields.extend(part.fields)
    ids.extend(others.ids + np.int32(len(tokens.words)))
    fields.extend(others.fields)
    indptr = np.concatenate([tokens.indptr, tokens.indptr[-1] + others.indptr[1:]])
    return Tokens([*tokens.words, *others.words], ids.mapped(), indptr, fields.mapped())


def transform_in_parts(
    transform: TfIdf,
    tokens: Tokens,
    threads: int = 1,
    folder: StrPath | None = None,
    beside: Sequence[tuple] | None = None,
) -> Features:
    """Compute features of texts by their tokens; parameters as in :func:`fit_tokens`."""
    tokens = remove_words(tokens, frozenset(transform.left_out))
    return _transform_parts(transform, tokens, threads, folder, beside)


def _count_spaceless(tokens: Tokens) -> int:
    """Count the texts that have a word of a script that puts no spaces between words."""
    is_spaceless_word = np.zeros(len(tokens.words), bool)
    for number, word in enumerate(tokens.words):
        if word is not None and not word.isascii():
            is_spaceless_word[number] = is_spaceless(word)
    positions = np.flatnonzero(is_spaceless_word[tokens.ids])
    return len(np.unique(np.searchsorted(tokens.indptr, positions, "right")))


def _transform_parts(
    transform: TfIdf,
    tokens: Tokens,
    threads: int,
    folder: StrPath | None,
    beside: Sequence[tuple] | None,
) -> Features:
    terms = transform.find_terms(tokens.words)

    def transform_part(rows: tuple[int, int]) -> Features:
        low, high = rows
        values = beside and beside[low:high]
        return transform.transform_tokens(tokens.part(low, high), terms, values)

    ranges = iterate_row_blocks(tokens.indptr, _PART_TOKENS)
    return transform.stack(map_in_order(transform_part, ranges, threads), folder)


def _forget_rare_words(table: WordTable, ids: GrowingVector, lengths: list[np.ndarray]) -> None:
    """Forget the rarest words of a full table until half of it is free."""
    is_known = np.diff(table.words.places) > 0
    least = 1
    if np.count_nonzero(is_known) > _MAX_WORDS:
        document_frequency = count_document_frequencies(
            ids.mapped(), np.cumsum(np.concatenate(lengths)), table.issued
        )
        while np.count_nonzero(is_known) > _MAX_WORDS // 2:
            least += 1
            is_known &= document_frequency >= least
        table.forget(~is_known)


def _split_parts(tokens: Tokens) -> Iterator[Tokens]:
    """Yield the texts in parts of about _PART_TOKENS tokens."""
    for low, high in iterate_row_blocks(tokens.indptr, _PART_TOKENS):
        yield tokens.part(low, high)


def count_document_frequencies(
    ids: np.ndarray,
    indptr: np.ndarray,
    n_terms: int,
    starts: np.ndarray | None = None,
    terms: np.ndarray | None = None,
) -> np.ndarray:
    """Count the texts that have each term.

    Parameters
    ----------
    ids : ndarray of int32
        Word of each token.
    indptr : ndarray of int64, shape (n + 1,)
        Tokens of each text.
    n_terms : int
        Number of terms.
    starts, terms : ndarrays of int64 and int32, optional
        Terms of each word: word v has terms[starts[v]:starts[v + 1]]. By default words are terms.

    Returns
    -------
    frequency : ndarray of int64, shape (n_terms,)
        The document frequencies.
    """
    if starts is None:
        starts = np.arange(n_terms + 1)
        terms = np.arange(n_terms, dtype=np.int32)
    last_text = np.full(n_terms, -1, np.int64)
    frequency = np.zeros(n_terms, np.int64)
    _count_documents(ids, indptr, starts, terms, last_text, frequency)
    return frequency


@strict_kernel
def _count_documents(
    ids: np.ndarray,
    indptr: np.ndarray,
    starts: np.ndarray,
    terms: np.ndarray,
    last_text: np.ndarray,
    frequency: np.ndarray,
) -> None:
    """Count in ``frequency`` the texts with each term; ``last_text`` has the last one."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            for e in range(starts[ids[k]], starts[ids[k] + 1]):
                term = terms[e]
                if last_text[term] != i:
                    last_text[term] = i
                    frequency[term] += 1


def _choose_words(tokens: Tokens, document_frequency: np.ndarray, limits: FrequencyLimits) -> Terms:
    """Choose the words that are frequent enough and not too frequent, without forgotten ones."""
    words: Any = tokens.words
    is_frequent = document_frequency >= limits.fewest
    chosen = np.flatnonzero(is_frequent & (document_frequency <= limits.most))
    terms = []
    for number in chosen.tolist():
        if words[number] is not None:
            terms.append((-int(document_frequency[number]), words[number]))
    return terms


def _choose_word_terms(tokens: Tokens, block: str, limits: FrequencyLimits) -> Terms:
    """Choose terms of another block, each made of one word."""
    name_features = make_feature_namer([block])
    numbers = Numbering()
    starts, terms = map_words(
        tokens.words, lambda word: [numbers[name] for name in name_features(word)]
    )
    frequency = count_document_frequencies(
        tokens.ids, tokens.indptr, len(numbers), starts, terms
    ).tolist()
    chosen = []
    for name, df in zip(numbers, frequency, strict=True):
        if limits.fewest <= df <= limits.most:
            chosen.append((-df, name))
    return chosen


def _choose_phrases(tokens: Tokens, names: Tokens, most: int) -> Terms:
    """Choose names of labels, also those of rare labels; their document frequency is at least 1."""
    words = list(names.words)
    phrases_of_names = set()
    for start, end in pairwise(names.indptr):
        phrases_of_names.add(tuple(words[number] for number in names.ids[start:end]))
    distinct = sorted(phrases_of_names - {()})
    phrases = Phrases(distinct)
    frequency = np.zeros(len(distinct), np.int64)
    stems = phrases.find_stems(tokens.words)
    for part in _split_parts(tokens):
        positions, numbers = phrases.find(part, stems)
        indptr = np.searchsorted(positions, part.indptr)
        frequency += count_document_frequencies(numbers, indptr, len(distinct))
    chosen = []
    for phrase, df in zip(distinct, np.maximum(frequency, 1).tolist(), strict=True):
        if df <= most:
            chosen.append((-df, format_phrase(phrase)))
    return chosen


def _choose_pairs(
    tokens: Tokens, document_frequency: np.ndarray, limits: FrequencyLimits
) -> tuple[Terms, int]:
    """Choose pairs of neighbours, whose words are at least as frequent.

    Returns
    -------
    terms : list of pairs
        The pairs.
    n_forgotten : int
        Number of forgotten pairs.
    """
    is_rare = document_frequency < limits.fewest
    counts = _PairCounts()
    for part in _split_parts(tokens):
        positions, keys = find_neighbours(part)
        is_kept = ~(is_rare[part.ids[positions]] | is_rare[part.ids[positions + 1]])
        distinct, pair_of = np.unique(keys[is_kept], return_inverse=True)
        begins_pair = np.zeros(len(part.ids), bool)
        begins_pair[positions[is_kept]] = True
        indptr = offsets(begins_pair)[part.indptr]
        frequency = count_document_frequencies(pair_of.astype(np.int32), indptr, len(distinct))
        counts.add(distinct, frequency)
    keys, frequency = counts.merge()
    chosen = np.flatnonzero((frequency >= limits.fewest) & (frequency <= limits.most))
    words: Any = tokens.words
    firsts, seconds = np.divmod(keys[chosen], max(len(words), 1))
    pairs = zip(firsts.tolist(), seconds.tolist(), frequency[chosen].tolist(), strict=True)
    terms = [(-df, format_pair(words[first], words[second])) for first, second, df in pairs]
    return terms, counts.n_forgotten


class _PairCounts:
    """Counts of pairs by key; the rarest are forgotten where they do not fit into memory."""

    def __init__(self) -> None:
        self._keys: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []
        self._size = 0
        self.n_forgotten = 0

    def add(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Add counts of ascending keys."""
        self._keys.append(keys)
        self._counts.append(counts)
        self._size += len(keys)
        if self._size > _MAX_PAIRS:
            keys, counts = self.merge()
            least = 1
            while len(keys) > _MAX_PAIRS // 2:
                least += 1
                self.n_forgotten += int(np.count_nonzero(counts < least))
                keys = keys[counts >= least]
                counts = counts[counts >= least]
            self._keys = [keys]
            self._counts = [counts]
            self._size = len(keys)

    def merge(self) -> tuple[np.ndarray, np.ndarray]:
        """Merge all counts: distinct keys, ascending, and the total of each."""
        keys = np.concatenate([np.empty(0, np.int64), *self._keys])
        counts = np.concatenate([np.empty(0, np.int64), *self._counts])
        distinct, number = np.unique(keys, return_inverse=True)
        total = np.zeros(len(distinct), np.int64)
        np.add.at(total, number, counts)
        return distinct, total
