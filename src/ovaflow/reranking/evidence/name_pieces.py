"""Evidence of the names of labels by pieces of their words: inflected words and compounds have some
in common.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ovaflow.features.blocks import make_feature_namer
from ovaflow.features.tfidf import TfIdf, compute_idf
from ovaflow.features.tokens import tokenize
from ovaflow.features.vocabulary import count_document_frequencies, join_tokens
from ovaflow.reranking.evidence.kind import Evidence, Wording
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
"""Characters of a piece, measured on kirjastonhoitaja and tibkat."""

_NEW_LINE = ord("\n")


class StoredPieces(NamedTuple):
    """What the file of a second stage has of the pieces of names."""

    pieces: np.ndarray  # uint8; one in a line
    idf: np.ndarray
    names: CSR
    names_of_labels: np.ndarray


@dataclass(frozen=True)
class PiecesOfName(Evidence):
    """What the names of a candidate have in common with a text, in pieces of words.

    A text has all pieces that are in its words, whether these are features of the model or not.
    """

    name = "pieces of the name"
    columns = (
        "cosine of pieces",
        "share of pieces",
        "all pieces",
        "number of pieces",
        "place of pieces",
        "spread of pieces",
    )
    optional = True
    words = Wording(
        place=1,
        translations={
            "de": "Teile von Wörtern des Namens stehen im Text",
            "fr": "des parties de mots du nom sont dans le texte",
        },
        numbers=SHARE_DESCRIPTION,
        without="name in the text",
    )

    pieces: StoredPieces
    column_weights: tuple[float, ...] = field(metadata=NOT_STORED)  # of texts of several columns

    @classmethod
    def fit(cls, training):
        """Take the pieces from the names of labels; None where these are no training texts."""
        dataset = training.whole
        if dataset.train.tokens is None or dataset.train.X.n_rows == dataset.n_documents:
            return None
        documents = dataset.documents.train.tokens
        names, names_of_labels = _names(dataset)
        pieces_of = make_feature_namer([PIECE_FEATURES])
        pieces = sorted({piece for word in names.words if word for piece in pieces_of(word)})
        if not pieces:
            return None
        column_weights = _column_weights(dataset.parameters)
        transform = _transform(pieces, np.ones(len(pieces), np.float32), column_weights)
        terms = transform.find_terms(documents.words)
        frequencies = count_document_frequencies(
            documents.ids, documents.indptr, len(pieces), terms.starts, terms.columns
        )
        # one that is in no document is as rare as one that is in a single one
        idf = compute_idf(np.maximum(frequencies, 1), dataset.n_documents)
        features = replace(transform, idf=idf).features_of(names).X
        lines = "\n".join(pieces).encode("utf-8", "surrogatepass")
        stored = StoredPieces(
            np.frombuffer(lines, np.uint8), idf, features._replace(places=None), names_of_labels
        )
        return cls(stored, column_weights)

    def refit(self, training):
        """Return the same evidence: it is taken from all training texts, and knows nothing of their
        labels.
        """
        return self

    @classmethod
    def load(cls, file, model):
        return cls(column_weights=_column_weights(model.transform), **load_fields(file, cls))

    @cached_property
    def transform(self):
        """The tf-idf of pieces."""
        ends = np.flatnonzero(np.append(self.pieces.pieces, _NEW_LINE) == _NEW_LINE)
        lengths = np.diff(ends, prepend=-1) - 1
        names = Strings(self.pieces.pieces[self.pieces.pieces != _NEW_LINE], offsets(lengths))
        return _transform(names, self.pieces.idf, self.column_weights)

    @property
    def names(self):
        return LabelNames.without_phrases(self.pieces.names, self.pieces.names_of_labels)

    @property
    def n_features(self):
        return len(self.pieces.idf)

    def features_of(self, tokens):
        """Pieces of texts, rows of length 1."""
        return self.transform.features_of(tokens).X

    def compute(self, candidates):
        return self.names.overlap(candidates.texts.own[self.name], candidates.ids).feature_columns

    def reasons(self, text):
        """Say whether parts of a name's words are in words of the text, such as a compound or
        another form.
        """
        ids = text.candidates.ids
        shares = self.names.overlap(text.candidates.texts.own[self.name], ids).share[0]
        several = np.diff(self.pieces.names_of_labels)[ids[0]] > 1
        return [_reason(*each) for each in zip(several.tolist(), shares.tolist(), strict=True)]


def _reason(several, share):
    if share < MIN_REPORTED_SHARE:
        return None
    which = "one of its names" if several else "its name"
    return {"text": f"parts of the words of {which} appear in the text", "share": min(share, 1.0)}


def _names(dataset):
    """Tokens of names, label after label, and where those of each label begin; also of names
    without a feature.
    """
    rows, indptr = find_name_rows(dataset)
    amounts = np.diff(indptr)
    unnamed = np.flatnonzero(amounts == 0)
    others = tokenize([dataset.label_names[label] for label in unnamed])
    tokens = join_tokens(dataset.train.tokens.take(rows).drop_unused_words(), others)
    labels = np.concatenate([np.repeat(np.arange(len(amounts)), amounts), unnamed])
    return tokens.take(np.argsort(labels, kind="stable")), offsets(np.maximum(amounts, 1))


def _transform(pieces, idf, column_weights):
    return TfIdf(
        pieces,
        idf,
        sublinear=True,
        normalize=True,
        bias=0,
        features=(PIECE_FEATURES,),
        column_weights=column_weights,
    )


def _column_weights(parameters):
    return tuple(parameters.get("column_weights", (1.0,)))
