"""Text files of one instance per line, parsed block by block into arrays that grow in place."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.data.readers.kernels import (
    BAD_FEATURE,
    BAD_LABEL,
    BAD_NUMBER,
    FEATURE_RANGE,
    FEATURES,
    FULL,
    GOOD,
    HARDS,
    HIGHEST,
    LABEL_RANGE,
    LABELS,
    LINES,
    LOWEST,
    OVERFLOW,
    POSITION,
    ROWS,
    SORTED_FEATURES,
    SORTED_LABELS,
    TOO_MANY_ROWS,
    Rows,
    parse_lines,
)
from ovaflow.data.readers.streams import is_compressed
from ovaflow.sparse.csr import CSR

BLOCK = 1 << 20
"""Bytes read at a time."""

ID_LIMIT = (1 << 31) - 1
"""Ids are stored as int32."""

LABEL_LIMIT = 10**7
"""Labels of a dataset: each has a name in memory. The largest public one has 2.8 million."""

_MEGABYTE = 10**6
_NEWLINE = 10
_COMPLAINTS = {
    BAD_NUMBER: "{token} has no finite number after the colon",
    OVERFLOW: "the value of {token} is too large for 32 bits",
    BAD_LABEL: "expected label ids separated by commas, found {token}",
    BAD_FEATURE: "expected feature:value, found {token}",
    LABEL_RANGE: "label id out of range in {token}, ids run from 0 to {last_label}",
    FEATURE_RANGE: "feature id out of range in {token}, ids run from {first_feature} to {last_feature}",
    TOO_MANY_ROWS: "more instances than the {n} promised by the header",
}


class ParsedRows(NamedTuple):
    """What the lines of a file held; ``lowest`` to ``highest`` are the ids of features, values of zero included."""

    X: CSR
    Y: CSR
    lowest: int
    highest: int
    lines: int


def parse_rows(stream, path, bounds, lines_before=0, block=BLOCK):
    """Parse the rest of a stream, of which ``lines_before`` lines were read, into :class:`ParsedRows`.

    Features of a row may come in any order and are sorted; features that occur twice are summed (as SciPy does), labels
    that occur twice are merged, values of zero are left out. The arrays grow by an eighth, so that memory stays near
    the size of the matrices.
    """
    parser = _Parser(path, bounds, lines_before, block)
    size = 0 if is_compressed(path) else os.stat(path).st_size // _MEGABYTE
    with Progress(f"reading {Path(path).name}", size, "MB") as progress:
        total = 0
        for buffer, end in whole_lines(stream, block):
            parser.parse(buffer, end)
            total += end
            progress.advance(total // _MEGABYTE - progress.done)
    return parser.finish()


def parse_blocks(stream, path, bounds, lines_before=0, block=BLOCK):
    """Parse the rest of a stream in bounded memory: a :class:`ParsedRows` for each block.

    ``bounds.rows`` must be -1. ``lines`` of the results count from the beginning of the file.
    """
    for buffer, end in whole_lines(stream, block):
        parser = _Parser(path, bounds, lines_before, block)
        parser.parse(buffer, end)
        rows = parser.finish()
        lines_before = rows.lines
        yield rows


def whole_lines(stream, block):
    """The stream in blocks that end with a line's end; the last line gets one if it has none.

    A block is a buffer, which is used again and grows when a line is longer, and how many of its bytes are valid.
    """
    buffer, kept = bytearray(block + 1), 0
    while True:
        filled = _fill(stream, buffer, kept)
        if filled == kept:
            break
        end = buffer.rfind(b"\n", kept, filled) + 1
        if end:
            yield buffer, end
            buffer[: filled - end] = buffer[end:filled]
        elif filled == len(buffer) - 1:
            buffer += bytes(len(buffer))
        kept = filled - end
    if kept:
        buffer[kept] = _NEWLINE
        yield buffer, kept + 1


def _fill(stream, buffer, filled):
    with memoryview(buffer) as view:
        while filled < len(buffer) - 1:
            count = stream.readinto(view[filled:-1])
            if not count:
                break
            filled += count
    return filled


class _Parser:
    """The growing arrays, and the cursor that the kernel moves."""

    def __init__(self, path, bounds, lines_before, block):
        self._path, self._bounds, self._lines_before = path, bounds, lines_before
        few = max(block // 64, 1)
        self._rows = Rows(
            values=np.zeros(few, np.float32),
            features=np.zeros(few, np.int32),
            labels=np.zeros(few, np.int32),
            feature_indptr=np.zeros(few, np.int64),
            label_indptr=np.zeros(few, np.int64),
            hard=np.zeros(few, np.int64),
        )
        self._cursor = np.zeros(10, np.int64)
        self._cursor[LOWEST], self._cursor[HIGHEST] = ID_LIMIT, -1
        self._tried = -1

    def parse(self, buffer, end):
        """Append the rows of ``buffer[:end]``, which ends with a line feed."""
        text = np.frombuffer(buffer, np.uint8)
        before = self._cursor.copy()
        self._cursor[[POSITION, SORTED_FEATURES, SORTED_LABELS]] = 0, 1, 1
        self._tried = -1
        outcome = FULL
        while outcome == FULL:
            self._make_room(buffer)
            outcome, position = parse_lines(text, end, self._bounds, self._rows, self._cursor)
            self._settle_hard_numbers(buffer, before)
        if outcome != GOOD:
            raise self._complaint(outcome, buffer, position, before)
        if not self._cursor[SORTED_FEATURES]:
            self._sort_features(buffer, before)
        if not self._cursor[SORTED_LABELS]:
            self._sort_labels(before)

    def finish(self):
        """The matrices, their arrays cut to size."""
        rows, cursor = self._rows, self._cursor
        for array, count in self._used():
            array.resize(count, refcheck=False)
        rows.hard.resize(0, refcheck=False)
        ones = np.ones(len(rows.labels), np.float32)
        X = CSR(rows.values, rows.features, rows.feature_indptr, max(self._bounds.end_feature, 0))
        Y = CSR(ones, rows.labels, rows.label_indptr, max(self._bounds.end_label, 0))
        return ParsedRows(X, Y, int(cursor[LOWEST]), int(cursor[HIGHEST]), self._lines_before + int(cursor[LINES]))

    def _used(self):
        rows, cursor = self._rows, self._cursor
        return (
            (rows.values, cursor[FEATURES]),
            (rows.features, cursor[FEATURES]),
            (rows.labels, cursor[LABELS]),
            (rows.feature_indptr, cursor[ROWS] + 1),
            (rows.label_indptr, cursor[ROWS] + 1),
        )

    def _make_room(self, buffer):
        """Room for the next line at least, and for its hard numbers, which are few, by trying."""
        start = int(self._cursor[POSITION])
        end = buffer.find(b"\n", start) + 1
        # "0:1 " and "0," are the shortest entries
        features = min(buffer.count(b":", start, end), (end - start) // 4 + 1)
        labels = min(buffer.count(b",", start, end), (end - start) // 2) + 1
        for (array, used), line in zip(self._used(), (features, features, labels, 1, 1), strict=True):
            if len(array) < used + line:
                array.resize(int(used + line + used // 8), refcheck=False)
        if start == self._tried:
            self._rows.hard.resize(2 * len(self._rows.hard), refcheck=False)
        self._tried = start

    def _settle_hard_numbers(self, buffer, before):
        hards = int(self._cursor[HARDS])
        for slot, begin, end in self._rows.hard[:hards].reshape(-1, 3):
            with np.errstate(over="ignore"):
                value = np.float32(float(buffer[begin:end]))
            if not np.isfinite(value):
                raise self._complaint(OVERFLOW, buffer, begin, before)
            self._rows.values[slot] = value
        self._cursor[HARDS] = 0

    def _sort_features(self, buffer, before):
        rows, cursor = self._rows, self._cursor
        start, end = before[FEATURES], cursor[FEATURES]
        indptr = rows.feature_indptr[before[ROWS] : cursor[ROWS] + 1]
        values, _ = _make_canonical(rows.values[start:end], rows.features[start:end], indptr)
        if not np.isfinite(values).all():
            row = np.searchsorted(indptr - start, np.argmin(np.isfinite(values)), side="right") - 1
            raise self._on_row("the values of a feature that occurs twice sum to infinity", buffer, int(row), before)
        cursor[FEATURES] = start + len(values)

    def _sort_labels(self, before):
        rows, cursor = self._rows, self._cursor
        start, end = before[LABELS], cursor[LABELS]
        indptr = rows.label_indptr[before[ROWS] : cursor[ROWS] + 1]
        _, labels = _make_canonical(np.ones(end - start, np.float32), rows.labels[start:end], indptr)
        cursor[LABELS] = start + len(labels)

    def _complaint(self, outcome, buffer, position, before):
        bounds = self._bounds
        message = _COMPLAINTS[outcome].format(
            token=_token_at(buffer, position),
            last_label=bounds.end_label - 1,
            first_feature=bounds.first_feature,
            last_feature=bounds.end_feature - 1,
            n=bounds.rows,
        )
        return self._at(message, buffer.count(b"\n", 0, position), before)

    def _on_row(self, message, buffer, row, before):
        """A complaint about a row of the block, counted from 0."""
        lines = [line.strip(b" \t\r") for line in buffer.split(b"\n")]
        numbers = [number for number, line in enumerate(lines) if not self._bounds.comments or line[:1] not in b"#"]
        return self._at(message, numbers[row], before)

    def _at(self, message, line, before):
        """A complaint about a line of the block, counted from 0."""
        number = self._lines_before + int(before[LINES]) + line + 1
        return InputError(message, path=self._path, line=number, remedy="correct or delete the line")


def _make_canonical(values, indices, indptr):
    """Sort and sum in place; the parts of the arrays that are used afterwards."""
    shape = (len(indptr) - 1, ID_LIMIT)
    matrix = scipy.sparse.csr_array((values, indices, indptr - indptr[0]), shape=shape)
    matrix.sum_duplicates()
    count = matrix.nnz
    values[:count], indices[:count] = matrix.data, matrix.indices
    indptr[1:] = indptr[0] + matrix.indptr[1:]
    return values[:count], indices[:count]


def _token_at(buffer, position):
    begin = max(buffer.rfind(character, 0, position) for character in (b" ", b"\t", b"\r", b"\n")) + 1
    begin = max(begin, position - 30)
    line = bytes(buffer[begin : begin + 60]).split(b"\n")[0]
    token = line.split()[0] if line[:1].strip() else b""
    return ascii(token.decode("latin-1")) if token else "the end of the line"
