"""Prepare datasets whose instances have features already."""

import itertools

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Split
from ovaflow.data.full_rows import fill_rows, is_dense
from ovaflow.data.normalize import finish
from ovaflow.data.preparation import Prepared, checked_counts
from ovaflow.data.readers.formats import read_feature_splits
from ovaflow.data.readers.label_names import read_label_names
from ovaflow.data.readers.svmlight import read_counted
from ovaflow.data.split import in_test
from ovaflow.data.tfidf import weigh_counts
from ovaflow.sparse.csr import rows_of


def prepare_feature_files(source, settings):
    """Prepare files of features and label ids.

    Features and labels keep their ids; training and test instances get as many
    columns as the larger of the two has. Training instances that are dense are
    stored in full, see :mod:`ovaflow.data.full_rows`.

    Parameters
    ----------
    source : Source
    settings : Settings

    Returns
    -------
    Prepared

    Raises
    ------
    InputError
        If there are no training instances or no labels in them, names do not
        fit the labels, or tf-idf is asked for values that are no counts.
    """
    counting, ((X, Y), (X_test, Y_test)) = _read(source, settings)
    names = _label_names(source, Y.n_columns)
    Y, Y_test = (labels._replace(n_columns=len(names)) for labels in (Y, Y_test))
    weighed, idf = {"tfidf": bool(settings.tfidf)}, None
    if settings.tfidf:
        weighed["sublinear"] = settings.sublinear
        X, idf = weigh_counts(X, settings.sublinear)
        X_test, _ = weigh_counts(X_test, settings.sublinear, idf)
    X, X_test = (finish(matrix, settings.normalize, settings.bias) for matrix in (X, X_test))
    splits = Split(X, Y), Split(X_test, Y_test)
    parameters = {
        "format": source.format,
        **counting,
        **weighed,
        "normalize": settings.normalize,
        "bias": settings.bias,
        "dense": is_dense(X),
        "source": source.provenance() | {"counts": checked_counts(*splits, settings.bias)},
    }
    train = Split(fill_rows(X), Y) if is_dense(X) else splits[0]
    return Prepared(train, splits[1], names, [], parameters, idf)


def _read(source, settings):
    if source.test is not None:
        return _read_files(source.format, [source.train, source.test], [source.train_labels, source.test_labels])
    counting, [(X, Y)] = _read_files(source.format, [source.train], [source.train_labels])
    held_out = _held_out(X, settings.test_fraction, settings.seed)
    if held_out.all():
        raise InputError("no training instances are left", path=source.train, remedy="name a test file")
    return counting, [(rows_of(X, rows), rows_of(Y, rows)) for rows in map(np.flatnonzero, (~held_out, held_out))]


def _read_files(format, paths, labels_paths):
    """How features are numbered, as far as the format leaves it open, and the splits."""
    if format == "svmlight":
        first, splits = read_counted(paths)
        return {"first_feature": first}, splits
    return {}, read_feature_splits(format, paths, labels_paths=labels_paths)


def _held_out(X, fraction, seed):
    ends = X.indptr.tolist()
    contents = (X.indices[start:end].tobytes() + X.data[start:end].tobytes() for start, end in itertools.pairwise(ends))
    return np.fromiter((in_test(content, fraction, seed) for content in contents), bool, X.n_rows)


def _label_names(source, n_labels):
    if source.labels is None:
        return [str(label) for label in range(n_labels)]
    if source.format != "svmlight":
        return read_label_names(source.labels, n_labels)
    names = read_label_names(source.labels)
    return names if len(names) > n_labels else read_label_names(source.labels, n_labels)
