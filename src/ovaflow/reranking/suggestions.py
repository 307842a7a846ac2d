"""Suggestions of other programs for the same texts, and the score and place of each candidate among
them.
"""

import hashlib
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.features.tokens import Numbering
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reading.annif import DOCUMENT_ENDINGS
from ovaflow.reading.suggestions import read_suggestion_rows
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_kernel

NO_SCORE = np.float32(-100)
"""Stands for the score of a candidate that is missing."""


class SuggestionSource(NamedTuple):
    """A program that writes suggestions to a file."""

    name: str
    checksum: str  # of the suggestions that the second stage was fitted to

    @property
    def group(self):
        """What its evidence is called."""
        return f"suggestions of {self.name}"


class Suggestions(NamedTuple):
    """Suggestions of one source for some texts."""

    ids: np.ndarray  # int32 (n, m); the best first, -1 where there are fewer
    scores: np.ndarray  # float32 (n, m)
    known: np.ndarray  # bool (n,); of which texts the source says anything

    @classmethod
    def make_empty(cls, n):
        """What a source suggests that says nothing about n texts."""
        return cls(np.empty((n, 0), np.int32), np.empty((n, 0), np.float32), np.zeros(n, bool))

    def take(self, texts):
        return Suggestions(*(array[texts] for array in self))

    def columns(self, candidates):
        """Score and rank of each candidate (n, k): float32 (n, k, 2)."""
        rows = np.empty((*candidates.shape, 2), np.float32)
        rows[:] = NO_SCORE, N_CANDIDATES
        _find(self.ids, self.scores, candidates, rows)
        return rows


def find_covered_texts(suggestions, n):
    """Texts, of n, of which all sources say something: bool (n,)."""
    return np.all([np.ones(n, bool), *(each.known for each in suggestions)], axis=0)


@strict_kernel
def _find(ids, scores, candidates, rows) -> None:
    """rows_ic = score and place p of candidate c of text i among ids_ip, p ascending."""
    for i in range(len(candidates)):
        for c in range(candidates.shape[1]):
            for p in range(ids.shape[1]):
                if candidates[i, c] >= 0 and ids[i, p] == candidates[i, c]:
                    rows[i, c, 0] = scores[i, p]
                    rows[i, c, 1] = p
                    break


@dataclass(frozen=True)
class SuggestionFile:
    """Suggestions for texts by their ids."""

    path: Path
    texts: dict  # number of each text
    indptr: np.ndarray  # int64 (n + 1,)
    labels: np.ndarray  # int32; those of each text by falling score, and -1 at the end
    scores: np.ndarray  # float32
    unknown: int  # suggestions of labels that the model lacks
    checksum: str

    @property
    def amount(self):
        """All suggestions of the file."""
        return int(self.indptr[-1]) + self.unknown

    @property
    def n_texts(self):
        return len(self.indptr) - 1

    def count_common_texts(self, ids):
        """Number of its texts that are among these ids."""
        return len({self.texts[text] for text in ids if text in self.texts})

    def find_suggestions(self, ids):
        """Its suggestions for texts with these ids."""
        rows = np.array([self.texts.get(text, -1) for text in ids], np.int64)
        known = rows >= 0
        starts = self.indptr[rows]
        ends = self.indptr[np.minimum(rows + 1, len(self.indptr) - 1)]
        numbers = starts[:, None] + np.arange(N_CANDIDATES)
        numbers[(numbers >= ends[:, None]) | ~known[:, None]] = -1
        return Suggestions(self.labels[numbers], self.scores[numbers], known)

    def require_common_texts(self, suggestions, ids, remedy) -> None:
        """Refuse a file without any suggestion for the texts with these ids."""
        if not suggestions.known.any():
            first = next(iter(self.texts), "")
            examples = f"such as {first!r}, is the id of a text, such as {ids[0]!r}"
            message = f"none of its {self.n_texts:,} ids, {examples}"
            raise InputError(message, path=self.path, remedy=remedy)


def read_suggestions(path, numbers):
    """Suggestions of a file or a folder; ``numbers`` are labels by URI and by name."""
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
    rows, labels, scores = (np.array(each) for each in (rows, labels, scores))
    order = np.lexsort((-scores, rows))
    order = order[labels[order] != NO_LABEL]
    indptr = offsets(np.bincount(rows[order], minlength=len(texts)))
    labels_of_texts = np.append(labels[order], NO_LABEL)
    scores_of_texts = np.append(scores[order], NO_SCORE)
    digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=16)
    for values in (indptr, labels_of_texts, scores_of_texts):
        digest.update(values)
    ids = dict(texts)
    if path.is_dir():
        # documents have names with an ending
        ids |= {text + ending: row for text, row in texts.items() for ending in DOCUMENT_ENDINGS}
    return SuggestionFile(
        path,
        ids,
        indptr,
        labels_of_texts,
        scores_of_texts,
        unknown=len(rows) - len(order),
        checksum=digest.hexdigest(),
    )
