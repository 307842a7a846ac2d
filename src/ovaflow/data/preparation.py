"""What the prepare step is given and what it makes."""

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Split, write_dataset
from ovaflow.data.tfidf import Selection
from ovaflow.sparse.csr import nonzeros_of_rows

COLUMN_FORMATS = ("csv", "jsonl", "parquet")
"""Formats whose text stands in a named column."""


@dataclass(frozen=True)
class Source:
    """The files of a dataset.

    Attributes
    ----------
    format : str
        ``"builtin"`` (no files), or one of the formats of
        :mod:`ovaflow.data.readers.formats`.
    train : path-like or None
    test : path-like or None
        None: a share of the training file is set aside.
    labels : path-like or None
        Names of the labels, in id order. For texts, the labels of the
        instances are then ids instead of names.
    train_labels, test_labels : path-like or None
        Of npz, where they do not lie beside the features.
    text_column, labels_column, label_separator : str
        Of texts, see :func:`ovaflow.data.readers.formats.read_texts`.
    """

    format: str
    train: Path | None = None
    test: Path | None = None
    labels: Path | None = None
    train_labels: Path | None = None
    test_labels: Path | None = None
    text_column: str = "text"
    labels_column: str = "labels"
    label_separator: str = ","

    @property
    def _files(self):
        roles = ("train", "train_labels", "test", "test_labels", "labels")
        given = {role: getattr(self, role) for role in roles}
        return {role: path for role, path in given.items() if path is not None}

    def require_files(self):
        """Refuse what cannot be read several times, or has no end.

        Raises
        ------
        InputError
            If a file is missing, or is a pipe, a device or a folder.
        """
        for path in self._files.values():
            _refuse_no_file(path)

    def provenance(self):
        """Format, and each file's name, size and hash.

        Returns
        -------
        dict
        """
        files = {role: _identity(path) for role, path in self._files.items()}
        columns = {"text_column": self.text_column} if self.format in COLUMN_FORMATS else {}
        return {"format": self.format, "files": files, **columns}


def _refuse_no_file(path):
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise InputError("no such file", path=path, remedy="give the path of a file that is there") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read ({getattr(error, 'strerror', error)})",
            path=path,
            remedy="look at its permissions, or give another file",
        ) from None
    if not stat.S_ISREG(mode):
        raise InputError("is no regular file", path=path, remedy="write its content to a file, which is read twice")


def _identity(path):
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"name": Path(path).name, "bytes": file.tell(), "sha256": digest}


@dataclass(frozen=True)
class Settings:
    """Settings of the prepare step.

    Attributes
    ----------
    tfidf : bool or None
        Weigh by idf; None: texts yes, features no.
    selection : ovaflow.data.tfidf.Selection
        Which tokens of texts become features.
    sublinear : bool
        log(1 + tf) instead of tf, for texts and for features that are weighed.
    normalize : bool
        Rows of length 1.
    bias : float
        Value of the bias feature, 0 for none.
    test_fraction : float
        Share of the test set, where the source has none.
    seed : int
        Of that division.
    """

    tfidf: bool | None = None
    selection: Selection = field(default_factory=Selection)
    sublinear: bool = True
    normalize: bool = True
    bias: float = 1.0
    test_fraction: float = 0.2
    seed: int = 0


class Prepared(NamedTuple):
    """All that the dataset file holds; fields as :func:`ovaflow.data.dataset.write_dataset` takes them."""

    train: Split
    test: Split
    label_names: list
    feature_names: list
    parameters: dict
    idf: np.ndarray | None

    def write(self, path):
        """Write the dataset file.

        Parameters
        ----------
        path : path-like
        """
        write_dataset(path, *self)

    def summary(self):
        """The dataset in one line.

        Returns
        -------
        str
        """
        n, m, nnz = self.train.X.n_rows, self.test.X.n_rows, int(nonzeros_of_rows(self.train.X).sum())
        return (
            f"{n:,} training and {m:,} test instances, {self.train.X.n_columns:,} features, "
            f"{self.train.Y.n_columns:,} labels ({len(self.train.Y.indices) / n:.1f} an instance), "
            f"{nnz:,} nonzeros in training ({nnz / n:.1f} an instance)"
        )

    def remarks(self):
        """What a person should know of the data before believing a figure.

        Returns
        -------
        list of str
        """
        counts = self.parameters["source"]["counts"]
        told = [
            f"{counts[f'{part}_without_{what}']:,} of {counts[f'{part}_instances']:,} {name} instances have {words}"
            for part, name in (("train", "training"), ("test", "test"))
            for what, words in _LACKING.items()
            if counts[f"{part}_without_{what}"]
        ]
        if unknown := counts.get("test_labels_unknown_in_train"):
            total = unknown + len(self.test.Y.indices)
            told.append(
                f"{unknown:,} of {total:,} labels of test instances occur in no training instance: "
                "nobody can learn them, metrics leave them out"
            )
        return told


_LACKING = {
    "features": "no feature: an empty text, or only words that are too rare or too frequent",
    "labels": "no label",
}


def checked_counts(train, test, bias):
    """Figures on instances, for the provenance.

    Parameters
    ----------
    train, test : Split
    bias : float
        Value of the bias feature in X.

    Returns
    -------
    dict of str to int

    Raises
    ------
    InputError
        If nothing can be learned from the training instances.
    """
    if len(train.Y.indices) == 0:
        raise InputError(
            f"none of the {train.Y.n_rows:,} training instances has a label",
            remedy="look at the setting of the labels' column and its separator",
        )
    counts = {}
    for name, split in (("train", train), ("test", test)):
        counts[f"{name}_instances"] = split.X.n_rows
        counts[f"{name}_without_features"] = _rows_with(1 if bias else 0, split.X)
        counts[f"{name}_without_labels"] = _rows_with(0, split.Y)
    return counts


def _rows_with(entries, matrix):
    return int(np.count_nonzero(np.diff(matrix.indptr) == entries))
