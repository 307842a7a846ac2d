"""The row parser on one input: what its kernels make of it, and what the plain reference does.

An input is a byte that chooses the bounds and the room of the arrays, then the
text of a block.
"""

import numpy as np
from naive import parse_rows

from ovaflow.data.readers import row_kernels
from ovaflow.data.readers.number_kernels import GOOD
from ovaflow.data.readers.row_kernels import (
    FEATURES,
    FULL,
    HARDS,
    HIGHEST,
    LABELS,
    LINES,
    LOWEST,
    POSITION,
    ROWS,
    SORTED_FEATURES,
    SORTED_LABELS,
    Bounds,
    Rows,
)

ID_LIMIT = (1 << 31) - 1
BOUNDS = (
    Bounds(3, 0, 9, 5, False),
    Bounds(-1, 0, ID_LIMIT, ID_LIMIT, True),
    Bounds(-1, 1, 40, 10, True),
    Bounds(1, 0, ID_LIMIT, 10**7, False),
)
"""As of an XMC text file, of svmlight counted from 0 and from 1, and of one long line."""
ROOMS = (64, 4, 1, 17)
"""Entries that the arrays have room for; a block that needs more must say so."""
GUARD = 8
"""Entries behind each array that no kernel may touch."""
UNTOUCHED = 77
LONGEST = 400
"""Bytes of an input."""


def run(data, parse_lines=None):
    """Run the kernels on an input; raise AssertionError where they and the reference disagree.

    Parameters
    ----------
    data : bytes
    parse_lines : callable, optional
        The jitted one by default.
    """
    choice, text = data[0] if data else 0, data[1:LONGEST]
    bounds, room = BOUNDS[choice % 4], ROOMS[choice // 4 % 4]
    whole = text if text.endswith(b"\n") else text + b"\n"
    held = [np.full(room + GUARD, UNTOUCHED, dtype) for dtype in (np.float32, np.int32, np.int32, *[np.int64] * 3)]
    rows = Rows(*(array[:room] for array in held))
    rows.feature_indptr[0] = rows.label_indptr[0] = 0
    cursor = np.zeros(10, np.int64)
    cursor[[SORTED_FEATURES, SORTED_LABELS, LOWEST, HIGHEST]] = 1, 1, ID_LIMIT, -1
    with np.errstate(over="ignore"):
        outcome, position = (parse_lines or row_kernels.parse_lines)(
            np.frombuffer(whole, np.uint8), len(whole), bounds, rows, cursor
        )
    assert all((array[room:] == UNTOUCHED).all() for array in held), "wrote behind an array"
    compare(whole, bounds, room, outcome, int(position), rows, cursor)
    return int(outcome)


def compare(text, bounds, room, outcome, position, rows, cursor):
    """What the kernels made of a text against :func:`naive.parse_rows`."""
    done = text[: cursor[POSITION]]
    instances, failed = parse_rows(text if outcome not in (GOOD, FULL) else done, *bounds)
    assert len(instances) == cursor[ROWS], "number of rows"
    assert done.count(b"\n") == cursor[LINES], "number of lines"
    if outcome == GOOD:
        assert failed is None, f"accepted line {failed}"
        assert cursor[POSITION] == position == len(text)
    elif outcome == FULL:
        assert failed is None
        assert _needs_more(text[cursor[POSITION] :].partition(b"\n")[0], room, cursor), "said full and was not"
    else:
        assert failed == cursor[LINES] + 1 == text.count(b"\n", 0, position) + 1, "number of the wrong line"
    _compare_rows(instances, text, rows, cursor, outcome == GOOD)


def _needs_more(line, room, cursor):
    """Whether a line may need more than what is left; three slots a hard number, and two of indptr."""
    left = room - max(cursor[FEATURES], cursor[LABELS], cursor[HARDS], cursor[ROWS] + 1)
    return left <= 3 * (line.count(b":") + line.count(b",") + 1)


def _compare_rows(instances, text, rows, cursor, complete):
    hard = {int(slot): text[begin:end] for slot, begin, end in rows.hard[: cursor[HARDS]].reshape(-1, 3)}
    lowest, highest, ascending = ID_LIMIT, -1, [True, True]
    for i, (features, labels) in enumerate(instances):
        low, high = rows.feature_indptr[i : i + 2]
        ours = []
        for k in range(low, high):
            value = np.float32(float(hard[k])) if k in hard else rows.values[k]
            ours.append((int(rows.features[k]), value))
        # hard numbers are kept although they may round to zero, others are not
        held = [(feature, value) for feature, value in ours if value != 0]
        assert held == [(feature, value) for feature, value in features if value != 0], "features"
        assert rows.labels[rows.label_indptr[i] : rows.label_indptr[i + 1]].tolist() == labels, "labels"
        for feature, _ in features:
            lowest, highest = min(lowest, feature), max(highest, feature)
        ids = [feature for feature, _ in ours]
        ascending[0] &= ids == sorted(set(ids))
        ascending[1] &= labels == sorted(set(labels))
    n = len(instances)
    assert cursor[FEATURES] == rows.feature_indptr[n]
    assert cursor[LABELS] == rows.label_indptr[n]
    # a line that is given up has been counted in part
    assert cursor[LOWEST] == lowest if complete else cursor[LOWEST] <= lowest
    assert cursor[HIGHEST] == highest if complete else cursor[HIGHEST] >= highest
    assert cursor[SORTED_FEATURES] == ascending[0] if complete else cursor[SORTED_FEATURES] <= ascending[0]
    assert cursor[SORTED_LABELS] == ascending[1] if complete else cursor[SORTED_LABELS] <= ascending[1]
