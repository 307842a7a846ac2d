"""Suggestions of other programs for the same texts, with score and rank of candidates."""

import hashlib
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.features.tokens import Numbering
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reading.annif import DOCUMENT_ENDINGS
from ovaflow.reading.suggestions import read_suggestion_rows
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_kernel

NO_SCORE = np.float32(-100)
"""Score of a candidate that has none: finite, so that trees can compare it, and below all others.
"""


class SuggestionSource(NamedTuple):
    """A program that writes suggestions to a file."""

    name: str
    checksum: str  # of the suggestions that the second stage was fitted to

    @property
    def group(self) -> str:
        """Name of the evidence that its suggestions are."""
        return f"suggestions of {self.name}"


class Suggestions(NamedTuple):
    """Suggestions of one source for n texts."""

    ids: np.ndarray  # int32 (n, m); the best first, -1 where there are fewer
    scores: np.ndarray  # float32 (n, m)
    known: np.ndarray  # bool (n,); texts that the source has an entry for, even an empty one

    @classmethod
    def make_empty(cls, n: int) -> "Suggestions":
        """Make the suggestions of a source that has no entry for any of n texts."""
        return cls(
            ids=np.empty((n, 0), np.int32),
            scores=np.empty((n, 0), np.float32),
            known=np.zeros(n, bool),
        )

    def take(self, texts: np.ndarray) -> "Suggestions":
        """Select the suggestions for some of the texts."""
        return Suggestions(self.ids[texts], self.scores[texts], self.known[texts])

    def look_up(self, candidates: np.ndarray) -> np.ndarray:
        """Look up the score and rank of each candidate (n, k): float32 (n, k, 2)."""
        columns = np.empty((*candidates.shape, 2), np.float32)
        columns[:] = NO_SCORE, N_CANDIDATES
        _look_up(self.ids, self.scores, candidates, columns)
        return columns


def find_covered_texts(suggestions: Iterable[Suggestions], n: int) -> np.ndarray:
    """Find the texts, of n, that all sources have an entry for: bool (n,)."""
    covered = np.ones(n, bool)
    for source in suggestions:
        covered &= source.known
    return covered


@strict_kernel
def _look_up(
    ids: np.ndarray, scores: np.ndarray, candidates: np.ndarray, columns: np.ndarray
) -> None:
    """Set columns_ic (n, k, 2) to score and place of candidate c of text i in ids_i (n, m)."""
    for i in range(len(candidates)):
        for c in range(candidates.shape[1]):
            for p in range(ids.shape[1]):
                if candidates[i, c] >= 0 and ids[i, p] == candidates[i, c]:
                    columns[i, c, 0] = scores[i, p]
                    columns[i, c, 1] = p
                    break


@dataclass(frozen=True)
class SuggestionFile:
    """Suggestions for texts by their ids."""

    path: Path
    texts: dict[str, int]  # number of each text by its id
    indptr: np.ndarray  # int64 (n + 1,); of the labels of each text
    labels: np.ndarray  # int32 (m + 1,); of each text by falling score; a last one is -1
    scores: np.ndarray  # float32 (m + 1,)
    unknown: int  # number of suggestions whose label the model lacks
    checksum: str

    @property
    def amount(self) -> int:
        """Number of all suggestions of the file."""
        return int(self.indptr[-1]) + self.unknown

    @property
    def n_texts(self) -> int:
        """Number of texts of the file."""
        return len(self.indptr) - 1

    def count_common_texts(self, ids: Iterable[str]) -> int:
        """Count the texts of the file that have one of these ids."""
        return len({self.texts[text] for text in ids if text in self.texts})

    def find_suggestions(self, ids: Iterable[str]) -> Suggestions:
        """Find the suggestions for texts with these ids."""
        rows = np.array([self.texts.get(text, -1) for text in ids], np.int64)
        known = rows >= 0
        starts = self.indptr[rows]
        ends = self.indptr[np.minimum(rows + 1, len(self.indptr) - 1)]
        positions = starts[:, None] + np.arange(N_CANDIDATES)
        # the last label and score of the file are those of no suggestion
        positions[(positions >= ends[:, None]) | ~known[:, None]] = -1
        return Suggestions(self.labels[positions], self.scores[positions], known)

    def require_common_texts(
        self, suggestions: Suggestions, ids: Sequence[str], remedy: str
    ) -> None:
        """Refuse a file that has no entry for any of the texts with these ids."""
        if not suggestions.known.any():
            first = next(iter(self.texts), "")
            examples = f"such as {first!r}, is the id of a text, such as {ids[0]!r}"
            message = f"none of its {self.n_texts:,} ids, {examples}"
            raise InputError(message, path=self.path, remedy=remedy)


def read_suggestions(path: StrPath, numbers: Mapping[str, int]) -> SuggestionFile:
    """Read the suggestions of a file or a folder.

    Parameters
    ----------
    path : path
        A CSV file, or a folder of Annif's results.
    numbers : mapping
        Numbering of the model's labels, by URI and by name.
    """
    path = Path(path)
    texts = Numbering()
    rows = array("i")
    labels = array("i")
    scores = array("f")
    for text, label, score in read_suggestion_rows(path):
        row = texts[text]
        if label:
            rows.append(row)
            labels.append(numbers.get(label, NO_LABEL))
            scores.append(score)
    return _make_file(path, texts, np.array(rows), np.array(labels), np.array(scores))


def _make_file(
    path: Path, texts: Numbering, rows: np.ndarray, labels: np.ndarray, scores: np.ndarray
) -> SuggestionFile:
    """Sort suggestions by text and falling score, and leave out labels that the model lacks."""
    order = np.lexsort((-scores, rows))
    order = order[labels[order] != NO_LABEL]
    indptr = offsets(np.bincount(rows[order], minlength=len(texts)))
    sorted_labels = np.append(labels[order], NO_LABEL)
    sorted_scores = np.append(scores[order], NO_SCORE)
    return SuggestionFile(
        path=path,
        texts=_number_texts(texts, path),
        indptr=indptr,
        labels=sorted_labels,
        scores=sorted_scores,
        unknown=len(rows) - len(order),
        checksum=_compute_checksum(texts, (indptr, sorted_labels, sorted_scores)),
    )


def _number_texts(texts: Numbering, path: Path) -> dict[str, int]:
    numbers = dict(texts)
    if path.is_dir():
        # Annif names its results like the documents, whose ids have an ending
        for text, row in texts.items():
            for ending in DOCUMENT_ENDINGS:
                numbers[text + ending] = row
    return numbers


def _compute_checksum(texts: Collection[str], arrays: Iterable[np.ndarray]) -> str:
    digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=16)
    for array_of_file in arrays:
        digest.update(array_of_file.data)
    return digest.hexdigest()
