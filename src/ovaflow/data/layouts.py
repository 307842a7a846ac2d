"""Public datasets come in several layouts; this makes one XMC text file of each, line by line."""

from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError

_DIGITS = 20
"""Of a number of lines."""


def read_header(path):
    """Numbers in the first line of an XMC text file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    tuple of int
        n, d, l for data; n, d for features or labels alone.

    Raises
    ------
    InputError
        If the line is anything else.
    """
    with open(path, "rb") as file:
        words = file.readline(200).split()
    if len(words) not in (2, 3) or not all(word.isdigit() for word in words):
        raise InputError("the first line must say the numbers of instances, features and labels", path=path, line=1)
    return tuple(map(int, words))


def split_instances(data, train_ids, test_ids, train, test):
    """Write the train and test part of a file that holds all instances.

    Instances keep the order that they have in the data file.

    Parameters
    ----------
    data : path-like
        XMC text file, header ``n d l``.
    train_ids, test_ids : path-like
        1-based ids of instances, one row each; of several columns (several
        splits) the first is used.
    train, test : path-like
        Written, with headers of their own.

    Raises
    ------
    InputError
        If an id is no number, out of range, stands twice or on both sides, or
        the data file has fewer or more lines than its header says.
    """
    header = read_header(data)
    if len(header) != 3:
        raise InputError("the header must be n d l", path=data, line=1)
    n, n_features, n_labels = header
    if n > Path(data).stat().st_size:
        raise InputError(f"fewer lines than the {n} of its header", path=data, line=1)
    side = np.zeros(n, np.int8)
    for number, ids in enumerate((train_ids, test_ids), 1):
        chosen = _first_column(ids, n)
        if np.any(side[chosen - 1]):
            raise InputError(
                "some instances are in both train and test", path=ids, remedy="mend this file, or give another one"
            )
        side[chosen - 1] = number
    with ExitStack() as stack:
        source = stack.enter_context(open(data, "rb"))
        targets = [stack.enter_context(open(path, "wb")) for path in (train, test)]
        for number, target in enumerate(targets, 1):
            target.write(b"%d %d %d\n" % (np.count_nonzero(side == number), n_features, n_labels))
        for i, line in enumerate(_rows(source, n, data)):
            if side[i]:
                targets[side[i] - 1].write(line)


def _first_column(path, n):
    ids = []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            word = line.split(maxsplit=1)[:1]
            if not word:
                continue
            if not word[0].isdigit() or len(word[0]) > _DIGITS or not 1 <= int(word[0]) <= n:
                raise InputError(f"not the id of an instance (1 to {n})", path=path, line=number)
            ids.append(int(word[0]))
    if len(set(ids)) != len(ids):
        raise InputError(
            "some ids stand twice in the first column", path=path, remedy="mend this file, or give another one"
        )
    return np.array(ids, np.int64)


def _rows(file, n, path):
    """Lines after the header, each ended by a newline, exactly n of them."""
    file.readline()
    i = -1
    for i, line in enumerate(file):
        if i == n:
            if not line.strip():
                return
            raise InputError(
                f"more lines than the {n} of its header", path=path, remedy="mend this file, or give another one"
            )
        yield line if line.endswith(b"\n") else line + b"\n"
    if i + 1 < n:
        raise InputError(
            f"{i + 1} lines and not the {n} of its header", path=path, remedy="mend this file, or give another one"
        )


def join_features_and_labels(features, labels, output):
    """Write one XMC text file from a file of features and one of labels.

    Parameters
    ----------
    features : path-like
        Header ``n d``, then "feature:value ..." for each instance.
    labels : path-like
        Header ``n l``, then "label:1 ..." for each instance; labels of value 0
        do not count.
    output : path-like

    Raises
    ------
    InputError
        If the files do not have as many rows as their headers say, or not the
        same number.
    """
    n, n_features, *_ = read_header(features)
    n_labelled, n_labels, *_ = read_header(labels)
    if n != n_labelled:
        raise InputError(
            f"{n_labelled} rows, and {n} in {Path(features).name}",
            path=labels,
            remedy="mend this file, or give another one",
        )
    with open(features, "rb") as rows, open(labels, "rb") as label_rows, open(output, "wb") as target:
        target.write(b"%d %d %d\n" % (n, n_features, n_labels))
        pairs = zip(_rows(rows, n, features), _rows(label_rows, n, labels), strict=True)
        for row, label_row in pairs:
            target.write(b",".join(_labels_of(label_row, labels)) + b" " + row.strip() + b"\n")


def _labels_of(row, path):
    pairs = [pair.partition(b":") for pair in row.split()]
    try:
        return [label for label, _, value in pairs if not value or float(value)]
    except ValueError:
        raise InputError(f"expected label:value, found {row[:40]!r}", path=path) from None
