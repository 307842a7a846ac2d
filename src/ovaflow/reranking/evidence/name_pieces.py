"""Evidence of the names of labels by pieces of their words, which inflected words and compounds
share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import h5py
import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.features.blocks import make_feature_namer
from ovaflow.features.tfidf import TfIdf, compute_idf
from ovaflow.features.tokens import PLAIN, REMEMBERED_WORDS, Tokens, tokenize
from ovaflow.features.vocabulary import count_document_frequencies, join_tokens
from ovaflow.model.model_file import Model
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining, ExplainedText, Wording
from ovaflow.reranking.evidence.names import (
    MIN_REPORTED_SHARE,
    SHARE_DESCRIPTION,
    LabelNames,
    find_name_rows,
)
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.storage.arrays import Strings
from ovaflow.storage.artifact import NOT_STORED, load_fields

PIECE_FEATURES = "characters=4-5"
"""Features that are pieces of words; the lengths were measured on kirjastonhoitaja and tibkat."""

_NEW_LINE = ord("\n")


class StoredPieces(NamedTuple):
    """Pieces of names, as the file of a second stage has them."""

    pieces: np.ndarray  # uint8; one on each line
    idf: np.ndarray
    names: CSR
    names_of_labels: np.ndarray  # int64 (l + 1,); as LabelNames has them

    @property
    def lines(self) -> Strings:
        """The pieces as strings."""
        ends = np.flatnonzero(np.append(self.pieces, _NEW_LINE) == _NEW_LINE)
        lengths = np.diff(ends, prepend=-1) - 1
        return Strings(self.pieces[self.pieces != _NEW_LINE], offsets(lengths))


@dataclass(frozen=True)
class PiecesOfName(Evidence):
    """Pieces of words that the names of a candidate have in common with a text.

    A text has all pieces that are in its words, whether these are features of the model or not.
    """

    name = "pieces of the name"
    column_names = (
        "cosine of pieces",
        "share of pieces",
        "all pieces",
        "number of pieces",
        "place of pieces",
        "spread of pieces",
    )
    optional = True
    wording = Wording(
        position=1,
        translations={
            "de": "Teile von Wörtern des Namens stehen im Text",
            "fr": "des parties de mots du nom sont dans le texte",
        },
        numbers=SHARE_DESCRIPTION,
        superseded_by="name in the text",
    )

    pieces: StoredPieces
    column_weights: tuple[float, ...] = field(metadata=NOT_STORED)  # of texts of several columns

    @classmethod
    def fit(cls, training: EvidenceTraining) -> Self | None:
        """Take the pieces from names of labels; return None where these are no training texts."""
        dataset = training.full_dataset
        if dataset.train.tokens is None or dataset.train.X.n_rows == dataset.n_documents:
            return None
        documents = dataset.documents.train.tokens
        assert documents is not None
        names, names_of_labels = _collect_names(dataset)
        pieces = _find_pieces(names)
        if not pieces:
            return None
        column_weights = _get_column_weights(dataset.parameters)
        transform = _make_transform(pieces, np.ones(len(pieces), np.float32), column_weights)
        terms = transform.find_terms(documents.words)
        frequencies = count_document_frequencies(
            documents.ids, documents.indptr, len(pieces), terms.starts, terms.columns
        )
        # a piece that is in no document counts as rare as one that is in a single one
        idf = compute_idf(np.maximum(frequencies, 1), dataset.n_documents)
        features = replace(transform, idf=idf).transform_tokens(names).X
        lines = "\n".join(pieces).encode("utf-8", "surrogatepass")
        stored = StoredPieces(
            pieces=np.frombuffer(lines, np.uint8),
            idf=idf,
            names=features._replace(places=None),
            names_of_labels=names_of_labels,
        )
        return cls(stored, column_weights)

    def refit(self, training: EvidenceTraining) -> Self:
        """Return the same evidence: it is taken from all training texts, whatever their labels."""
        return self

    @classmethod
    def load(cls, file: h5py.File, model: Model) -> Self:
        return cls(column_weights=_get_column_weights(model.transform), **load_fields(file, cls))

    @cached_property
    def transform(self) -> TfIdf:
        """The tf-idf of pieces."""
        return _make_transform(self.pieces.lines, self.pieces.idf, self.column_weights)

    @property
    def names(self) -> LabelNames:
        """Names of labels as pieces."""
        return LabelNames.without_phrases(self.pieces.names, self.pieces.names_of_labels)

    @property
    def n_features(self) -> int:
        return len(self.pieces.idf)

    def make_features(self, tokens: Tokens | None) -> CSR:
        """Make the pieces of texts, rows of length 1."""
        assert tokens is not None
        return self.transform.transform_tokens(tokens).X

    def knows_word(self, word: str) -> bool:
        return self._knows_word(word)

    @cached_property
    def _knows_word(self) -> Callable[[str], bool]:
        """Function that tells whether a word is known by its pieces; it remembers words."""

        # a word that is in no name may have a piece in one and the others in further names
        @lru_cache(REMEMBERED_WORDS)
        def knows_word(word: str) -> bool:
            if not self.transform.knows_word(word):
                return False
            return self._are_in_one_name(self.transform.find_terms([word]).columns)

        return knows_word

    def _are_in_one_name(self, pieces: np.ndarray) -> bool:
        """Return whether one name has all of some pieces, given by their columns."""
        names = self.pieces.names
        candidates = self._names_by_piece
        counts = np.diff(candidates.indptr)[pieces]
        rarest = pieces[counts.argmin()]
        asked = set(pieces.tolist())
        start, end = candidates.indptr[rarest : rarest + 2]
        for name in candidates.indices[start:end].tolist():
            if asked.issubset(names.indices[names.indptr[name] : names.indptr[name + 1]].tolist()):
                return True
        return False

    @cached_property
    def _names_by_piece(self) -> Any:
        """The names that have each piece, by columns."""
        return self.pieces.names.to_scipy().tocsc()

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        texts = candidates.texts.own_features[self.name]
        return self.names.compare(texts, candidates.ids).feature_columns

    def give_reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        """Say that parts of a name's words are in words of the text, such as a compound."""
        ids = text.candidates.ids
        texts = text.candidates.texts.own_features[self.name]
        shares = self.names.compare(texts, ids).share[0]
        n_names = np.diff(self.pieces.names_of_labels)[ids[0]]
        reasons = []
        for share, n in zip(shares.tolist(), n_names.tolist(), strict=True):
            reasons.append(_explain(share, is_one_of_several=n > 1))
        return reasons


def _explain(share: float, *, is_one_of_several: bool) -> dict[str, Any] | None:
    if share < MIN_REPORTED_SHARE:
        return None
    which = "one of its names" if is_one_of_several else "its name"
    text = f"parts of the words of {which} appear in the text"
    return {"text": text, "share": min(share, 1.0)}


def _collect_names(dataset: Dataset) -> tuple[Tokens, np.ndarray]:
    """Collect the tokens of names, label after label, also of names without a feature.

    Returns them, and where the names of each label begin, int64 (l + 1,).
    """
    assert dataset.train.tokens is not None
    rows, indptr = find_name_rows(dataset)
    counts = np.diff(indptr)
    unnamed = np.flatnonzero(counts == 0)
    word_kind = dataset.parameters.get("words", PLAIN)
    unnamed_names = [dataset.label_names[label] for label in unnamed.tolist()]
    others = tokenize(unnamed_names, word_kind=word_kind)
    tokens = join_tokens(dataset.train.tokens.take(rows).drop_unused_words(), others)
    labels = np.concatenate([np.repeat(np.arange(len(counts)), counts), unnamed])
    order = np.argsort(labels, kind="stable")
    return tokens.take(order), offsets(np.maximum(counts, 1))


def _find_pieces(names: Tokens) -> list[str]:
    """Find all pieces of the words of names, sorted."""
    pieces_of_word = make_feature_namer([PIECE_FEATURES])
    pieces: set[str] = set()
    for word in names.words:
        if word:
            pieces.update(pieces_of_word(word))
    return sorted(pieces)


def _make_transform(
    pieces: Sequence[str] | Strings, idf: np.ndarray, column_weights: tuple[float, ...]
) -> TfIdf:
    return TfIdf(
        pieces,
        idf,
        sublinear=True,
        normalize=True,
        bias=0,
        features=(PIECE_FEATURES,),
        column_weights=column_weights,
    )


def _get_column_weights(parameters: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(parameters.get("column_weights", (1.0,)))
