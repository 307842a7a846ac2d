"""Files of features and label ids: training and test records of any format."""

from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import held_out
from ovaflow.data.labels import read_label_names
from ovaflow.data.readers import npz
from ovaflow.data.readers.sparse_text import read_svmlight, read_xmc_text
from ovaflow.sparse.csr import CSR, rows_of


class Records(NamedTuple):
    """Features and labels of some rows of a file."""

    X: CSR
    Y: CSR
    rows: np.ndarray

    def take(self, positions):
        """Some of the records."""
        return Records(rows_of(self.X, positions), rows_of(self.Y, positions), self.rows[positions])


def read_records(source):
    """How features are numbered, as far as the format leaves it open, label names, training and test records."""
    paths, labels_paths = [source.train, source.test], [source.train_labels, source.test_labels]
    if source.test is None:
        del paths[1], labels_paths[1]
    numbering, matrices = _read_files(source.format, paths, labels_paths)
    names = _names_of_ids(source, max(Y.n_columns for _, Y in matrices))
    d = max(X.n_columns for X, _ in matrices)
    parts = [
        Records(X._replace(n_columns=d), Y._replace(n_columns=len(names)), np.arange(X.n_rows)) for X, Y in matrices
    ]
    if source.test is None:
        held = held_out(parts[0].X, source.settings.test_fraction, source.settings.seed)
        if held.all():
            raise InputError("no training instances are left", path=source.train, remedy="name a test file")
        parts = [parts[0].take(np.flatnonzero(rows)) for rows in (~held, held)]
    return numbering, names, *parts


def _read_files(format, paths, labels_paths):
    if format == "svmlight":
        first, matrices = read_svmlight(paths)
        return {"first_feature": first}, matrices
    if format == "npz":
        return {}, [npz.read(*pair) for pair in zip(paths, labels_paths, strict=True)]
    return {}, [read_xmc_text(path) for path in paths]


def _names_of_ids(source, n_labels):
    if source.labels is None:
        return [str(label) for label in range(n_labels)]
    names, _ = read_label_names(source.labels)
    # svmlight does not say how many labels there are
    if len(names) < n_labels or (len(names) > n_labels and source.format != "svmlight"):
        message = f"{len(names)} names for {n_labels} labels"
        raise InputError(message, path=source.labels, remedy="give one line per label, in id order")
    return names
