"""Which terms are features: those of each block, chosen by the number of training texts they occur
in.

Texts are read once. Meanwhile their tokens are kept on disk, so that memory depends on the number
of different words and pairs. Where there is no room for these, the rarest are forgotten, as in
lossy counting (Manku and Motwani, 2002).
"""

import math
import tempfile
from array import array
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from stop_words import AVAILABLE_LANGUAGES, get_stop_words

from ovaflow.console.errors import InputError
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
from ovaflow.features.tfidf import GrowingVector, TfIdf, compute_idf, find_neighbours
from ovaflow.features.tokens import (
    Numbering,
    Tokens,
    map_in_order,
    normal_form,
    number_word_sets,
    remove_words,
    tokenize,
    tokenize_in_batches,
)
from ovaflow.features.word_table import WordTable
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


class NoTermsError(InputError):
    """No term is in enough texts, and in few enough."""


class FittedFeatures(NamedTuple):
    """Features of training texts, their transform, and numbers of counted and forgotten terms."""

    X: CSR
    norms: np.ndarray | None
    transform: TfIdf
    counts: dict


def fit_features(texts, settings, label_names=list, tfidf=True):
    """Choose features, compute idf, and transform texts, which are read once, before
    ``label_names`` is called.
    """
    tokens, _ = read_tokens(texts)
    return fit_tokens(tokens, settings, label_names, tfidf)


def fit_tokens(tokens, settings, label_names, tfidf, threads=1, folder=None, beside=None):
    """What :func:`fit_features` gives, for tokens and what is ``beside`` each text, if the settings
    name columns.
    """
    left_out = read_stop_words(settings.stop_words)
    tokens = remove_words(tokens, frozenset(left_out))
    document_frequency = count_document_frequencies(tokens.ids, tokens.indptr, len(tokens.words))
    forgotten = tokens.words.count(None)
    counts = {
        "tokens": int(np.count_nonzero(document_frequency)) - forgotten,
        "tokens_forgotten": forgotten,
    }
    spaceless = _without_spaces(tokens)
    n = len(tokens.indptr) - 1
    if advise_on_spaceless(spaceless, n):
        counts["texts_without_spaces"] = spaceless
    if n == 0:
        raise InputError("no training texts", remedy="give a training file with texts")
    # a term in every text has idf 0
    fewest = _texts(settings.min_df, n, math.ceil)
    most = min(_texts(settings.max_df, n, math.floor), n - tfidf)
    names = []
    frequencies = []
    for block in settings.features:
        if block == PAIRS:
            terms, counts["pairs_forgotten"] = _pairs(tokens, document_frequency, fewest, most)
        elif block == WORDS:
            terms = _words(tokens.words, document_frequency, fewest, most)
        elif block == NAMES:
            terms = _phrases(tokens, label_names(), left_out, most)
        else:
            terms = _terms(tokens, block, fewest, most)
        for frequency, name in sorted(terms)[: settings.max_features]:
            names.append(name)
            frequencies.append(-frequency)
    if not names:
        remedy = "lower min_df, raise max_df or give more texts"
        if pieces := advise_on_spaceless(counts.get("texts_without_spaces", 0), n):
            remedy = f"{pieces}, or {remedy}"
        message = (
            f"no token occurs in at least {fewest} and at most {most} of the {n} training texts"
        )
        raise NoTermsError(message, remedy=remedy)
    idf = np.ones(len(names), np.float32)
    if tfidf:
        idf = compute_idf(np.array(frequencies), n)
    transform = TfIdf(
        names,
        idf,
        settings.sublinear,
        settings.normalize,
        settings.bias,
        features=tuple(settings.features),
        left_out=left_out,
        column_weights=tuple(settings.column_weights) or (1.0,),
        columns=beside and ColumnFeatures.fit(beside, settings),
    )
    return FittedFeatures(*_features(transform, tokens, threads, folder, beside), transform, counts)


def read_stop_words(origin):
    """Words to leave out, in normal form, ascending: those of a language, or the lines of a file;
    None: none.
    """
    if origin is None:
        return ()
    if not is_language(origin):
        words = (line.strip() for _, line in read_lines(origin))
    elif origin in AVAILABLE_LANGUAGES:
        words = get_stop_words(origin)
    else:
        remedy = f"there are {', '.join(AVAILABLE_LANGUAGES)}; or give the path of a file, such as ./{origin}"
        raise InputError(f"no stop words for the language {origin!r}", remedy=remedy)
    return tuple(sorted({normal_form(word) for word in words if word}))


def _texts(limit, n, rounded):
    return limit if isinstance(limit, int) else rounded(limit * n)


def read_tokens(texts, threads=1, folder=None):
    """Tokens of all texts, mapped from disk, and their :func:`word_sets`; words that were forgotten
    are None.
    """
    table = WordTable()
    folder = folder or tempfile.gettempdir()
    ids = GrowingVector(np.int32, folder)
    fields = GrowingVector(np.uint8, folder)
    lengths = [np.zeros(1, np.int64)]
    sets = [np.empty(0, np.int64)]
    for tokens in tokenize_in_batches(texts, threads=threads):
        sets.append(number_word_sets(tokens))
        places = tokens.words.places
        number = table.number(tokens.words.letters, places[:-1], places[1:])
        ids.extend(number[tokens.ids])
        fields.extend(tokens.fields)
        lengths.append(np.diff(tokens.indptr))
        _make_room(table, ids, lengths)
    words = [word or None for word in table.words]
    indptr = np.cumsum(np.concatenate(lengths))
    return Tokens(words, ids.mapped(), indptr, fields.mapped()), np.concatenate(sets)


def take_tokens(tokens, rows, folder=None):
    """Tokens of some of the texts; with a folder they are mapped from there."""
    ids = GrowingVector(np.int32, folder)
    fields = GrowingVector(np.uint8, folder)
    indptr = offsets(np.diff(tokens.indptr)[rows])
    for low, high in iterate_row_blocks(indptr, _PART_TOKENS):
        part = tokens.take(rows[low:high])
        ids.extend(part.ids)
        fields.extend(part.fields)
    return Tokens(tokens.words, ids.mapped(), indptr, fields.mapped())


def join_tokens(tokens, others, folder=None):
    """Tokens of texts, then those of others; with a folder they are mapped from there."""
    ids = GrowingVector(np.int32, folder)
    fields = GrowingVector(np.uint8, folder)
    for part in _parts(tokens):
        ids.extend(part.ids)
        fields.extend(part.fields)
    ids.extend(others.ids + np.int32(len(tokens.words)))
    fields.extend(others.fields)
    indptr = np.concatenate([tokens.indptr, tokens.indptr[-1] + others.indptr[1:]])
    return Tokens([*tokens.words, *others.words], ids.mapped(), indptr, fields.mapped())


def transform_in_parts(transform, tokens, threads=1, folder=None, beside=None):
    """Features of texts by their tokens, and of what is ``beside`` each, as ``transform`` makes
    them.
    """
    return _features(
        transform, remove_words(tokens, frozenset(transform.left_out)), threads, folder, beside
    )


def _without_spaces(tokens):
    """How many texts have a word of a script that puts no spaces between words."""
    words = (
        word is not None and not word.isascii() and is_spaceless(word) for word in tokens.words
    )
    places = np.flatnonzero(np.fromiter(words, bool, len(tokens.words))[tokens.ids])
    return len(np.unique(np.searchsorted(tokens.indptr, places, "right")))


def _features(transform, tokens, threads, folder, beside):
    """Features, and norms of their rows."""
    terms = transform.find_terms(tokens.words)

    def count(rows):
        low, high = rows
        return transform.transform_tokens(
            tokens.part(low, high), terms, beside and beside[low:high]
        )

    return transform.stack(
        map_in_order(count, iterate_row_blocks(tokens.indptr, _PART_TOKENS), threads), folder
    )


def _make_room(table, ids, lengths) -> None:
    """Forget the rarest words until half of the room is free."""
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


def _parts(tokens):
    """The texts in parts of about _TOKENS tokens."""
    return (tokens.part(low, high) for low, high in iterate_row_blocks(tokens.indptr, _PART_TOKENS))


def count_document_frequencies(ids, indptr, n_terms, starts=None, terms=None):
    """Document frequency of each term of the words, which by default are terms themselves."""
    if starts is None:
        starts = np.arange(n_terms + 1)
        terms = np.arange(n_terms, dtype=np.int32)
    last_text = np.full(n_terms, -1, np.int64)
    frequency = np.zeros(n_terms, np.int64)
    _count_documents(ids, indptr, starts, terms, last_text, frequency)
    return frequency


@strict_kernel
def _count_documents(ids, indptr, starts, terms, last_text, frequency) -> None:
    """df_t = number of texts with a token that has term t; last_text_t is the last of them."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            for e in range(starts[ids[k]], starts[ids[k] + 1]):
                term = terms[e]
                if last_text[term] != i:
                    last_text[term] = i
                    frequency[term] += 1


def _words(words, document_frequency, fewest, most):
    """(-df, name) of the words that are frequent enough and not too frequent; a forgotten one is
    too rare.
    """
    chosen = np.flatnonzero((document_frequency >= fewest) & (document_frequency <= most)).tolist()
    return [(-int(document_frequency[v]), words[v]) for v in chosen if words[v] is not None]


def _terms(tokens, block, fewest, most):
    """(-df, name) of the terms of another block, each made of one word."""
    names_of = make_feature_namer([block])
    numbers = Numbering()
    starts = np.zeros(len(tokens.words) + 1, np.int64)
    terms = array("i")
    for number, word in enumerate(tokens.words, 1):
        if word is not None:
            terms.extend([numbers[name] for name in names_of(word)])
        starts[number] = len(terms)
    of_words = starts, np.array(terms, np.int32)
    frequency = count_document_frequencies(
        tokens.ids, tokens.indptr, len(numbers), *of_words
    ).tolist()
    return [
        (-df, name) for name, df in zip(numbers, frequency, strict=True) if fewest <= df <= most
    ]


def _phrases(tokens, label_names, left_out, most):
    """(-df, name) of names of labels, those of rare labels, too; df is 1 at least."""
    names = tokenize(label_names, frozenset(left_out))
    distinct = list(names.words)
    words = [distinct[word] for word in names.ids]
    words = sorted({tuple(words[start:end]) for start, end in pairwise(names.indptr)} - {()})
    phrases = Phrases(words)
    frequency = np.zeros(len(words), np.int64)
    stems = phrases.find_stems(tokens.words)
    for part in _parts(tokens):
        positions, numbers = phrases.find(part, stems)
        indptr = np.searchsorted(positions, part.indptr)
        frequency += count_document_frequencies(numbers, indptr, len(words))
    frequency = np.maximum(frequency, 1).tolist()
    return [
        (-df, format_phrase(name)) for name, df in zip(words, frequency, strict=True) if df <= most
    ]


def _pairs(tokens, document_frequency, fewest, most):
    """(-df, name) of pairs of neighbours, whose words are at least as frequent, and the number of
    forgotten pairs.
    """
    rare = document_frequency < fewest
    counts = _Counts()
    for part in _parts(tokens):
        positions, keys = find_neighbours(part)
        both = ~(rare[part.ids[positions]] | rare[part.ids[positions + 1]])
        distinct, pair_of = np.unique(keys[both], return_inverse=True)
        begins_pair = np.zeros(len(part.ids), bool)
        begins_pair[positions[both]] = True
        indptr = offsets(begins_pair)[part.indptr]
        counts.add(
            distinct, count_document_frequencies(pair_of.astype(np.int32), indptr, len(distinct))
        )
    keys, frequency = counts.all()
    chosen = np.flatnonzero((frequency >= fewest) & (frequency <= most))
    words = tokens.words
    firsts, seconds = np.divmod(keys[chosen], max(len(words), 1))
    pairs = zip(firsts.tolist(), seconds.tolist(), frequency[chosen].tolist(), strict=True)
    return [(-df, format_pair(words[v], words[w])) for v, w, df in pairs], counts.forgotten


class _Counts:
    """Counts by key, in as many sorted runs as fit into the room."""

    def __init__(self) -> None:
        self._keys = []
        self._counts = []
        self._size = 0
        self.forgotten = 0

    def add(self, keys, counts) -> None:
        self._keys.append(keys)
        self._counts.append(counts)
        self._size += len(keys)
        if self._size > _MAX_PAIRS:
            keys, counts = self.all()
            least = 1
            while len(keys) > _MAX_PAIRS // 2:
                least += 1
                self.forgotten += int(np.count_nonzero(counts < least))
                keys = keys[counts >= least]
                counts = counts[counts >= least]
            self._keys = [keys]
            self._counts = [counts]
            self._size = len(keys)

    def all(self):
        """Keys, ascending, and their counts."""
        keys = np.concatenate([np.empty(0, np.int64), *self._keys])
        counts = np.concatenate([np.empty(0, np.int64), *self._counts])
        distinct, number = np.unique(keys, return_inverse=True)
        total = np.zeros(len(distinct), np.int64)
        np.add.at(total, number, counts)
        return distinct, total
