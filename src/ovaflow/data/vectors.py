"""Records whose features are a vector in one of their columns."""

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.data.corpus import Corpus
from ovaflow.data.dataset import Split
from ovaflow.data.label_lists import LabelLists
from ovaflow.data.labels import labels_of
from ovaflow.data.splitting import set_rows_aside
from ovaflow.sparse.csr import from_scipy


def read_vectors(source):
    """Label names, train and test :class:`Split`, and counts of their division."""
    source.require_files()
    counts = {}
    labels = labels_of(source)
    parts = [_read(source, labels, role) for role in ("train", "test") if source.files.get(role)]
    if len(parts) == 1:
        [(X, lists, records)] = parts
        train, test, counts = set_rows_aside(from_scipy(X), lists.given(), source.settings)
        sides = (np.flatnonzero(rows) for rows in (train, test))
        parts = [(X[rows], lists.take(rows), [records[row] for row in rows]) for rows in sides]
    (X, train, records), (X_test, test, test_records) = parts
    if X.shape[1] != X_test.shape[1]:
        message = f"vectors of {X_test.shape[1]} numbers, those of training have {X.shape[1]}"
        raise InputError(message, path=source.test, remedy="give vectors of the same model")
    names, Y, Y_test, _ = labels.matrices(train, test)
    train, test = Split(from_scipy(X), Y, records=records), Split(from_scipy(X_test), Y_test, records=test_records)
    return names, train, test, counts


def _read(source, labels, role):
    lists, vectors, records = LabelLists(labels.number_of), [], []
    for instance in Corpus(source, labels, role):
        vectors.append(instance.text)
        lists.append(instance.labels)
        records.append(instance.name)
    if not vectors:
        raise InputError("no records", path=source.train_name, remedy="give a file with records")
    return stacked(vectors, source.train_name), lists, records


def stacked(vectors, path):
    """Vectors as the rows of a matrix."""
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1:
        message = f"vectors have {min(lengths)} to {max(lengths)} numbers"
        raise InputError(message, path=path, remedy="give vectors of one length")
    return scipy.sparse.csr_array(np.stack(vectors))
