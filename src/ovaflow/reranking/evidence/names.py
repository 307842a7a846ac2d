"""Names of labels that stand in a text, and where."""

from typing import NamedTuple

import numpy as np

from ovaflow.features.blocks import NAMES, parse_phrase
from ovaflow.features.normalize import copy_unit_rows
from ovaflow.sparse.csr import CSR, NO_POSITION, offsets, select_rows
from ovaflow.sparse.jit import strict_kernel

WHOLE_NAME_SHARE = 1 - 1e-6
"""Share of a name above which all of it is in a text, but for rounding."""

MIN_REPORTED_SHARE = 0.5
"""Share of a name from which people are told that most of it is in a text."""

SHARE_DESCRIPTION = {"share": (float, "share of the label's name that is in the text")}
"""What people are told of a name, in numbers."""


class Overlap(NamedTuple):
    """What the best name of each candidate (n, k) has in common with the text, float32."""

    cosine: np.ndarray
    share: np.ndarray  # of the squares of the name's features, those that the text has
    length: np.ndarray  # number of features of the name
    place: np.ndarray  # number of the token at which all that is there of the name has been seen
    spread: np.ndarray  # tokens between the first and the last of these
    phrase: (
        np.ndarray
    )  # number of the token at which the words of a name begin, one after the other
    letters: np.ndarray  # length of that name

    @property
    def feature_columns(self) -> list[np.ndarray]:
        """What the features of names say, without phrases; the third is whether a whole name is
        there.
        """
        return [
            self.cosine,
            self.share,
            self.share > WHOLE_NAME_SHARE,
            self.length,
            self.place,
            self.spread,
        ]


class LabelNames(NamedTuple):
    """Features of the names of labels, rows of length 1, label after label."""

    names: CSR
    names_of_labels: np.ndarray  # int64 (l + 1,); label j has the rows from entry j to entry j + 1
    phrases: np.ndarray  # int32 (rows,); the feature that is the whole name, -1 where none is
    letters: np.ndarray  # float32 (rows,); its length

    @classmethod
    def of(cls, dataset):
        """Names that are training texts, which come last and have one label each."""
        rows, indptr = find_name_rows(dataset)
        X = select_rows(dataset.train.X, rows)
        names = copy_unit_rows(X._replace(places=None), dataset.n_word_features)
        return cls(names, indptr, *_phrases(names, dataset))

    @classmethod
    def without_phrases(cls, names, names_of_labels):
        """Names of which no feature is a whole one."""
        n = names.n_rows
        return cls(
            names._replace(places=None),
            names_of_labels,
            np.full(n, -1, np.int32),
            np.zeros(n, np.float32),
        )

    def overlap(self, X, candidates):
        """:class:`Overlap` of texts and candidates; of several names the one that the text has most
        of.
        """
        overlap = Overlap(*np.zeros((7, *candidates.shape), np.float32))
        overlap.place[:] = NO_POSITION
        overlap.phrase[:] = NO_POSITION
        places = np.full(len(X.data), NO_POSITION, np.uint16) if X.places is None else X.places
        scratch = np.zeros(X.n_columns, np.float32), np.zeros(X.n_columns, np.float32)
        names = *self.names.arrays, self.names_of_labels, self.phrases, self.letters
        _overlap(*X.arrays, places, names, scratch, candidates, overlap)
        return overlap


def find_name_rows(dataset):
    """Training instances that are names, label after label; label j has those from indptr[j] to
    indptr[j + 1].
    """
    Y = dataset.train.Y
    n = dataset.n_documents
    labels = Y.indices[Y.indptr[n] :]
    indptr = offsets(np.bincount(labels, minlength=dataset.n_labels))
    return n + np.argsort(labels, kind="stable"), indptr


def _phrases(names, dataset):
    """The longest phrase of each name, which is all of it."""
    lengths = np.zeros(names.n_columns, np.int32)
    if NAMES in dataset.parameters.get("features", ()):
        sizes = [len("".join(parse_phrase(name))) for name in dataset.feature_names]
        lengths[: len(sizes)] = sizes
    phrases = np.full(names.n_rows, -1, np.int32)
    _longest(lengths, names.indices, names.indptr, phrases)
    return phrases, np.where(phrases >= 0, lengths[phrases], 0).astype(np.float32)


@strict_kernel
def _longest(lengths, indices, indptr, phrases) -> None:
    for name in range(len(phrases)):
        longest = 0
        for k in range(indptr[name], indptr[name + 1]):
            if lengths[indices[k]] > longest:
                longest = lengths[indices[k]]
                phrases[name] = indices[k]


@strict_kernel
def _overlap(data, indices, indptr, places, names, scratch, candidates, overlap) -> None:
    values, firsts = scratch
    for i in range(len(candidates)):
        for k in range(indptr[i], indptr[i + 1]):
            values[indices[k]] = data[k]
            firsts[indices[k]] = places[k]
        for c in range(candidates.shape[1]):
            if candidates[i, c] >= 0:
                _compare(names, candidates[i, c], values, firsts, overlap, i, c)
        for k in range(indptr[i], indptr[i + 1]):
            values[indices[k]] = 0


@strict_kernel
def _compare(names, label, values, firsts, overlap, i, c) -> None:
    """cos_ij = <x_i, n_j>, share_ij = sum of n_jf^2 over the features f of x_i, for the name of the
    largest share.
    """
    data, indices, indptr, names_of, phrases, letters = names
    for name in range(names_of[label], names_of[label + 1]):
        cosine = np.float32(0)
        share = np.float32(0)
        first = np.float32(NO_POSITION)
        last = np.float32(-1)
        for k in range(indptr[name], indptr[name + 1]):
            if values[indices[k]] != 0:
                cosine += values[indices[k]] * data[k]
                share += data[k] * data[k]
                first = min(first, firsts[indices[k]])
                last = max(last, firsts[indices[k]])
        if phrases[name] >= 0 and values[phrases[name]] != 0:
            place = np.float32(firsts[phrases[name]])
            overlap.phrase[i, c] = min(overlap.phrase[i, c], place)
            overlap.letters[i, c] = max(overlap.letters[i, c], letters[name])
        if share > overlap.share[i, c] or name == names_of[label]:
            overlap.cosine[i, c] = cosine
            overlap.share[i, c] = share
            overlap.length[i, c] = indptr[name + 1] - indptr[name]
            overlap.place[i, c], overlap.spread[i, c] = (
                (last, last - first) if share > 0 else (NO_POSITION, 0)
            )
