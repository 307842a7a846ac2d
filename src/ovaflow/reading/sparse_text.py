"""Sparse features as text: the Extreme Classification Repository's format, and svmlight's.

The first has a header ``n d l``, then one instance per line: ``label,label feature:value
feature:value``, ids from 0; the second has no header, and comments.
"""

import codecs
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.console.progress import Progress
from ovaflow.reading import number_kernels as kernels
from ovaflow.reading.number_kernels import (
    FEATURES,
    LABELS,
    LINES,
    ROWS,
    UNDECIDED_NUMBERS,
    Bounds,
    RowBuffers,
)
from ovaflow.reading.streams import RecordFile, is_compressed, open_stream
from ovaflow.sparse.csr import CSR, from_scipy

BLOCK_BYTES = 1 << 20
"""Bytes read at a time."""

ID_LIMIT = (1 << 31) - 1
"""Ids are stored as int32."""

LABEL_LIMIT = 10**7
"""Labels of a dataset: each has a name in memory. The largest public one has 2.8 million."""

_LONGEST_HEADER_BYTES = 200
_HEADER_LIMITS = {"instances": 10**15, "features": ID_LIMIT, "labels": LABEL_LIMIT}
_MEGABYTE = 10**6
_MESSAGES = {
    kernels.BAD_NUMBER: "{token} has no finite number after the colon",
    kernels.OVERFLOW: "the value of {token} is too large for 32 bits",
    kernels.BAD_LABEL: "expected label ids separated by commas, found {token}",
    kernels.BAD_FEATURE: "expected feature:value, found {token}",
    kernels.LABEL_RANGE: "label id out of range in {token}, ids run from 0 to {last_label}",
    kernels.FEATURE_RANGE: "feature id out of range in {token}, "
    "ids run from {first_feature} to {last_feature}",
    kernels.TOO_MANY_ROWS: "more instances than the {n} promised by the header",
}


def read_xmc_text(path: StrPath, block: int = BLOCK_BYTES) -> tuple[CSR, CSR]:
    """Read X (n, d) and Y (n, l) of a file."""
    with open_stream(path) as stream:
        n, d, l = read_header(stream, path)  # noqa: E741
        parsed = _parse_all(stream, path, _make_xmc_bounds(n, d, l), 1, block)
    check_count(n, parsed.X.n_rows, path, parsed.lines)
    return parsed.X, parsed.Y


def _make_xmc_bounds(rows: int, n_features: int, end_label: int) -> Bounds:
    """Make the bounds of the repository's format: ids from 0, and every line is an instance."""
    return Bounds(
        rows=rows, first_feature=0, end_feature=n_features, end_label=end_label, comments=False
    )


def _make_svmlight_bounds(first_feature: int, end_feature: int, end_label: int) -> Bounds:
    """Make the bounds of svmlight's format: any number of instances, and comments."""
    return Bounds(
        rows=-1,
        first_feature=first_feature,
        end_feature=end_feature,
        end_label=end_label,
        comments=True,
    )


def read_header(stream: IO, path: StrPath) -> list[int]:
    """Read the numbers of instances, features and labels in the first line."""
    line = stream.readline(_LONGEST_HEADER_BYTES).removeprefix(codecs.BOM_UTF8)
    counts = [int(field) for field in line.split() if field.isdigit()]
    if len(counts) != 3 or len(line.split()) != 3 or len(line) == _LONGEST_HEADER_BYTES:
        message = "expected a header 'instances features labels', such as '4880 1836 159'"
        remedy = "a file without a header can be read with format svmlight"
        if line.startswith(b"__label__"):
            remedy = "set format: fasttext, whose lines begin so"
        elif b"\t" in line:
            remedy = "set format: text-tsv if lines hold labels, a tab and a text"
        raise InputError(message, path=path, line=1, remedy=remedy)
    for count, (name, limit) in zip(counts, _HEADER_LIMITS.items(), strict=True):
        if count > limit:
            message = f"the header promises too many {name} (at most {limit:,})"
            raise InputError(message, path=path, line=1, remedy="correct the header")
    return counts


def check_count(promised: int, n: int, path: StrPath, line: int) -> None:
    """Refuse a file that has another number of instances than its header says."""
    if n != promised:
        message = f"the header promises {promised} instances, the file has {n}"
        remedy = "the file is cut off or its header is wrong: download it again or correct line 1"
        raise InputError(message, path=path, line=line, remedy=remedy)


def read_svmlight(
    paths: Sequence[StrPath],
    labels_paths: Sequence[StrPath] | None = None,
    first: int | None = None,
    block: int = BLOCK_BYTES,
) -> tuple[dict[str, int], list[tuple[CSR, CSR]]]:
    """Read several files with the same features.

    Parameters
    ----------
    paths : sequence of paths
    labels_paths : None
        Not used: the files hold the labels.
    first : int, optional
        The number of the first feature; by default 0 if a file has a feature 0, else 1.
    block : int
        Bytes read at a time.

    Returns
    -------
    numbering : dict
        ``first_feature``: the number of the first feature.
    pairs : list
        (X, Y) of each file, with as many columns as all files need.
    """
    parsed = []
    for path in paths:
        bounds = _make_svmlight_bounds(first or 0, ID_LIMIT, LABEL_LIMIT)
        parsed.append(_parse_svmlight(path, bounds, block))
    if first is None:
        # scikit-learn's rule
        first = min(1, min(rows.lowest for rows in parsed))
    n_features = 0
    n_labels = 0
    for rows in parsed:
        rows.X.indices[:] -= first
        n_features = max(n_features, rows.highest - first + 1)
        n_labels = max(n_labels, int(rows.Y.indices.max(initial=-1)) + 1)
    pairs = []
    for rows in parsed:
        X = rows.X._replace(n_columns=n_features)
        Y = rows.Y._replace(n_columns=n_labels)
        pairs.append((X, Y))
    return {"first_feature": first}, pairs


def read_xmc_files(
    paths: Sequence[StrPath],
    labels_paths: Sequence[StrPath] | None,
    first: int | None = None,
) -> tuple[dict[str, int], list[tuple[CSR, CSR]]]:
    """Read several files as :func:`read_svmlight` does; the format numbers features from 0."""
    return {}, [read_xmc_text(path) for path in paths]


def svmlight_batches(file: RecordFile, n_features: int, first: int) -> Iterator[CSR]:
    """Yield the features of some instances at a time."""
    bounds = _make_svmlight_bounds(first, first + n_features, ID_LIMIT)
    with file.bytes() as stream:
        for rows in parse_blocks(stream, file.name, bounds):
            rows.X.indices[:] -= first
            yield rows.X._replace(n_columns=n_features)


def xmc_batches(file: RecordFile, n_features: int, first: int) -> Iterator[CSR]:
    """Yield the features of some instances at a time."""
    with file.bytes() as stream:
        n, d, _ = read_header(stream, file.name)
        if d != n_features:
            message = f"{d} features, the model has {n_features}"
            raise InputError(
                message, path=file.name, line=1, remedy="give instances with these features"
            )
        count = 0
        last = 1
        for rows in parse_blocks(stream, file.name, _make_xmc_bounds(-1, d, ID_LIMIT), 1):
            count += rows.X.n_rows
            last = rows.lines
            yield rows.X
        check_count(n, count, file.name, last)


def _parse_svmlight(path: StrPath, bounds: Bounds, block: int) -> "ParsedRows":
    """Parse a file, which must have instances."""
    with open_stream(path) as stream:
        if stream.peek(3)[:3] == codecs.BOM_UTF8:
            stream.read(3)
        parsed = _parse_all(stream, path, bounds, 0, block)
    if parsed.X.n_rows == 0:
        raise InputError(
            "has no instances", path=path, remedy="correct this file, or give another one"
        )
    return parsed


class ParsedRows(NamedTuple):
    """The rows of some lines: without zeros, ids ascending, repeated features summed."""

    X: CSR
    Y: CSR
    lowest: int  # smallest id of a feature, also of one with the value zero
    highest: int
    lines: int  # of the file so far
    end: int  # bytes of the rest of the stream so far


def _parse_all(
    stream: IO, path: StrPath, bounds: Bounds, lines_before: int, block: int
) -> ParsedRows:
    """Parse the rest of a stream, of which some lines were read before."""
    parts = _GrowingRows()
    lines = lines_before
    end = 0
    lowest = ID_LIMIT
    highest = -1
    size = 0
    if not is_compressed(path):
        size = os.stat(path).st_size // _MEGABYTE
    with Progress(f"reading {Path(path).name}", size, "MB") as progress:
        for rows in parse_blocks(stream, path, bounds, lines_before, block):
            parts.append(rows)
            lowest = min(lowest, rows.lowest)
            highest = max(highest, rows.highest)
            lines = rows.lines
            end = rows.end
            progress.advance(end // _MEGABYTE - progress.done)
    X, Y = parts.matrices(bounds)
    return ParsedRows(X, Y, lowest, highest, lines, end)


def parse_blocks(
    stream: IO, path: StrPath, bounds: Bounds, lines_before: int = 0, block: int = BLOCK_BYTES
) -> Iterator[ParsedRows]:
    """Parse the rest of a stream, and yield the rows of each block."""
    left = bounds.rows
    end = 0
    while lines := stream.read(block):
        lines += stream.readline()
        end += len(lines)
        # the last line may lack its end
        if not lines.endswith(b"\n"):
            lines += b"\n"
        rows = _parse_block(lines, path, bounds, left, lines_before, end)
        if left >= 0:
            left -= rows.X.n_rows
        lines_before = rows.lines
        yield rows


def _parse_block(
    lines: bytes, path: StrPath, bounds: Bounds, rows_left: int, lines_before: int, end: int
) -> ParsedRows:
    """Parse the lines of a block.

    Parameters
    ----------
    lines : bytes
        Whole lines.
    path : path
        The file's name in messages.
    bounds : Bounds
    rows_left : int
        Number of instances that may follow, -1 for any.
    lines_before : int
        Number of the file's lines before the block.
    end : int
        Number of bytes up to the end of the block.
    """
    rows = _make_buffers(lines)
    cursor = np.zeros(9, np.int64)
    cursor[kernels.LOWEST] = ID_LIMIT
    cursor[kernels.HIGHEST] = -1
    cursor[kernels.SORTED_FEATURES] = 1
    cursor[kernels.SORTED_LABELS] = 1
    within = bounds._replace(rows=rows_left)
    outcome, position = kernels.parse_lines(
        np.frombuffer(lines, np.uint8), len(lines), within, rows, cursor
    )
    for slot, first, last in rows.undecided[: cursor[UNDECIDED_NUMBERS]].reshape(-1, 3):
        with np.errstate(over="ignore"):
            rows.values[slot] = float(lines[first:last])
        if not np.isfinite(rows.values[slot]):
            raise _parse_error(kernels.OVERFLOW, lines, first, path, bounds, lines_before)
    if outcome != kernels.PARSED:
        raise _parse_error(outcome, lines, position, path, bounds, lines_before)
    X, Y = _make_matrices(rows, cursor, path, bounds)
    lowest, highest, n_lines = cursor[[kernels.LOWEST, kernels.HIGHEST, LINES]].tolist()
    return ParsedRows(X, Y, lowest, highest, lines_before + n_lines, end)


def _make_buffers(lines: bytes) -> RowBuffers:
    """Make arrays that are large enough for everything that lines hold."""
    n_features = lines.count(b":")
    n = lines.count(b"\n")
    n_labels = lines.count(b",") + n
    return RowBuffers(
        values=np.empty(n_features, np.float32),
        features=np.empty(n_features, np.int32),
        labels=np.empty(n_labels, np.int32),
        feature_indptr=np.zeros(n + 1, np.int64),
        label_indptr=np.zeros(n + 1, np.int64),
        undecided=np.empty(3 * n_features, np.int64),
    )


def _make_matrices(
    rows: RowBuffers, cursor: np.ndarray, path: StrPath, bounds: Bounds
) -> tuple[CSR, CSR]:
    """Make X and Y of parsed rows, sorted and summed where that is needed."""
    n_features, n_labels, n = cursor[[FEATURES, LABELS, ROWS]].tolist()
    X = CSR(
        rows.values[:n_features],
        rows.features[:n_features],
        rows.feature_indptr[: n + 1],
        bounds.end_feature,
    )
    Y = CSR(
        np.ones(n_labels, np.float32),
        rows.labels[:n_labels],
        rows.label_indptr[: n + 1],
        bounds.end_label,
    )
    if not cursor[kernels.SORTED_FEATURES]:
        X = _canonicalize(X)
        if not np.isfinite(X.data).all():
            message = "the values of a feature that occurs twice sum to infinity"
            raise InputError(message, path=path, remedy="correct or delete the instance")
    if not cursor[kernels.SORTED_LABELS]:
        Y = _canonicalize(Y)
        Y.data[:] = 1
    return X, Y


class _GrowingRows:
    """Rows of blocks, one after the other.

    Arrays grow by a sixteenth, so that little memory stays unused.
    """

    def __init__(self) -> None:
        self._values = array("f")
        self._features = array("i")
        self._labels = array("i")
        self._ends_of_features = array("q", [0])
        self._ends_of_labels = array("q", [0])

    def append(self, rows: ParsedRows) -> None:
        """Append the rows of a block."""
        self._values.frombytes(rows.X.data.view(np.uint8).data)
        self._features.frombytes(rows.X.indices.view(np.uint8).data)
        self._labels.frombytes(rows.Y.indices.view(np.uint8).data)
        for ends, matrix in ((self._ends_of_features, rows.X), (self._ends_of_labels, rows.Y)):
            ends.frombytes((matrix.indptr[1:] + ends[-1]).view(np.uint8).data)

    def matrices(self, bounds: Bounds) -> tuple[CSR, CSR]:
        """Return X and Y."""
        values = np.frombuffer(self._values, np.float32)
        features = np.frombuffer(self._features, np.int32)
        labels = np.frombuffer(self._labels, np.int32)
        ends_of_features = np.frombuffer(self._ends_of_features, np.int64)
        ends_of_labels = np.frombuffer(self._ends_of_labels, np.int64)
        ones = np.ones(len(labels), np.float32)
        X = CSR(values, features, ends_of_features, bounds.end_feature)
        return X, CSR(ones, labels, ends_of_labels, bounds.end_label)


def _parse_error(
    outcome: int, lines: bytes, position: int, path: StrPath, bounds: Bounds, lines_before: int
) -> InputError:
    """Make the error of a mistake at a position of a block."""
    message = _MESSAGES[outcome].format(
        token=_find_token(lines, position),
        last_label=bounds.end_label - 1,
        first_feature=bounds.first_feature,
        last_feature=bounds.end_feature - 1,
        n=bounds.rows,
    )
    line = lines_before + lines.count(b"\n", 0, position) + 1
    return InputError(message, path=path, line=line, remedy="correct or delete the line")


def _canonicalize(matrix: CSR) -> CSR:
    """Sort and sum rows in place."""
    csr = matrix.to_scipy()
    csr.sum_duplicates()
    return from_scipy(csr)


def _find_token(lines: bytes, position: int) -> str:
    """Find the token at a position, for messages."""
    begin = max(position - 30, 0)
    before = lines[begin:position]
    begin += len(before) - len(re.split(rb"[ \t\r\n]", before)[-1])
    token = re.split(rb"\s", lines[begin : begin + 60])[0]
    if not token:
        return "the end of the line"
    return ascii(token.decode("latin-1"))
