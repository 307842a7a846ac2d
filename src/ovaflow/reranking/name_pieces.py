"""Names of labels in texts by pieces of their words: inflected words and compounds have some in common."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ovaflow.features.blocks import names_of_word
from ovaflow.features.tfidf import TfIdf, inverse_document_frequency
from ovaflow.features.tokens import numbered
from ovaflow.features.vocabulary import document_frequencies, joined
from ovaflow.reranking.names import LabelNames, rows_of_names
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.storage.arrays import Strings

BLOCK = "characters=4-5"
"""Characters of a piece, measured on kirjastonhoitaja and tibkat."""


_NEW_LINE = ord("\n")


class StoredPieces(NamedTuple):
    """What the file of a second stage has of the pieces of names."""

    pieces: np.ndarray  # uint8; one in a line
    idf: np.ndarray
    names: CSR
    names_of_labels: np.ndarray


@dataclass(frozen=True)
class NamePieces:
    """The pieces that names of labels have; a text has all that are in its words, whether these are features or not."""

    transform: TfIdf  # whose features they are
    names: LabelNames

    @classmethod
    def of(cls, dataset):
        """Pieces of the names of labels; None where these are no training texts."""
        if dataset.train.tokens is None or dataset.train.X.n_rows == dataset.n_documents:
            return None
        documents, (names, indptr) = dataset.documents.train.tokens, _names(dataset)
        pieces_of = names_of_word([BLOCK])
        pieces = sorted({piece for word in names.words if word for piece in pieces_of(word)})
        transform = _transform(pieces, np.ones(len(pieces), np.float32), dataset.parameters)
        terms = transform.terms_of(documents.words)
        frequencies = document_frequencies(documents.ids, documents.indptr, len(pieces), terms.starts, terms.columns)
        # one that is in no document is as rare as one that is in a single one
        idf = inverse_document_frequency(np.maximum(frequencies, 1), dataset.n_documents)
        transform = replace(transform, idf=idf)
        return cls(transform, LabelNames.alone(transform.features_of(names).X, indptr))

    @classmethod
    def of_stored(cls, stored, parameters):
        """Pieces from the file of a second stage; ``parameters`` of the model's transform."""
        ends = np.flatnonzero(np.append(stored.pieces, _NEW_LINE) == _NEW_LINE)
        lengths = np.diff(ends, prepend=-1) - 1
        pieces = Strings(stored.pieces[stored.pieces != _NEW_LINE], offsets(lengths))
        names = LabelNames.alone(stored.names, stored.names_of_labels)
        return cls(_transform(pieces, stored.idf, parameters), names)

    @property
    def stored(self):
        pieces = "\n".join(self.transform.feature_names).encode("utf-8", "surrogatepass")
        return StoredPieces(np.frombuffer(pieces, np.uint8), self.transform.idf, self.names.features, self.names.indptr)

    @property
    def n_columns(self):
        return self.transform.n_columns

    def of_texts(self, tokens):
        """Pieces of texts, rows of length 1."""
        return self.transform.features_of(tokens).X


def _names(dataset):
    """Tokens of names, label after label, and where those of each label begin; also of names without a feature."""
    rows, indptr = rows_of_names(dataset)
    amounts = np.diff(indptr)
    unnamed = np.flatnonzero(amounts == 0)
    others = numbered([dataset.label_names[label] for label in unnamed])
    tokens = joined(dataset.train.tokens.take(rows).of_used_words(), others)
    labels = np.concatenate([np.repeat(np.arange(len(amounts)), amounts), unnamed])
    return tokens.take(np.argsort(labels, kind="stable")), offsets(np.maximum(amounts, 1))


def _transform(pieces, idf, parameters):
    weights = tuple(parameters.get("column_weights", (1.0,)))
    return TfIdf(pieces, idf, sublinear=True, normalize=True, bias=0, features=(BLOCK,), column_weights=weights)
