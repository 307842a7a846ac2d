"""Jitted parsers of numbers and of lines of ``label,label feature:value feature:value``.

Every text ends with a line feed, which is neither a digit nor a sign: no scan can run past the end.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.jit import strict_callee, strict_kernel

PARSED = 0
BAD_NUMBER = 1
OVERFLOW = 2
UNDECIDED = 3
"""Outcomes of a number; one that is too close to a rounding boundary of float32 is undecided."""

TOO_LARGE = 1 << 40
"""The value of every whole number of more than 12 digits, without leading zeros."""

MANTISSA_LIMIT = 10**17
"""Mantissas from here on take no further digits, so that they fit into int64."""
LARGEST_EXPONENT = 70
"""Beyond it a number of up to 18 digits is zero or too large in float32."""
POWERS_OF_TEN = np.array([float(f"1e{exponent}") for exponent in range(LARGEST_EXPONENT + 1)])
"""Powers of ten, each the nearest float64."""
ROUNDING_MARGIN = 2.0**-50
"""A bound of the relative error of one product of two rounded factors."""


@strict_kernel
def parse_whole_number(text: np.ndarray, position: int) -> tuple[int, int]:
    """Parse the digits from a position on.

    Returns
    -------
    value : int
        -1 without any digit.
    position : int
        The position after the digits.
    """
    start = position
    value = 0
    while 48 <= text[position] <= 57:
        value = value * 10 + (np.int64(text[position]) - 48)
        position += 1
    if position == start:
        return -1, position
    for k in range(start, position - 12):
        if text[k] != 48:
            return TOO_LARGE, position
    return value, position


@strict_kernel
def parse_decimal(text: np.ndarray, position: int) -> tuple[int, float, int]:
    """Parse a number as Python's float() does, without nan, inf and underscores.

    Returns
    -------
    outcome : int
        ``PARSED``, ``BAD_NUMBER``, ``OVERFLOW`` or ``UNDECIDED``.
    value : float32
    position : int
        The position after the number.
    """
    negative = text[position] == 45
    if negative or text[position] == 43:
        position += 1
    start = position
    mantissa = 0
    exponent = 0
    points = 0
    while True:
        character = text[position]
        if 48 <= character <= 57:
            if mantissa < MANTISSA_LIMIT:
                mantissa = mantissa * 10 + (np.int64(character) - 48)
                exponent -= points
            else:
                exponent += 1 - points
        elif character == 46 and points == 0:
            points = 1
        else:
            break
        position += 1
    if position - start == points:
        return BAD_NUMBER, np.float32(0.0), position
    if character == 101 or character == 69:
        sign = 1
        position += 1
        if text[position] == 45 or text[position] == 43:
            sign = 44 - np.int64(text[position])
            position += 1
        power, position = parse_whole_number(text, position)
        if power < 0:
            return BAD_NUMBER, np.float32(0.0), position
        exponent += sign * power
    outcome, value = scale_to_float32(mantissa, exponent)
    return outcome, -value if negative else value, position


@strict_callee
def scale_to_float32(mantissa: int, exponent: int) -> tuple[int, float]:
    """Compute float32(mantissa * 10^exponent), rounded to float64 in between as float() does."""
    if mantissa == 0 or exponent < -LARGEST_EXPONENT:
        return PARSED, np.float32(0.0)
    if exponent > LARGEST_EXPONENT:
        return OVERFLOW, np.float32(0.0)
    if exponent < 0:
        product = mantissa / POWERS_OF_TEN[-exponent]
    else:
        product = mantissa * POWERS_OF_TEN[exponent]
    value = np.float32(product)
    below = np.float32(product * (1.0 - ROUNDING_MARGIN))
    above = np.float32(product * (1.0 + ROUNDING_MARGIN))
    if below != above:
        return UNDECIDED, value
    if np.isinf(value):
        return OVERFLOW, value
    return PARSED, value


BAD_LABEL = 10
BAD_FEATURE = 11
LABEL_RANGE = 12
FEATURE_RANGE = 13
TOO_MANY_ROWS = 14
"""Further outcomes of a line."""

(
    LINES,
    ROWS,
    FEATURES,
    LABELS,
    UNDECIDED_NUMBERS,
    SORTED_FEATURES,
    SORTED_LABELS,
    LOWEST,
    HIGHEST,
) = range(9)
"""Slots of the cursor: counts so far, flags of ascending ids, and the range of feature ids."""


class Bounds(NamedTuple):
    """The limits of what lines hold."""

    rows: int  # number of instances, -1 for any
    first_feature: int
    end_feature: int
    end_label: int
    comments: bool  # true if # begins a comment, and empty lines are not instances


class RowBuffers(NamedTuple):
    """Arrays that lines are parsed into, large enough for all of them."""

    values: np.ndarray  # float32
    features: np.ndarray  # int32
    labels: np.ndarray  # int32
    feature_indptr: np.ndarray  # int64
    label_indptr: np.ndarray  # int64
    undecided: np.ndarray  # index, begin and end in the text of each number that is left to Python


@strict_kernel
def parse_lines(
    text: np.ndarray, end: int, bounds: Bounds, rows: RowBuffers, cursor: np.ndarray
) -> tuple[int, int]:
    """Parse the lines before the end.

    Parameters
    ----------
    text : uint8 array
        Ends with a line feed.
    end : int
    bounds : Bounds
    rows : RowBuffers
        Gets the rows.
    cursor : int64 (9,)
        Gets the counts of its slots.

    Returns
    -------
    outcome : int
    position : int
        The position of a mistake, or the end.
    """
    position = 0
    while position < end:
        position = skip_blanks(text, position)
        empty = is_line_end(text[position], bounds.comments)
        if empty and (bounds.comments or cursor[ROWS] == bounds.rows):
            position = skip_line(text, position)
            cursor[LINES] += 1
            continue
        if cursor[ROWS] == bounds.rows:
            return TOO_MANY_ROWS, position
        outcome, position = parse_labels(text, position, bounds, rows, cursor)
        if outcome == PARSED:
            outcome, position = parse_features(text, position, bounds, rows, cursor)
        if outcome != PARSED:
            return outcome, position
        cursor[LINES] += 1
    return PARSED, position


@strict_callee
def skip_blanks(text: np.ndarray, position: int) -> int:
    """Return the first position without space, tab or carriage return."""
    while text[position] == 32 or text[position] == 9 or text[position] == 13:
        position += 1
    return position


@strict_callee
def is_line_end(character: int, comments: bool) -> bool:
    """Tell whether a character ends the content of a line."""
    return character == 10 or (comments and character == 35)


@strict_callee
def is_token_end(character: int, comments: bool) -> bool:
    """Tell whether a character ends a label or a feature."""
    return character == 32 or character == 9 or character == 13 or is_line_end(character, comments)


@strict_callee
def skip_line(text: np.ndarray, position: int) -> int:
    """Return the position after the line."""
    while text[position] != 10:
        position += 1
    return position + 1


@strict_callee
def parse_labels(
    text: np.ndarray, position: int, bounds: Bounds, rows: RowBuffers, cursor: np.ndarray
) -> tuple[int, int]:
    """Parse the labels of a line, if it has some: return outcome and the position after them."""
    count = cursor[LABELS]
    ascending = True
    last = -1
    start = position
    while not is_line_end(text[position], bounds.comments):
        token = position
        label, position = parse_whole_number(text, position)
        if text[position] == 58 and token == start and label >= 0:
            position = start
            break
        if label < 0 or not (text[position] == 44 or is_token_end(text[position], bounds.comments)):
            return BAD_LABEL, position
        if label >= bounds.end_label:
            return LABEL_RANGE, token
        rows.labels[count] = label
        count += 1
        ascending &= label > last
        last = label
        if text[position] != 44:
            break
        position += 1
        if is_line_end(text[position], bounds.comments):
            return BAD_LABEL, position
    rows.label_indptr[cursor[ROWS] + 1] = count
    cursor[SORTED_LABELS] &= ascending
    return PARSED, position


@strict_callee
def parse_features(
    text: np.ndarray, position: int, bounds: Bounds, rows: RowBuffers, cursor: np.ndarray
) -> tuple[int, int]:
    """Parse the features of a line, and count the row.

    Returns
    -------
    outcome : int
    position : int
        The position after the line.
    """
    count = cursor[FEATURES]
    n_undecided = cursor[UNDECIDED_NUMBERS]
    ascending = True
    last = -1
    position = skip_blanks(text, position)
    while not is_line_end(text[position], bounds.comments):
        token = position
        feature, position = parse_whole_number(text, position)
        if feature < 0 or text[position] != 58:
            return BAD_FEATURE, position
        if feature < bounds.first_feature or feature >= bounds.end_feature:
            return FEATURE_RANGE, token
        outcome, value, after = parse_decimal(text, position + 1)
        if outcome in (OVERFLOW, BAD_NUMBER):
            return outcome, token
        if not is_token_end(text[after], bounds.comments):
            return BAD_NUMBER, token
        if outcome == UNDECIDED:
            rows.undecided[n_undecided] = count
            rows.undecided[n_undecided + 1] = position + 1
            rows.undecided[n_undecided + 2] = after
            n_undecided += 3
        cursor[LOWEST] = min(cursor[LOWEST], feature)
        cursor[HIGHEST] = max(cursor[HIGHEST], feature)
        if value != 0 or outcome == UNDECIDED:
            rows.values[count] = value
            rows.features[count] = feature
            count += 1
            ascending &= feature > last
            last = feature
        position = skip_blanks(text, after)
    rows.feature_indptr[cursor[ROWS] + 1] = count
    cursor[FEATURES] = count
    cursor[LABELS] = rows.label_indptr[cursor[ROWS] + 1]
    cursor[UNDECIDED_NUMBERS] = n_undecided
    cursor[SORTED_FEATURES] &= ascending
    cursor[ROWS] += 1
    return PARSED, skip_line(text, position)
