"""Texts to features: tokens, vocabulary and tf-idf.

A token t of a text has the weight log(1 + tf) log(N / df), or tf log(N / df) when not sublinear: tf is its count in the
text, df the number of training texts it occurs in, N their number. Vocabulary and idf come from the training texts
alone. Texts are read once, in batches; what stays in memory is their counts.
"""

import math
from array import array
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.data.normalize import finish
from ovaflow.data.tokens import TOKEN_PATTERN, tokenizer
from ovaflow.sparse.csr import CSR

_LARGEST_COUNT = 1 << 24
"""float32 holds whole numbers exactly up to here."""
_MOST_COUNTED = 1 << 27
"""Features whose instances are counted; more of them would take gigabytes, however few occur."""
_BATCH = 1 << 20
"""Entries of a batch of counts."""
_ROOM = 1 << 22
"""Tokens that the growing vocabulary may hold, about 0.7 GB."""


@dataclass(frozen=True)
class TfIdf:
    """The transform from texts to features.

    ``feature_names`` are tokens by falling document frequency, without the bias feature; ``idf`` has shape (d,).
    ``sublinear``: log(1 + tf) instead of tf. ``bias`` is the value of the last feature, 0 for none. ``token_pattern``
    is applied to the text's :func:`normal_form`.
    """

    feature_names: list
    idf: np.ndarray
    sublinear: bool
    normalize: bool
    bias: float
    token_pattern: str = TOKEN_PATTERN
    unscaled: bool = False

    @classmethod
    def from_parameters(cls, parameters, feature_names, idf):
        """Rebuild the transform of a dataset or model file; without idf every token counts alike."""
        if "token_pattern" not in parameters:
            raise InputError("made from features, not from texts: there is no transform of raw text")
        weights = np.ones(len(feature_names), np.float32) if idf is None else np.asarray(idf, np.float32)
        given = {name: parameters[name] for name in ("sublinear", "normalize", "bias", "token_pattern")}
        return cls(list(feature_names), weights, **given, unscaled=parameters.get("unscaled", False))

    def transform(self, texts, quiet=False, norms=None):
        """Features of texts, read once in batches: CSR of shape (n, n_columns); their norms go to a list."""
        tokenize = tokenizer(self.token_pattern)
        blocks = [self._features(counts, norms) for counts in _batches(texts, tokenize, self._columns, quiet)]
        return _stack(blocks, self.n_columns)

    @property
    def n_columns(self):
        """Number of features, bias feature included."""
        return len(self.feature_names) + (self.bias != 0)

    @cached_property
    def _columns(self):
        return _Columns((token, column) for column, token in enumerate(self.feature_names))

    def _features(self, counts, norms=None):
        """Features of a batch whose token ids are columns, -1 for unknown tokens."""
        known = counts.ids >= 0
        before = np.zeros(len(known) + 1, np.int64)
        np.cumsum(known, out=before[1:])
        shape = (len(counts.indptr) - 1, len(self.feature_names))
        block = scipy.sparse.csr_array((counts.tf[known], counts.ids[known], before[counts.indptr]), shape=shape)
        block.sort_indices()
        matrix = CSR(block.data, block.indices.astype(np.int32), block.indptr.astype(np.int64), shape[1])
        weigh(matrix, self.idf, self.sublinear)
        finished, lengths = finish(matrix, self.normalize, self.bias, self.unscaled)
        if norms is not None and self.normalize:
            norms.append(lengths)
        return finished


def weigh(matrix, idf, sublinear):
    """Turn counts into tf-idf weights, in place."""
    if sublinear:
        np.log1p(matrix.data, out=matrix.data)
    np.multiply(matrix.data, idf[matrix.indices], out=matrix.data)
    return matrix


def inverse_document_frequency(document_frequency, n):
    """log(N / df), shape (d,); 0 for what occurs nowhere."""
    return np.log(n / np.where(document_frequency > 0, document_frequency, n)).astype(np.float32)


def weigh_counts(matrix, sublinear, idf=None):
    """tf-idf of features that are counts, in place, and its idf: by default that of this matrix."""
    if matrix.n_columns > _MOST_COUNTED:
        raise InputError(
            f"{matrix.n_columns:,} features, tf-idf counts at most {_MOST_COUNTED:,}", remedy="set tfidf to false"
        )
    for start in range(0, len(matrix.data), _BATCH):
        values = matrix.data[start : start + _BATCH]
        strange = ~((values >= 0) & (values < _LARGEST_COUNT) & (values == np.rint(values)))
        if strange.any():
            raise InputError(
                f"feature {matrix.indices[start + strange.argmax()]} has the value {values[strange.argmax()]:g}, "
                "which is not a count, so tf-idf makes no sense",
                remedy="set tfidf to false or auto" if idf is None else "give counts, as the training set has",
            )
    if idf is None:
        document_frequency = np.bincount(matrix.indices[matrix.data > 0], minlength=matrix.n_columns)
        idf = inverse_document_frequency(document_frequency, matrix.n_rows)
    return weigh(matrix, idf, sublinear), idf


class Learned(NamedTuple):
    """What :func:`learn` makes of the training texts; ``counts`` are of tokens seen, and forgotten for want of room."""

    transform: TfIdf
    X: CSR
    norms: list
    counts: dict


def learn(texts, settings, tfidf=True):
    """Choose the vocabulary, compute its idf, and transform the training texts, which are read once.

    A vocabulary that outgrows its room (4 million tokens) forgets the tokens that occurred in one text so far, as in
    lossy counting (Manku and Motwani, 2002); their document frequency then counts anew.
    """
    vocabulary, batches = _Vocabulary(), []
    for counts in _batches(texts, tokenizer(), vocabulary):
        batches.append(counts)
        if len(vocabulary) > _ROOM:
            vocabulary.forget(_document_frequency(batches, vocabulary.issued))
    n = sum(len(counts.indptr) - 1 for counts in batches)
    if n == 0:
        raise InputError("no training texts", remedy="give a training file with texts")
    document_frequency = _document_frequency(batches, vocabulary.issued)
    tokens, ids = _select(vocabulary, document_frequency, n, settings, tfidf)
    idf = inverse_document_frequency(document_frequency[ids], n) if tfidf else np.ones(len(ids), np.float32)
    transform = TfIdf(tokens, idf, settings.sublinear, settings.normalize, settings.bias)
    column_of = np.full(vocabulary.issued, -1, np.int32)
    column_of[ids] = np.arange(len(ids), dtype=np.int32)
    norms: list = []
    for number, counts in enumerate(batches):
        batches[number] = transform._features(counts._replace(ids=column_of[counts.ids]), norms)
    return Learned(transform, _stack(batches, transform.n_columns), norms, vocabulary.counts)


def _select(vocabulary, document_frequency, n, settings, tfidf):
    """Chosen tokens and their ids, by falling document frequency, ties by token."""
    fewest = _texts(settings.min_df, n, math.ceil)
    most = min(_texts(settings.max_df, n, math.floor), n - tfidf)  # a token of every text has idf 0
    chosen = [
        (-int(document_frequency[number]), token, number)
        for token, number in vocabulary.items()
        if fewest <= document_frequency[number] <= most
    ]
    chosen.sort()
    chosen = chosen[: settings.max_features]
    if not chosen:
        raise InputError(
            f"no token occurs in at least {fewest} and at most {most} of the {n} training texts",
            remedy="lower min_df, raise max_df or give more texts",
        )
    return [token for _, token, _ in chosen], np.array([number for *_, number in chosen])


def _texts(limit, n, rounded):
    return limit if isinstance(limit, int) else rounded(limit * n)


class _Vocabulary(dict):
    """Token to id, growing: an unknown token gets the next id."""

    def __init__(self):
        super().__init__()
        self.issued = self.forgotten = 0

    def __missing__(self, token):
        number = self[token] = self.issued
        self.issued += 1
        return number

    def forget(self, document_frequency):
        """Drop the rarest tokens until half of the room is free."""
        least = 1
        while len(self) > _ROOM // 2:
            least += 1
            kept = {token: number for token, number in self.items() if document_frequency[number] >= least}
            self.forgotten += len(self) - len(kept)
            self.clear()
            self.update(kept)

    @property
    def counts(self):
        """Figures for the provenance."""
        return {"tokens": len(self), "tokens_forgotten": self.forgotten}


class _Columns(dict):
    """Token to column, fixed: an unknown token has none."""

    def __missing__(self, token):
        return -1


class _Counts(NamedTuple):
    """Token counts of a batch: CSR whose columns are token ids in order of appearance."""

    tf: np.ndarray
    ids: np.ndarray
    indptr: np.ndarray


def _batches(texts, tokenize, vocabulary, quiet=False):
    remaining = iter(texts)
    with Progress("reading texts", 0, "texts", quiet=quiet) as progress:
        while True:
            counts = _count(remaining, tokenize, vocabulary)
            if len(counts.indptr) == 1:
                return
            yield counts
            progress.advance(len(counts.indptr) - 1)


def _count(texts, tokenize, vocabulary):
    tf, ids, indptr = array("f"), array("i"), array("q", [0])
    for text in texts:
        counts = Counter(tokenize(text))
        tf.extend(counts.values())
        ids.extend(map(vocabulary.__getitem__, counts))
        indptr.append(len(ids))
        if len(ids) >= _BATCH:
            break
    return _Counts(np.frombuffer(tf, np.float32), np.frombuffer(ids, np.int32), np.frombuffer(indptr, np.int64))


def _document_frequency(batches, n_tokens):
    """Number of texts that each token occurs in."""
    total = np.zeros(n_tokens, np.int64)
    for counts in batches:
        np.add.at(total, counts.ids, 1)
    return total


def _stack(blocks, n_columns):
    """Blocks of rows as one matrix; each block is released once copied."""
    nnz = sum(len(block.data) for block in blocks)
    rows = sum(block.n_rows for block in blocks)
    matrix = CSR(np.empty(nnz, np.float32), np.empty(nnz, np.int32), np.zeros(rows + 1, np.int64), n_columns)
    start = row = 0
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        end = start + len(block.data)
        matrix.data[start:end], matrix.indices[start:end] = block.data, block.indices
        matrix.indptr[row + 1 : row + 1 + block.n_rows] = block.indptr[1:] + start
        start, row = end, row + block.n_rows
    return matrix
