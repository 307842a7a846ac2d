"""Readers by the name of their format."""

from ovaflow.console.errors import InputError
from ovaflow.data.readers import csv, jsonl, npz, parquet, svmlight, text_tsv, xmc_text
from ovaflow.data.readers.instances import Columns

FEATURE_FORMATS = ("xmc-text", "svmlight", "npz")
"""Formats that hold features and label ids."""

TEXT_FORMATS = {"text-tsv": text_tsv.read, "csv": csv.read, "jsonl": jsonl.read, "parquet": parquet.read}
"""Formats that hold texts and label names (or ids), with their readers."""


def read_features(format, path, zero_based="auto", labels_path=None):
    """Read instances that have features already.

    Parameters
    ----------
    format : str
        One of ``FEATURE_FORMATS``.
    path : path-like
    zero_based : bool or "auto"
        Of svmlight, see :func:`ovaflow.data.readers.svmlight.read_splits`.
    labels_path : path-like, optional
        Of npz, see :func:`ovaflow.data.readers.npz.read`.

    Returns
    -------
    X : CSR, shape (n, d)
    Y : CSR, shape (n, l)
        Ones at the labels of each instance.

    Raises
    ------
    InputError
        Naming file, line and remedy.
    """
    return read_feature_splits(format, [path], zero_based, [labels_path])[0]


def read_feature_splits(format, paths, zero_based="auto", labels_paths=None):
    """Read files that belong together, such as training and test instances.

    Parameters
    ----------
    format : str
        One of ``FEATURE_FORMATS``.
    paths : sequence of path-like
    zero_based : bool or "auto"
        Of svmlight, decided over all files together.
    labels_paths : sequence of path-like or None, optional
        Of npz.

    Returns
    -------
    list of (CSR, CSR)
        X and Y of each file, all with the same numbers of columns.

    Raises
    ------
    InputError
        Naming file, line and remedy.
    """
    if format == "svmlight":
        return svmlight.read_splits(paths, zero_based)
    if format == "npz":
        return _widened([npz.read(*pair) for pair in zip(paths, labels_paths or [None] * len(paths), strict=True)])
    if format == "xmc-text":
        return _widened([xmc_text.read(path) for path in paths])
    raise _unknown(format, FEATURE_FORMATS)


def read_texts(format, path, text_column="text", labels_column="labels", label_separator=",", n_labels=None):
    """Read texts one by one, in bounded memory.

    Parameters
    ----------
    format : str
        One of ``TEXT_FORMATS``.
    path : path-like
    text_column : str
        Name of the column (field) that holds the text; several, separated by
        commas, are joined by a space. Without meaning for text-tsv.
    labels_column : str
        Without meaning for text-tsv.
    label_separator : str
        Between labels, where they are no list.
    n_labels : int, optional
        Labels must be ids below it; by default they are names.

    Returns
    -------
    iterator of TextInstance

    Raises
    ------
    InputError
        Naming file, line and remedy; what is wrong inside of the file shows up
        while iterating.
    """
    if format not in TEXT_FORMATS:
        raise _unknown(format, TEXT_FORMATS)
    return TEXT_FORMATS[format](path, Columns.of(text_column, labels_column, label_separator, n_labels))


def _widened(pairs):
    d = max(X.n_columns for X, _ in pairs)
    l = max(Y.n_columns for _, Y in pairs)  # noqa: E741
    return [(X._replace(n_columns=d), Y._replace(n_columns=l)) for X, Y in pairs]


def _unknown(format, known):
    return InputError(f"unknown format {format!r}", remedy=f"use one of {', '.join(known)}")
