"""Texts to features: counts of terms, and their tf-idf weights.

A term has the weight log(1 + tf) log(N / df) in a text, or tf log(N / df) when not sublinear: tf is
its count in the text, df the number of training texts it occurs in, N their number.
"""

import io
import tempfile
import weakref
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.features.blocks import (
    NAMES,
    PAIRS,
    PHRASE_PREFIX,
    WORDS,
    format_pair,
    make_feature_namer,
    parse_phrase,
)
from ovaflow.features.columns import COLUMNS_KEY as COLUMNS
from ovaflow.features.columns import ColumnFeatures, count_column_features
from ovaflow.features.normalize import make_model_features
from ovaflow.features.phrases import Phrases
from ovaflow.features.tokens import (
    REMEMBERED_WORDS,
    TOKEN_PATTERN,
    Tokens,
    map_words,
    tokenize_in_batches,
)
from ovaflow.sparse.csr import CSR, NO_POSITION, offsets
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.arrays import Strings

_LARGEST_COUNT = 1 << 24
"""float32 holds whole numbers exactly up to here."""
_BATCH_ENTRIES = 1 << 20
"""Entries, or tokens, that are worked on together."""
RECORDED_PARAMETERS = ("features", "left_out", "column_weights", "sublinear", "normalize", "bias")
"""Parameters of a dataset or model from which its transform is rebuilt, with the names and idf of
its features.
"""


class Features(NamedTuple):
    """Features of texts, and the lengths of their rows before these were scaled, if they are."""

    X: CSR
    norms: np.ndarray | None


class NamedFeatures(NamedTuple):
    """Features, by name."""

    names: list
    idf: np.ndarray  # float32


class WordTerms(NamedTuple):
    """What words are made of: word v has the columns from starts[v] to starts[v + 1]."""

    starts: np.ndarray  # int64
    columns: np.ndarray  # int32
    stems: tuple  # of names of labels that a word stands for; empty without such features


@dataclass(frozen=True)
class TfIdf:
    feature_names: Sequence  # of each block by falling document frequency, without the bias feature
    idf: np.ndarray  # (d,)
    sublinear: bool  # log(1 + tf) instead of tf
    normalize: bool
    bias: float  # value of the last feature, 0 for none
    features: tuple = (WORDS,)
    left_out: tuple = ()  # stop words
    column_weights: tuple = (1.0,)  # what a token in each of a text's fields counts
    unscaled: bool = False  # rows as they were before they were scaled to length 1
    columns: ColumnFeatures | None = None  # what follows the features of texts

    @classmethod
    def from_parameters(cls, parameters, feature_names, idf):
        """Rebuild the transform of a dataset or model file; without idf every term counts alike."""
        if "token_pattern" not in parameters:
            raise InputError(
                "made from features, not from texts: there is no transform of raw text"
            )
        if idf is None:
            idf = np.ones(len(feature_names), np.float32)
        recorded = {name: parameters[name] for name in RECORDED_PARAMETERS if name in parameters}
        unscaled = parameters.get("unscaled", False)
        n = len(feature_names) - count_column_features(parameters)
        columns = ColumnFeatures.from_parameters(parameters, feature_names)
        # those of a file stay there
        names = feature_names if n == len(feature_names) else feature_names[:n]
        return cls(
            names, np.asarray(idf[:n], np.float32), **recorded, unscaled=unscaled, columns=columns
        )

    @property
    def parameters(self):
        """What :meth:`from_parameters` rebuilds it from, besides names and idf."""
        recorded = {name: getattr(self, name) for name in RECORDED_PARAMETERS}
        if self.columns is not None:
            recorded[COLUMNS] = self.columns.parameters
        return recorded | {"token_pattern": TOKEN_PATTERN, "normal_form": "NFKC, case-folded"}

    def transform(self, texts, quiet=False):
        """Features of texts: CSR of shape (n, n_columns)."""
        return self.transform_with_norms(texts, quiet).X

    def transform_with_norms(self, texts, quiet=False):
        """:class:`Features` of texts, read once in batches."""
        return self.stack(
            map(self.features_of, tokenize_in_batches(texts, frozenset(self.left_out), quiet=quiet))
        )

    def stack(self, parts, folder=None):
        """:class:`Features` of parts one after the other; with a folder they are mapped from there."""
        norms = []

        def blocks():
            for X, lengths in parts:
                norms.append(lengths)
                yield X

        X = stack_blocks(blocks(), self.n_columns, folder)
        return Features(X, np.concatenate([np.empty(0), *norms]) if self.normalize else None)

    @property
    def n_columns(self):
        return len(self.all_features.names) + (self.bias != 0)

    @property
    def all_features(self):
        """Names and idf of all features, those of columns last; their idf is 1."""
        if self.columns is None:
            return NamedFeatures(self.feature_names, self.idf)
        names = self.columns.features
        return NamedFeatures(
            [*self.feature_names, *names], np.append(self.idf, np.ones(len(names), np.float32))
        )

    def features_of(self, tokens, terms=None, beside=None):
        """:class:`Features` of tokenized texts; ``terms`` are :meth:`terms_of` their words.

        ``beside`` is what each record has in the columns, if there are such, see
        :meth:`ColumnFeatures.transform`.
        """
        matrix = self._counts(tokens, terms or self.find_terms(tokens.words))
        apply_tfidf(matrix, self.idf, self.sublinear)
        further = self.columns and self.columns.transform(beside, matrix.n_rows)
        return Features(
            *make_model_features(matrix, self.normalize, self.bias, self.unscaled, further)
        )

    def find_terms(self, words):
        """:class:`WordTerms` of some words."""
        stems = self._phrases[0].stems_of(words) if NAMES in self.features else ()
        return WordTerms(*map_words(words, self._columns_of), stems)

    @cached_property
    def _columns_of(self):
        """Function from a word to the columns of its terms, which remembers words: in new texts
        most come again.
        """
        names = make_feature_namer(self.features)
        columns_named = self._columns_named

        @lru_cache(REMEMBERED_WORDS)
        def columns_of(word):
            return array("i", [column for column in columns_named(names(word)) if column >= 0])

        return columns_of

    def __getstate__(self):
        # without what was computed since
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _columns_named(self):
        """Function from names to the columns of their features, -1 where there is none."""
        if isinstance(self.feature_names, Strings):
            return self.feature_names.numbers.find
        column = {name: column for column, name in enumerate(self.feature_names)}
        return lambda names: [column.get(name, -1) for name in names]

    def _counts(self, tokens, terms):
        """How often each term occurs in each text, weighted by the fields."""
        n = len(tokens.indptr) - 1
        starts, columns, stems = terms
        first, later = self._beginning_at(tokens, stems)
        room = int((starts[1:] - starts[:-1])[tokens.ids].sum()) + len(later)
        keys = np.empty(room, np.int64)
        indptr = np.zeros(n + 1, np.int64)
        data = np.empty(room, np.float32)
        indices = np.empty(room, np.int32)
        places = np.empty(room, np.uint16)
        weights = np.array(self.column_weights, np.float32)
        parts = tokens.ids, tokens.fields, first, later, tokens.indptr
        _count(*parts, starts, columns, weights, keys, data, indices, places, indptr)
        arrays = data[: indptr[-1]], indices[: indptr[-1]], indptr
        return CSR(*arrays, len(self.feature_names), places[: indptr[-1]])

    def _beginning_at(self, tokens, stems):
        """Columns of the pairs and phrases that begin at each token, as (starts, columns)."""
        positions = [np.empty(0, np.int64)]
        columns = [np.empty(0, np.int32)]
        if PAIRS in self.features:
            positions.append(find_neighbours(tokens)[0])
            columns.append(self._pairs_of(tokens))
        if NAMES in self.features:
            phrases, columns_of_phrases = self._phrases
            places, numbers = phrases.find(tokens, stems)
            positions.append(places)
            columns.append(columns_of_phrases[numbers])
        positions = np.concatenate(positions)
        columns = np.concatenate(columns)
        known = columns >= 0
        positions = positions[known]
        columns = columns[known]
        counts = np.bincount(positions, minlength=len(tokens.ids))
        return offsets(counts), columns[np.argsort(positions, kind="stable")]

    @cached_property
    def _phrases(self):
        """The names of labels that are features, and their columns."""
        names = self.feature_names
        places = (
            names.beginning_with(PHRASE_PREFIX) if isinstance(names, Strings) else range(len(names))
        )
        phrases = {column: words for column in places if (words := parse_phrase(names[column]))}
        return Phrases(list(phrases.values())), np.array(list(phrases), np.int32)

    def phrases_in(self, words):
        """Names of labels in a text of these words: feature, and numbers of its first and last
        word.
        """
        phrases, columns = self._phrases
        ends = np.array([0, len(words)])
        fields = np.zeros(len(words), np.uint8)
        ids = np.arange(len(words), dtype=np.int32)
        tokens = Tokens(words, ids, ends, fields)
        positions, numbers = phrases.find(tokens, phrases.stems_of(words))
        for first, column in zip(positions.tolist(), columns[numbers].tolist(), strict=True):
            length = len(parse_phrase(self.feature_names[column]))
            yield column, first, first + length - 1

    def _pairs_of(self, tokens):
        """Columns of the pairs of neighbours, -1 for one that is no feature."""
        _, keys = find_neighbours(tokens)
        distinct, pair_of = np.unique(keys, return_inverse=True)
        words = list(tokens.words)
        firsts, seconds = np.divmod(distinct, max(len(words), 1))
        pairs = zip(firsts.tolist(), seconds.tolist(), strict=True)
        columns = self._columns_named(
            [format_pair(words[first], words[second]) for first, second in pairs]
        )
        return np.array(columns, np.int32)[pair_of]


def find_neighbours(tokens):
    """Tokens that have a next one in the same field of the same text, and the numbers v V + w of
    the pairs.
    """
    before = np.ones(len(tokens.ids), bool)
    ends = tokens.indptr[1:][np.diff(tokens.indptr) > 0]
    before[ends - 1] = False
    before[:-1] &= tokens.fields[1:] == tokens.fields[:-1]
    positions = np.flatnonzero(before)
    return positions, tokens.ids[positions].astype(np.int64) * len(tokens.words) + tokens.ids[
        positions + 1
    ]


@strict_kernel
def _count(
    ids, fields, first, later, indptr, starts, columns, weights, keys, data, indices, places, ends
) -> None:
    """tf_t = sum over the tokens of a text that have term t of the weights of their fields; t
    ascending.
    """
    n_fields = len(weights)
    filled = 0
    for i in range(len(indptr) - 1):
        end = 0
        for k in range(indptr[i], indptr[i + 1]):
            field = min(fields[k], n_fields - 1)
            place = min(k - indptr[i], NO_POSITION - 1)
            for e in range(starts[ids[k]], starts[ids[k] + 1]):
                keys[end] = (np.int64(columns[e]) * n_fields + field) << 16 | place
                end += 1
            for e in range(first[k], first[k + 1]):
                keys[end] = (np.int64(later[e]) * n_fields + field) << 16 | place
                end += 1
        row = keys[:end]
        row.sort()
        last = -1
        for key in row:
            column = (key >> 16) // n_fields
            if column != last:
                indices[filled] = column
                data[filled] = 0
                places[filled] = key & NO_POSITION
                last = column
                filled += 1
            data[filled - 1] += weights[(key >> 16) % n_fields]
        ends[i + 1] = filled


def apply_tfidf(matrix, idf, sublinear):
    """Turn counts into tf-idf weights, in place."""
    if sublinear:
        np.log1p(matrix.data, out=matrix.data)
    np.multiply(matrix.data, idf[matrix.indices], out=matrix.data)
    return matrix


def compute_idf(document_frequency, n):
    """log(N / df), shape (d,); 0 for what occurs nowhere."""
    return np.log(n / np.where(document_frequency > 0, document_frequency, n)).astype(np.float32)


def apply_tfidf_to_counts(matrix, sublinear, idf=None):
    """tf-idf of features that are counts, in place, and its idf: by default that of this matrix."""
    for start in range(0, len(matrix.data), _BATCH_ENTRIES):
        values = matrix.data[start : start + _BATCH_ENTRIES]
        no_count = ~((values >= 0) & (values < _LARGEST_COUNT) & (values == np.rint(values)))
        if no_count.any():
            first = no_count.argmax()
            raise InputError(
                f"feature {matrix.indices[start + first]} has the value {values[first]:g}, "
                "which is not a count, so tf-idf makes no sense",
                remedy="set tfidf to false or auto"
                if idf is None
                else "give counts, as the training set has",
            )
    if idf is None:
        document_frequency = np.bincount(
            matrix.indices[matrix.data > 0], minlength=matrix.n_columns
        )
        idf = compute_idf(document_frequency, matrix.n_rows)
    return apply_tfidf(matrix, idf, sublinear), idf


class GrowingVector:
    """Values are appended to a temporary file without a name, and mapped; without a folder they are
    in memory.
    """

    def __init__(self, dtype, folder=None) -> None:
        self._dtype = np.dtype(dtype)
        self._length = 0
        self._file = io.BytesIO()
        if folder is not None:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, arrays that map it outlast it
            weakref.finalize(self, self._file.close)

    def extend(self, values) -> None:
        self._file.write(np.ascontiguousarray(values, self._dtype))
        self._length += len(values)

    def mapped(self):
        """All values; they last as long as the array."""
        if self._length == 0:
            return np.empty(0, self._dtype)
        if isinstance(self._file, io.BytesIO):
            return np.frombuffer(self._file.getbuffer(), self._dtype)
        self._file.flush()
        # copy-on-write, since kernels are compiled for writable arrays only
        return np.memmap(self._file, self._dtype, "c")


def stack_blocks(blocks, n_columns, folder=None):
    """Blocks of rows as one matrix; with a folder they are kept there meanwhile, and mapped."""
    data = GrowingVector(np.float32, folder)
    indices = GrowingVector(np.int32, folder)
    places = GrowingVector(np.uint16, folder)
    lengths = [np.zeros(1, np.int64)]
    for block in blocks:
        data.extend(block.data)
        indices.extend(block.indices)
        if block.places is not None:
            places.extend(block.places)
        lengths.append(np.diff(block.indptr))
    indptr = np.cumsum(np.concatenate(lengths))
    mapped = places.mapped()
    return CSR(data.mapped(), indices.mapped(), indptr, n_columns, mapped if len(mapped) else None)
