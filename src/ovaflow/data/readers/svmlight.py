"""The svmlight and libsvm text format with several labels: ``label,label feature:value  # comment``."""

import codecs

from ovaflow.console.errors import InputError
from ovaflow.data.readers.row_kernels import Bounds
from ovaflow.data.readers.rows import BLOCK, ID_LIMIT, LABEL_LIMIT, parse_rows
from ovaflow.data.readers.streams import open_stream


def read_splits(paths, zero_based="auto", block=BLOCK):
    """The number of the first feature, 0 or 1, and (X, Y) of each of the files, with as many columns as all need.

    Label ids are column numbers of Y. Lines with nothing but a comment are not instances; ``qid`` is refused. Feature
    ids begin with 0 if ``zero_based``; "auto": if any of the files has a feature 0 (scikit-learn's rule).
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
        raise InputError("has no instances", path=path, remedy="correct this file, or give another one")
    return parsed
