"""Texts to features: tokens, vocabulary and tf-idf.

A token t of a text has the weight log(1 + tf) log(N / df), or tf log(N / df)
when not sublinear: tf is its count in the text, df the number of training texts
it occurs in, N their number. Vocabulary and idf come from the training texts
alone. Texts are read once, in batches; what stays in memory is their counts.
"""

import math
import re
import unicodedata
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
from ovaflow.sparse.csr import CSR


def _combining_marks():
    """Accents and vowel signs of all scripts, as ranges of a character class."""
    codes = range(1 << 16)
    marks = "".join("m" if unicodedata.category(chr(code)).startswith("M") else " " for code in codes)
    return "".join(f"{chr(run.start())}-{chr(run.end() - 1)}" for run in re.finditer("m+", marks))


TOKEN_PATTERN = rf"\b(?!\d+\b)\w[\w{_combining_marks()}]+"
"""Words of two characters or more that are not numbers; Python's ``\\w`` lacks the marks that are part of them."""
_OWN_PATTERN = re.compile(r"\\b\(\?!\\d\+\\b\)\\w\[\\w[^\\\[\]^]*\]\+")
_LARGEST_COUNT = 1 << 24
"""float32 holds whole numbers exactly up to here."""
_MOST_COUNTED = 1 << 27
"""Features whose instances are counted; more of them would take gigabytes, however few occur."""
_BATCH = 1 << 20
"""Entries of a batch of counts."""
_PIECE = 1 << 20
"""Characters of a long text whose tokens are counted together."""
_ROOM = 1 << 22
"""Tokens that the growing vocabulary may hold, about 0.7 GB."""


def is_own_pattern(pattern):
    """Whether a pattern of tokens is one of ovaflow's, of whatever version of Unicode.

    Parameters
    ----------
    pattern : object
        From a file, which may be a stranger's: other patterns could take time without end.

    Returns
    -------
    bool
    """
    return isinstance(pattern, str) and _OWN_PATTERN.fullmatch(pattern) is not None


@dataclass(frozen=True)
class Selection:
    """Which tokens become features.

    Attributes
    ----------
    min_df, max_df : int or float
        Fewest and most training texts that a token may occur in: a whole number
        counts texts, a float is a share of them.
    max_features : int or None
        Keep this many, those of the highest document frequency.
    """

    min_df: float = 2
    max_df: float = 0.5
    max_features: int | None = None


@dataclass(frozen=True)
class TfIdf:
    """The transform from texts to features.

    Attributes
    ----------
    feature_names : sequence of str, length d
        Tokens by falling document frequency, without the bias feature.
    idf : ndarray of float32, shape (d,)
    sublinear : bool
        log(1 + tf) instead of tf.
    normalize : bool
        Rows of length 1.
    bias : float
        Value of the last feature, 0 for none.
    token_pattern : str
        Regular expression of a token, applied to the text's :func:`normal_form`.
    """

    feature_names: list
    idf: np.ndarray
    sublinear: bool = True
    normalize: bool = True
    bias: float = 1.0
    token_pattern: str = TOKEN_PATTERN

    @classmethod
    def from_parameters(cls, parameters, feature_names, idf):
        """Rebuild the transform of a dataset or model file.

        Parameters
        ----------
        parameters : dict
            Parameters of the dataset.
        feature_names : sequence of str, length d
        idf : ndarray of float32, shape (d,), or None
            None where the dataset has no idf: every token counts alike.

        Returns
        -------
        TfIdf

        Raises
        ------
        InputError
            If the dataset was not made from texts.
        """
        if "token_pattern" not in parameters:
            raise InputError("made from features, not from texts: there is no transform of raw text")
        weights = np.ones(len(feature_names), np.float32) if idf is None else np.asarray(idf, np.float32)
        given = {name: parameters[name] for name in ("sublinear", "normalize", "bias", "token_pattern")}
        return cls(list(feature_names), weights, **given)

    def transform(self, texts, quiet=False):
        """Features of texts.

        Parameters
        ----------
        texts : iterable of str
            Read once, in batches.
        quiet : bool
            Do not tell how far it is.

        Returns
        -------
        CSR, shape (n, d + 1), or (n, d) without a bias feature
        """
        tokenize = tokenizer(self.token_pattern)
        blocks = [self._features(counts) for counts in _batches(texts, tokenize, self._columns, quiet)]
        return _stack(blocks, self.n_columns)

    @property
    def n_columns(self):
        """Number of features, bias feature included."""
        return len(self.feature_names) + (self.bias != 0)

    @cached_property
    def _columns(self):
        return _Columns((token, column) for column, token in enumerate(self.feature_names))

    def _features(self, counts):
        """Features of a batch whose token ids are columns, -1 for unknown tokens."""
        known = counts.ids >= 0
        before = np.zeros(len(known) + 1, np.int64)
        np.cumsum(known, out=before[1:])
        shape = (len(counts.indptr) - 1, len(self.feature_names))
        block = scipy.sparse.csr_array((counts.tf[known], counts.ids[known], before[counts.indptr]), shape=shape)
        block.sort_indices()
        matrix = CSR(block.data, block.indices.astype(np.int32), block.indptr.astype(np.int64), shape[1])
        return finish(weigh(matrix, self.idf, self.sublinear), self.normalize, self.bias)


def normal_form(text):
    """Text in the form that tokens are taken from: compatibility-composed, without case.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        NFKC of the case-folded NFKC, so that equal words are equal strings:
        "Straße", "STRASSE" and "Strasse" are one word.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def tokenizer(pattern=TOKEN_PATTERN):
    """Function from a text to its tokens.

    Parameters
    ----------
    pattern : str
        Regular expression of a token.

    Returns
    -------
    callable
        ``tokens(text) -> list of str``.
    """
    find = re.compile(pattern).findall
    return lambda text: find(normal_form(text))


def weigh(matrix, idf, sublinear):
    """Turn counts into tf-idf weights, in place.

    Parameters
    ----------
    matrix : CSR, shape (n, d)
        Counts.
    idf : ndarray of float32, shape (d,)
    sublinear : bool
        log(1 + tf) instead of tf.

    Returns
    -------
    CSR
        The same matrix.
    """
    if sublinear:
        np.log1p(matrix.data, out=matrix.data)
    np.multiply(matrix.data, idf[matrix.indices], out=matrix.data)
    return matrix


def inverse_document_frequency(document_frequency, n):
    """log(N / df); 0 for what occurs nowhere.

    Parameters
    ----------
    document_frequency : ndarray of int64, shape (d,)
    n : int
        Number of training instances.

    Returns
    -------
    ndarray of float32, shape (d,)
    """
    return np.log(n / np.where(document_frequency > 0, document_frequency, n)).astype(np.float32)


def weigh_counts(matrix, sublinear, idf=None):
    """tf-idf of features that are counts, in place.

    Parameters
    ----------
    matrix : CSR, shape (n, d)
        Counts; 0 and 1 for binary features.
    sublinear : bool
        log(1 + tf) instead of tf.
    idf : ndarray of float32, shape (d,), optional
        That of the training set; computed from this matrix by default.

    Returns
    -------
    matrix : CSR
        The same matrix.
    idf : ndarray of float32, shape (d,)

    Raises
    ------
    InputError
        If a value is not a count, or there are too many features.
    """
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
    """What :func:`learn` makes of the training texts.

    Attributes
    ----------
    transform : TfIdf
    X : CSR
        Their features.
    counts : dict of str to int
        Tokens seen, and forgotten for want of room.
    """

    transform: TfIdf
    X: CSR
    counts: dict


def learn(texts, selection, tfidf=True, sublinear=True, normalize=True, bias=1.0):
    """Choose the vocabulary, compute its idf, and transform the training texts.

    Parameters
    ----------
    texts : iterable of str
        Training texts, read once.
    selection : Selection
    tfidf : bool
        False: every idf is 1.
    sublinear, normalize, bias
        As in :class:`TfIdf`.

    Returns
    -------
    Learned

    Raises
    ------
    InputError
        If there are no texts, or no token is left.

    Notes
    -----
    A vocabulary that outgrows its room (4 million tokens) forgets the tokens
    that occurred in one text so far, as in lossy counting (Manku and Motwani,
    2002); their document frequency then counts from anew.
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
    tokens, ids = _select(vocabulary, document_frequency, n, selection, tfidf)
    idf = inverse_document_frequency(document_frequency[ids], n) if tfidf else np.ones(len(ids), np.float32)
    transform = TfIdf(tokens, idf, sublinear, normalize, bias)
    column_of = np.full(vocabulary.issued, -1, np.int32)
    column_of[ids] = np.arange(len(ids), dtype=np.int32)
    for number, counts in enumerate(batches):
        batches[number] = transform._features(counts._replace(ids=column_of[counts.ids]))
    return Learned(transform, _stack(batches, transform.n_columns), vocabulary.counts)


def _select(vocabulary, document_frequency, n, selection, tfidf):
    """Chosen tokens and their ids, by falling document frequency, ties by token."""
    fewest = _texts(selection.min_df, n, math.ceil)
    most = min(_texts(selection.max_df, n, math.floor), n - tfidf)  # a token of every text has idf 0
    chosen = [
        (-int(document_frequency[number]), token, number)
        for token, number in vocabulary.items()
        if fewest <= document_frequency[number] <= most
    ]
    chosen.sort()
    chosen = chosen[: selection.max_features]
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
        counts = Counter()
        for piece in _pieces(text):
            counts.update(tokenize(piece))
        tf.extend(counts.values())
        ids.extend(map(vocabulary.__getitem__, counts))
        indptr.append(len(ids))
        if len(ids) >= _BATCH:
            break
    return _Counts(np.frombuffer(tf, np.float32), np.frombuffer(ids, np.int32), np.frombuffer(indptr, np.int64))


def _pieces(text):
    """A text cut before spaces, which no token and no composed character contains: a long one's tokens fill memory."""
    start = 0
    while len(text) - start > _PIECE and (end := text.find(" ", start + _PIECE)) >= 0:
        yield text[start:end]
        start = end
    yield text[start:] if start else text


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
