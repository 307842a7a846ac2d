"""Names of labels that occur in a text, and where."""

from typing import Any, NamedTuple

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.features.blocks import NAMES, parse_phrase
from ovaflow.features.normalize import copy_unit_rows
from ovaflow.sparse.csr import CSR, NO_POSITION, offsets, select_rows
from ovaflow.sparse.jit import strict_callee, strict_kernel

WHOLE_NAME_SHARE = 1 - 1e-6
"""Share of a name above which all of it is in a text, apart from rounding."""

MIN_REPORTED_SHARE = 0.5
"""Share of a name from which an explanation says that most of it is in a text."""

SHARE_DESCRIPTION: dict[str, tuple[Any, str]] = {
    "share": (float, "share of the label's name that is in the text")
}
"""Type and description of the number that a reason about a name has."""


class Overlap(NamedTuple):
    """Overlap of the best name of each candidate with the text: float32 (n, k) each."""

    cosine: np.ndarray
    share: np.ndarray  # of the squares of the name's features, those that the text has
    length: np.ndarray  # number of features of the name
    place: np.ndarray  # token at which all features of the name that the text has have occurred
    spread: np.ndarray  # number of tokens between the first and the last of these
    phrase: np.ndarray  # token at which the words of a name begin, one after the other
    letters: np.ndarray  # length of that name

    @classmethod
    def make_empty(cls, shape: tuple[int, ...]) -> "Overlap":
        """Make the overlap of candidates of a shape (n, k) of which no text has a name."""
        columns = {name: np.zeros(shape, np.float32) for name in cls._fields}
        for name in ("place", "phrase"):
            columns[name][:] = NO_POSITION
        return cls(**columns)

    @property
    def feature_columns(self) -> list[np.ndarray]:
        """Columns of evidence without phrases; the third says that a whole name is in the text."""
        is_whole = self.share > WHOLE_NAME_SHARE
        return [self.cosine, self.share, is_whole, self.length, self.place, self.spread]


class LabelNames(NamedTuple):
    """Features of the names of labels, rows of length 1, label after label."""

    names: CSR
    names_of_labels: np.ndarray  # int64 (l + 1,); label j has the rows from entry j to entry j + 1
    phrases: np.ndarray  # int32 (rows,); feature that is the whole name, -1 where there is none
    letters: np.ndarray  # float32 (rows,); length of that feature

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> "LabelNames":
        """Take the names that are training texts, which come last and have one label each."""
        rows, indptr = find_name_rows(dataset)
        X = select_rows(dataset.train.X, rows)
        names = copy_unit_rows(X._replace(places=None), dataset.n_text_features)
        phrases, letters = _find_phrases(names, dataset)
        return cls(names, indptr, phrases, letters)

    @classmethod
    def without_phrases(cls, names: CSR, names_of_labels: np.ndarray) -> "LabelNames":
        """Take names none of which is a feature as a whole."""
        n = names.n_rows
        return cls(
            names=names._replace(places=None),
            names_of_labels=names_of_labels,
            phrases=np.full(n, -1, np.int32),
            letters=np.zeros(n, np.float32),
        )

    def compare(self, X: CSR, candidates: np.ndarray) -> Overlap:
        """Compare the names of candidates (n, k) with texts.

        Of several names of a label, the one that the text has the largest share of counts.
        """
        overlap = Overlap.make_empty(candidates.shape)
        places = X.places
        if places is None:
            places = np.full(len(X.data), NO_POSITION, np.uint16)
        names = (
            self.names.data,
            self.names.indices,
            self.names.indptr,
            self.names_of_labels,
            self.phrases,
            self.letters,
        )
        values = np.zeros(X.n_columns, np.float32)
        first_places = np.zeros(X.n_columns, np.float32)
        _compare_candidates(
            X.data, X.indices, X.indptr, places, names, values, first_places, candidates, overlap
        )
        return overlap


def find_name_rows(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Find the training instances that are names of labels.

    Returns their rows, label after label, and ``indptr``, int64 (l + 1,): label j has those from
    indptr[j] to indptr[j + 1].
    """
    Y = dataset.train.Y
    n = dataset.n_documents
    labels = Y.indices[Y.indptr[n] :]
    indptr = offsets(np.bincount(labels, minlength=dataset.n_labels))
    return n + np.argsort(labels, kind="stable"), indptr


def _find_phrases(names: CSR, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Find the longest phrase of each name, which is all of it, and its length in letters."""
    lengths = np.zeros(names.n_columns, np.int32)
    if NAMES in dataset.parameters.get("features", ()):
        sizes = [len("".join(parse_phrase(name))) for name in dataset.feature_names]
        lengths[: len(sizes)] = sizes
    phrases = np.full(names.n_rows, -1, np.int32)
    _find_longest(lengths, names.indices, names.indptr, phrases)
    return phrases, np.where(phrases >= 0, lengths[phrases], 0).astype(np.float32)


@strict_kernel
def _find_longest(
    lengths: np.ndarray, indices: np.ndarray, indptr: np.ndarray, phrases: np.ndarray
) -> None:
    """Set phrases (rows,) to the feature of the largest length above 0 (d,) in each row."""
    for name in range(len(phrases)):
        longest = 0
        for k in range(indptr[name], indptr[name + 1]):
            if lengths[indices[k]] > longest:
                longest = lengths[indices[k]]
                phrases[name] = indices[k]


@strict_kernel
def _compare_candidates(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    places: np.ndarray,
    names: tuple[np.ndarray, ...],
    values: np.ndarray,
    first_places: np.ndarray,
    candidates: np.ndarray,
    overlap: Overlap,
) -> None:
    """Fill the overlap of each text, rows of a CSR with places, with its candidates (n, k).

    ``values``, zeros before and after, and ``first_places`` are scratch space (d,): the text as a
    dense vector, and the first token of each of its features.
    """
    for i in range(len(candidates)):
        for k in range(indptr[i], indptr[i + 1]):
            values[indices[k]] = data[k]
            first_places[indices[k]] = places[k]
        for c in range(candidates.shape[1]):
            if candidates[i, c] >= 0:
                _compare_names(names, candidates[i, c], values, first_places, overlap, i, c)
        for k in range(indptr[i], indptr[i + 1]):
            values[indices[k]] = 0


@strict_callee
def _compare_names(
    names: tuple[np.ndarray, ...],
    label: int,
    values: np.ndarray,
    first_places: np.ndarray,
    overlap: Overlap,
    i: int,
    c: int,
) -> None:
    """Fill the overlap of text i and candidate c for the name n of the largest share.

    cosine = <x_i, n>; share = sum of n_f^2 over the features f of x_i.
    """
    data, indices, indptr, names_of_labels, phrases, letters = names
    for name in range(names_of_labels[label], names_of_labels[label + 1]):
        cosine = np.float32(0)
        share = np.float32(0)
        first = np.float32(NO_POSITION)
        last = np.float32(-1)
        for k in range(indptr[name], indptr[name + 1]):
            if values[indices[k]] != 0:
                cosine += values[indices[k]] * data[k]
                share += data[k] * data[k]
                first = min(first, first_places[indices[k]])
                last = max(last, first_places[indices[k]])
        if phrases[name] >= 0 and values[phrases[name]] != 0:
            place = np.float32(first_places[phrases[name]])
            overlap.phrase[i, c] = min(overlap.phrase[i, c], place)
            overlap.letters[i, c] = max(overlap.letters[i, c], letters[name])
        if share > overlap.share[i, c] or name == names_of_labels[label]:
            overlap.cosine[i, c] = cosine
            overlap.share[i, c] = share
            overlap.length[i, c] = indptr[name + 1] - indptr[name]
            if share > 0:
                overlap.place[i, c] = last
                overlap.spread[i, c] = last - first
            else:
                overlap.place[i, c] = NO_POSITION
                overlap.spread[i, c] = 0
