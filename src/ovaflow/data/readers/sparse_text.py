"""Text formats of sparse features: that of the Extreme Classification Repository, and svmlight with several labels.

The first has a header ``n d l``, then one instance per line: ``label,label feature:value feature:value``, ids from 0
(http://manikvarma.org/downloads/XC/XMLRepository.html); the second has no header, and comments.
"""

import codecs

from ovaflow.console.errors import InputError
from ovaflow.data.readers.kernels import Bounds
from ovaflow.data.readers.rows import BLOCK, ID_LIMIT, LABEL_LIMIT, parse_rows
from ovaflow.data.readers.streams import open_stream

_LONGEST_HEADER = 200
_LIMITS = 10**15, ID_LIMIT, LABEL_LIMIT


def read_xmc_text(path, block=BLOCK):
    """X (n, d) and Y (n, l) of a file, plain or compressed.

    An instance may have no labels (its line then begins with white space or with a feature), no features, or neither.
    """
    with open_stream(path) as stream:
        n, d, l = read_header(stream, path)  # noqa: E741
        parsed = parse_rows(stream, path, Bounds(n, 0, d, l, False), 1, block)
    if parsed.X.n_rows != n:
        raise InputError(
            f"the header promises {n} instances, the file has {parsed.X.n_rows}",
            path=path,
            line=parsed.lines,
            remedy="the file is cut off or its header is wrong: download it again or correct line 1",
        )
    return parsed.X, parsed.Y


def read_header(stream, path):
    """Numbers of instances, features and labels in the first line."""
    line = stream.readline(_LONGEST_HEADER).removeprefix(codecs.BOM_UTF8)
    counts = [int(field) for field in line.split() if field.isdigit()]
    if len(counts) != 3 or len(line.split()) != 3 or len(line) == _LONGEST_HEADER:
        raise InputError(
            "expected a header 'instances features labels', such as '4880 1836 159'",
            path=path,
            line=1,
            remedy="a file without a header can be read with format svmlight",
        )
    for count, limit, name in zip(counts, _LIMITS, ("instances", "features", "labels"), strict=True):
        if count > limit:
            message = f"the header promises too many {name} (at most {limit:,})"
            raise InputError(message, path=path, line=1, remedy="correct the header")
    return counts


def read_svmlight(paths, zero_based="auto", block=BLOCK):
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
