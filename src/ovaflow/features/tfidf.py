"""Texts to features: counts of terms, and their tf-idf weights.

A term has the weight log(1 + tf) log(N / df) in a text, or tf log(N / df) when not sublinear: tf is
its count in the text, df the number of training texts it occurs in, N their number.
"""

import io
import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ovaflow.console.errors import InputError, StrPath
from ovaflow.features.blocks import (
    NAMES,
    PAIRS,
    PHRASE_PREFIX,
    WORDS,
    format_pair,
    has_weak_features,
    is_known_word,
    make_feature_namer,
    parse_phrase,
)
from ovaflow.features.columns import COLUMNS_KEY as COLUMNS
from ovaflow.features.columns import ColumnFeatures, count_column_features
from ovaflow.features.normalize import make_model_features
from ovaflow.features.phrases import Phrases
from ovaflow.features.tokens import (
    PLAIN,
    REMEMBERED_WORDS,
    TOKEN_PATTERNS,
    Tokens,
    map_words,
    tokenize_in_batches,
)
from ovaflow.features.word_table import WordList
from ovaflow.sparse.csr import CSR, NO_POSITION, offsets
from ovaflow.sparse.jit import strict_callee, strict_kernel
from ovaflow.storage.arrays import Strings

_LARGEST_COUNT = 1 << 24
"""Largest count: float32 holds all integers exactly up to here."""
_BATCH_ENTRIES = 1 << 20
"""Entries that are checked together."""
RECORDED_PARAMETERS = (
    "features",
    "words",
    "left_out",
    "column_weights",
    "sublinear",
    "normalize",
    "bias",
)
"""Parameters of a dataset or model from which its transform is rebuilt; names and idf of features
are stored separately.
"""


class Features(NamedTuple):
    """Features of texts, and the lengths of their rows before these were scaled, if they are."""

    X: CSR
    norms: np.ndarray | None


class NamedFeatures(NamedTuple):
    """Names of features with their idf, float32."""

    names: Sequence[str]
    idf: np.ndarray


class WordTerms(NamedTuple):
    """Columns of the terms of words.

    Attributes
    ----------
    starts : ndarray of int64, shape (n + 1,)
        Word v has the columns from starts[v] to starts[v + 1].
    columns : ndarray of int32
        The columns.
    stems : tuple
        Stems in names of labels that each word matches, as :meth:`Phrases.find_stems` gives them;
        empty without such features.
    """

    starts: np.ndarray
    columns: np.ndarray
    stems: tuple


class Sequences(NamedTuple):
    """Pairs and phrases in texts.

    Attributes
    ----------
    positions : ndarray of int64
        Position of the first token of each.
    columns : ndarray of int32
        Column of the feature of each.
    lengths : ndarray of int64
        Number of tokens of each.
    """

    positions: np.ndarray
    columns: np.ndarray
    lengths: np.ndarray

    def sort(self, n_tokens: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns sorted by position: token k has columns[starts[k] : starts[k + 1]].

        Returns
        -------
        starts : ndarray of int64, shape (n_tokens + 1,)
        columns : ndarray of int32
        """
        counts = np.bincount(self.positions, minlength=n_tokens)
        order = np.argsort(self.positions, kind="stable")
        return offsets(counts), self.columns[order]


@dataclass(frozen=True)
class TfIdf:
    """Transform of texts to tf-idf features.

    Attributes
    ----------
    feature_names : sequence of str
        Names of the features of texts, of each block by falling document frequency, without the
        bias feature.
    idf : ndarray of float32, shape (d,)
        Inverse document frequency of each.
    sublinear : bool
        Whether log(1 + tf) is used instead of tf.
    normalize : bool
        Whether rows are scaled to length 1.
    bias : float
        Value of the last feature, 0 for none.
    features : tuple of str
        Blocks of features.
    words : str
        Kind of words.
    left_out : tuple of str
        Stop words.
    column_weights : tuple of float
        Weight of a token in each of a text's fields.
    unscaled : bool
        Whether rows are returned as they were before they were scaled to length 1.
    columns : ColumnFeatures or None
        Features of columns, which follow those of texts.
    """

    feature_names: Sequence[str]
    idf: np.ndarray
    sublinear: bool
    normalize: bool
    bias: float
    features: tuple = (WORDS,)
    words: str = PLAIN
    left_out: tuple = ()
    column_weights: tuple = (1.0,)
    unscaled: bool = False
    columns: ColumnFeatures | None = None

    @classmethod
    def from_parameters(
        cls,
        parameters: Mapping[str, Any],
        feature_names: Sequence[str],
        idf: np.ndarray | None,
    ) -> "TfIdf":
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
        # a slice of names in a file would read them all
        names = feature_names if n == len(feature_names) else feature_names[:n]
        return cls(
            names, np.asarray(idf[:n], np.float32), **recorded, unscaled=unscaled, columns=columns
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters for :meth:`from_parameters`, apart from names and idf."""
        recorded = {name: getattr(self, name) for name in RECORDED_PARAMETERS}
        if self.words == PLAIN:
            # as in files from before there were others
            del recorded["words"]
        if self.columns is not None:
            recorded[COLUMNS] = self.columns.parameters
        token_pattern = TOKEN_PATTERNS[self.words]
        return recorded | {"token_pattern": token_pattern, "normal_form": "NFKC, case-folded"}

    def transform(self, texts: Iterable[str], *, quiet: bool = False) -> CSR:
        """Compute features of texts: shape (n, n_columns)."""
        return self.transform_with_norms(texts, quiet=quiet).X

    def transform_with_norms(self, texts: Iterable[str], *, quiet: bool = False) -> Features:
        """Compute :class:`Features` of texts, which are read once in batches."""
        batches = tokenize_in_batches(
            texts, frozenset(self.left_out), word_kind=self.words, quiet=quiet
        )
        return self.stack(self.transform_tokens(tokens) for tokens in batches)

    def stack(self, parts: Iterable[Features], folder: StrPath | None = None) -> Features:
        """Stack features of parts one after the other; with a folder they are mapped from there."""
        norms = []

        def blocks() -> Iterator[CSR]:
            for part in parts:
                norms.append(part.norms)
                yield part.X

        X = stack_blocks(blocks(), self.n_columns, folder)
        if not self.normalize:
            return Features(X, None)
        return Features(X, np.concatenate([np.empty(0), *norms]))

    @property
    def n_columns(self) -> int:
        """Number of all features, with that of the bias."""
        return len(self.all_features.names) + (self.bias != 0)

    @property
    def all_features(self) -> NamedFeatures:
        """Names and idf of all features, those of columns last; their idf is 1."""
        if self.columns is None:
            return NamedFeatures(self.feature_names, self.idf)
        names = self.columns.features
        idf = np.append(self.idf, np.ones(len(names), np.float32))
        return NamedFeatures([*self.feature_names, *names], idf)

    def transform_tokens(
        self,
        tokens: Tokens,
        terms: WordTerms | None = None,
        beside: Sequence[tuple] | None = None,
        sequences: Sequences | None = None,
    ) -> Features:
        """Compute features of tokenized texts.

        Parameters
        ----------
        tokens : Tokens
            Tokens of n texts.
        terms : WordTerms, optional
            Terms of their words, where :meth:`find_terms` has found them before.
        beside : sequence of tuples, optional
            Values of each record in the columns, see :meth:`ColumnFeatures.transform`.
        sequences : Sequences, optional
            Their pairs and phrases, where :meth:`find_sequences` has found them before.

        Returns
        -------
        features : Features
            Matrix (n, n_columns) and lengths of its rows.
        """
        if terms is None:
            terms = self.find_terms(tokens.words)
        if sequences is None:
            sequences = self.find_sequences(tokens, terms)
        matrix = self._count_terms(tokens, terms, sequences)
        apply_tfidf(matrix, self.idf, sublinear=self.sublinear)
        further = None
        if self.columns is not None:
            further = self.columns.transform(beside, matrix.n_rows)
        X, norms = make_model_features(
            matrix, self.bias, further, normalize=self.normalize, unscaled=self.unscaled
        )
        return Features(X, norms)

    def find_terms(self, words: WordList | Sequence[str | None]) -> WordTerms:
        """Find the terms of some words."""
        stems: tuple = ()
        if NAMES in self.features:
            phrases, _ = self._phrases
            stems = phrases.find_stems(words)
        starts, columns = map_words(words, self._find_word_columns)
        return WordTerms(starts, columns, stems)

    def find_known_tokens(
        self, tokens: Tokens, terms: WordTerms, sequences: Sequences
    ) -> np.ndarray:
        """Find the tokens that are known by a feature of their word, a pair or a name of a label.

        Parameters
        ----------
        tokens : Tokens
            Tokens of texts.
        terms : WordTerms
            Terms of their words.
        sequences : Sequences
            Their pairs and phrases.

        Returns
        -------
        is_known : ndarray of bool
            Whether each token is known.
        """
        is_known = self.find_known_words(tokens.words, terms)[tokens.ids]
        _mark_sequences(sequences.positions, sequences.lengths, is_known)
        return is_known

    def find_known_words(self, words: Sequence[str], terms: WordTerms) -> np.ndarray:
        """Find the words that are known by a feature of their own: bool (n,).

        ``terms`` are those of the words.
        """
        is_known = np.diff(terms.starts) > 0
        if has_weak_features(self.features):
            for number in np.flatnonzero(is_known).tolist():
                is_known[number] = self.knows_word(words[number])
        return is_known

    @cached_property
    def knows_word(self) -> Callable[[str], bool]:
        """Function that tells whether a word is known by its own features; it remembers words."""
        name_features = make_feature_namer(self.features)
        find_columns = self._find_columns

        @lru_cache(REMEMBERED_WORDS)
        def is_known(word: str) -> bool:
            names = name_features(word)
            return is_known_word(word, names, [column >= 0 for column in find_columns(names)])

        return is_known

    @cached_property
    def _find_word_columns(self) -> Callable[[str], array]:
        """Function that gives the columns of a word's terms.

        It remembers words, since most words of a text occur in the next texts, too.
        """
        name_features = make_feature_namer(self.features)
        find_columns = self._find_columns

        @lru_cache(REMEMBERED_WORDS)
        def find_word_columns(word: str) -> array:
            columns = find_columns(name_features(word))
            return array("i", [column for column in columns if column >= 0])

        return find_word_columns

    def __getstate__(self) -> dict[str, Any]:
        # without cached values
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _find_columns(self) -> Callable[[list[str]], list[int]]:
        """Function that gives the columns of features by their names, -1 for unknown names."""
        if isinstance(self.feature_names, Strings):
            return self.feature_names.numbers.find
        columns = {name: column for column, name in enumerate(self.feature_names)}
        return lambda names: [columns.get(name, -1) for name in names]

    def _count_terms(self, tokens: Tokens, terms: WordTerms, sequences: Sequences) -> CSR:
        """Count the occurrences of each term in each text, weighted by the fields."""
        n = len(tokens.indptr) - 1
        sequence_starts, sequence_columns = sequences.sort(len(tokens.ids))
        n_word_terms = int(np.diff(terms.starts)[tokens.ids].sum())
        capacity = n_word_terms + len(sequence_columns)
        keys = np.empty(capacity, np.int64)
        indptr = np.zeros(n + 1, np.int64)
        data = np.empty(capacity, np.float32)
        indices = np.empty(capacity, np.int32)
        places = np.empty(capacity, np.uint16)
        _count(
            tokens.ids,
            tokens.fields,
            sequence_starts,
            sequence_columns,
            tokens.indptr,
            terms.starts,
            terms.columns,
            np.array(self.column_weights, np.float32),
            keys,
            data,
            indices,
            places,
            indptr,
        )
        size = indptr[-1]
        return CSR(data[:size], indices[:size], indptr, len(self.feature_names), places[:size])

    def find_sequences(self, tokens: Tokens, terms: WordTerms) -> Sequences:
        """Find the pairs and phrases that are features; ``terms`` are those of the words."""
        positions = [np.empty(0, np.int64)]
        columns = [np.empty(0, np.int32)]
        lengths = [np.empty(0, np.int64)]
        if PAIRS in self.features:
            pair_positions, keys = find_neighbours(tokens)
            positions.append(pair_positions)
            columns.append(self._find_pair_columns(tokens, keys))
            lengths.append(np.full(len(pair_positions), 2))
        if NAMES in self.features:
            phrases, phrase_columns = self._phrases
            phrase_positions, numbers = phrases.find(tokens, terms.stems)
            positions.append(phrase_positions)
            columns.append(phrase_columns[numbers])
            lengths.append(phrases.count_words(numbers))
        found = Sequences(*(np.concatenate(parts) for parts in (positions, columns, lengths)))
        is_feature = found.columns >= 0
        return Sequences(*(values[is_feature] for values in found))

    @cached_property
    def _phrases(self) -> tuple[Phrases, np.ndarray]:
        """The names of labels that are features, and their columns."""
        names = self.feature_names
        candidates: Iterable[int] = range(len(names))
        if isinstance(names, Strings):
            candidates = names.beginning_with(PHRASE_PREFIX)
        columns = []
        phrases = []
        for column in candidates:
            words = parse_phrase(names[column])
            if words:
                columns.append(column)
                phrases.append(words)
        return Phrases(phrases), np.array(columns, np.int32)

    def find_phrases(self, words: list[str]) -> Iterator[tuple[int, int, int]]:
        """Find names of labels in a text of these words.

        Yields
        ------
        column, first, last : int
            Column of the feature, and numbers of its first and last word.
        """
        phrases, columns = self._phrases
        tokens = Tokens(
            words=words,
            ids=np.arange(len(words), dtype=np.int32),
            indptr=np.array([0, len(words)]),
            fields=np.zeros(len(words), np.uint8),
        )
        positions, numbers = phrases.find(tokens, phrases.find_stems(words))
        for first, column in zip(positions.tolist(), columns[numbers].tolist(), strict=True):
            length = len(parse_phrase(self.feature_names[column]))
            yield column, first, first + length - 1

    def _find_pair_columns(self, tokens: Tokens, keys: np.ndarray) -> np.ndarray:
        """Find the columns of pairs of neighbours by their keys, -1 for one that is no feature."""
        distinct, pair_of = np.unique(keys, return_inverse=True)
        words = list(tokens.words)
        firsts, seconds = np.divmod(distinct, max(len(words), 1))
        names = []
        for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True):
            names.append(format_pair(words[first], words[second]))
        columns = self._find_columns(names)
        return np.array(columns, np.int32)[pair_of]


def find_neighbours(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Find the tokens that are followed by another one in the same field of the same text.

    Returns
    -------
    positions : ndarray of int64
        Positions of these tokens.
    keys : ndarray of int64
        Key v V + w of each pair of words v and w, where V is the number of words.
    """
    before = np.ones(len(tokens.ids), bool)
    ends = tokens.indptr[1:][np.diff(tokens.indptr) > 0]
    before[ends - 1] = False
    before[:-1] &= tokens.fields[1:] == tokens.fields[:-1]
    positions = np.flatnonzero(before)
    firsts = tokens.ids[positions].astype(np.int64)
    seconds = tokens.ids[positions + 1]
    return positions, firsts * len(tokens.words) + seconds


@strict_kernel
def _mark_sequences(positions: np.ndarray, lengths: np.ndarray, is_known: np.ndarray) -> None:
    """Mark the tokens of pairs and phrases.

    positions, lengths: int64 (n,), first tokens and numbers of tokens; is_known: bool (n_tokens,).
    """
    for i in range(len(positions)):
        is_known[positions[i] : positions[i] + lengths[i]] = True


@strict_callee
def _sort(keys: np.ndarray) -> None:
    """Sort by Shell's method, as fast for texts as NumPy's, which takes 1.5 s to compile."""
    n = len(keys)
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, n):
            key = keys[k]
            place = k
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap //= 3


@strict_kernel
def _count(
    ids: np.ndarray,
    fields: np.ndarray,
    first: np.ndarray,
    later: np.ndarray,
    indptr: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    weights: np.ndarray,
    keys: np.ndarray,
    data: np.ndarray,
    indices: np.ndarray,
    places: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Sum the weights of the fields of a text's tokens that have each term, terms ascending.

    Parameters
    ----------
    ids, fields : ndarrays of int32 and uint8
        Word and field of each token.
    first, later : ndarrays of int64 and int32
        Columns of pairs and phrases: token k begins later[first[k]:first[k + 1]].
    indptr : ndarray of int64, shape (n + 1,)
        Tokens of each text.
    starts, columns : ndarrays of int64 and int32
        Columns of each word: word v has columns[starts[v]:starts[v + 1]].
    weights : ndarray of float32
        Weight of each field; the last one is for all further fields.
    keys : ndarray of int64
        Working memory: column, field and place of each term of a text, packed in one number.
    data, indices, places, ends : ndarrays of float32, int32, uint16 and int64
        Output: the rows of the matrix.
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
        _sort(keys[:end])
        last = -1
        for k in range(end):
            key = keys[k]
            column = (key >> 16) // n_fields
            if column != last:
                indices[filled] = column
                data[filled] = 0
                places[filled] = key & NO_POSITION
                last = column
                filled += 1
            data[filled - 1] += weights[(key >> 16) % n_fields]
        ends[i + 1] = filled


def apply_tfidf(matrix: CSR, idf: np.ndarray, *, sublinear: bool) -> CSR:
    """Turn counts into tf-idf weights, in place."""
    if sublinear:
        np.log1p(matrix.data, out=matrix.data)
    np.multiply(matrix.data, idf[matrix.indices], out=matrix.data)
    return matrix


def compute_idf(document_frequency: np.ndarray, n: int) -> np.ndarray:
    """Compute log(N / df), float32 (d,); 0 for a term that occurs nowhere."""
    return np.log(n / np.where(document_frequency > 0, document_frequency, n)).astype(np.float32)


def apply_tfidf_to_counts(
    matrix: CSR, idf: np.ndarray | None = None, *, sublinear: bool
) -> tuple[CSR, np.ndarray]:
    """Turn features that are counts into tf-idf weights, in place.

    Parameters
    ----------
    matrix : CSR
        Counts, shape (n, d).
    sublinear : bool
        Whether log(1 + tf) is used instead of tf.
    idf : ndarray of float32, shape (d,), optional
        Inverse document frequencies; by default those of this matrix.

    Returns
    -------
    matrix : CSR
        The weights.
    idf : ndarray of float32
        The inverse document frequencies.

    Raises
    ------
    InputError
        If a value is not a count.
    """
    for start in range(0, len(matrix.data), _BATCH_ENTRIES):
        values = matrix.data[start : start + _BATCH_ENTRIES]
        no_count = ~((values >= 0) & (values < _LARGEST_COUNT) & (values == np.rint(values)))
        if no_count.any():
            first = no_count.argmax()
            message = (
                f"feature {matrix.indices[start + first]} has the value {values[first]:g}, "
                "which is not a count, so tf-idf makes no sense"
            )
            remedy = "give counts, as the training set has"
            if idf is None:
                remedy = "set tfidf to false or auto"
            raise InputError(message, remedy=remedy)
    if idf is None:
        document_frequency = np.bincount(
            matrix.indices[matrix.data > 0], minlength=matrix.n_columns
        )
        idf = compute_idf(document_frequency, matrix.n_rows)
    return apply_tfidf(matrix, idf, sublinear=sublinear), idf


class GrowingVector:
    """A vector to which values are appended.

    Parameters
    ----------
    dtype : dtype
        Type of the values.
    folder : path-like, optional
        Folder of a temporary file without a name, from which they are mapped; without one they are
        in memory.
    """

    def __init__(self, dtype: DTypeLike, folder: StrPath | None = None) -> None:
        self._dtype = np.dtype(dtype)
        self._length = 0
        self._file: Any = io.BytesIO()
        if folder is not None:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, arrays that map it outlast it
            weakref.finalize(self, self._file.close)

    def extend(self, values: np.ndarray) -> None:
        """Append values."""
        self._file.write(np.ascontiguousarray(values, self._dtype))
        self._length += len(values)

    def mapped(self) -> np.ndarray:
        """Return all values; their file exists as long as the array."""
        if self._length == 0:
            return np.empty(0, self._dtype)
        if isinstance(self._file, io.BytesIO):
            return np.frombuffer(self._file.getbuffer(), self._dtype)
        self._file.flush()
        # copy-on-write, since kernels are compiled for writable arrays only
        return np.memmap(self._file, self._dtype, "c")


def stack_blocks(blocks: Iterable[CSR], n_columns: int, folder: StrPath | None = None) -> CSR:
    """Stack blocks of rows as one matrix; with a folder it is mapped from a file there."""
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
    all_places = places.mapped()
    return CSR(
        data=data.mapped(),
        indices=indices.mapped(),
        indptr=indptr,
        n_columns=n_columns,
        places=all_places if len(all_places) else None,
    )
