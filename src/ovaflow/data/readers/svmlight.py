"""The svmlight and libsvm text format with several labels: ``label,label feature:value  # comment``."""

import codecs

from ovaflow.console.errors import InputError
from ovaflow.data.readers.row_kernels import Bounds
from ovaflow.data.readers.rows import BLOCK, ID_LIMIT, LABEL_LIMIT, parse_rows
from ovaflow.data.readers.streams import open_stream


def read(path, zero_based="auto", block=BLOCK):
    """Read one file, see :func:`read_splits`.

    Parameters
    ----------
    path : path-like
    zero_based : bool or "auto"
    block : int

    Returns
    -------
    X : CSR, shape (n, d)
    Y : CSR, shape (n, l)
    """
    return read_splits([path], zero_based, block)[0]


def read_splits(paths, zero_based="auto", block=BLOCK):
    """Read files that belong together, such as training and test instances.

    Label ids are column numbers of Y. Lines with nothing but a comment are no
    instances; ``qid`` is refused. Features of a row are sorted, and summed
    where one occurs twice; labels that occur twice are merged.

    Parameters
    ----------
    paths : sequence of path-like
        Plain or compressed.
    zero_based : bool or "auto"
        Whether feature ids begin with 0; "auto": they do if any of the files
        has a feature 0 (scikit-learn's rule).
    block : int
        Bytes parsed at a time.

    Returns
    -------
    list of (CSR, CSR)
        X and Y of each file, all with as many columns as the highest ids need.

    Raises
    ------
    InputError
        With the line that does not fit.
    """
    return read_counted(paths, zero_based, block)[1]


def read_counted(paths, zero_based="auto", block=BLOCK):
    """Read files that belong together, and tell from which number on they count features.

    Parameters
    ----------
    paths, zero_based, block
        See :func:`read_splits`.

    Returns
    -------
    first : int
        0 or 1, the feature that became column 0.
    splits : list of (CSR, CSR)
    """
    first = 1 if zero_based is False else 0
    parsed = [_parse(path, Bounds(-1, first, ID_LIMIT, LABEL_LIMIT, True), block) for path in paths]
    if zero_based == "auto":
        first = 0 if min(rows.lowest for rows in parsed) == 0 else 1
    for rows in parsed:
        rows.X.indices[:] -= first
    d = max(0, *(rows.highest - first + 1 for rows in parsed))
    l = max(0, *(int(rows.Y.indices.max(initial=-1)) + 1 for rows in parsed))  # noqa: E741
    return first, [(rows.X._replace(n_columns=d), rows.Y._replace(n_columns=l)) for rows in parsed]


def _parse(path, bounds, block):
    with open_stream(path) as stream:
        if stream.peek(3)[:3] == codecs.BOM_UTF8:
            stream.read(3)
        parsed = parse_rows(stream, path, bounds, 0, block)
    if parsed.X.n_rows == 0:
        raise InputError("has no instances", path=path, remedy="mend this file, or give another one")
    return parsed
