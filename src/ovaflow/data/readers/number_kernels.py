"""Numbers out of text bytes, jitted.

Every text handed to these kernels ends with a line feed, which is neither a
digit nor a sign: no scan can run past the end.
"""

import numpy as np

from ovaflow.sparse.jit import strict_kernel

GOOD, BAD_NUMBER, OVERFLOW, HARD = 0, 1, 2, 3
"""What came of a number; a hard one lies too near to a rounding boundary of float32 to be decided here."""

TOO_LARGE = 1 << 40
"""Stands for every whole number of more than 12 digits (leading zeros aside)."""

MOST_DIGITS = 10**17
LARGEST_EXPONENT = 70
EXACT_MANTISSA = 1 << 53
EXACT_EXPONENT = 22
POWERS = np.array([float(f"1e{exponent}") for exponent in range(LARGEST_EXPONENT + 1)])
MARGIN = 2.0**-50
"""Above the relative error of one product of two rounded factors."""


@strict_kernel
def whole_number(text, position):
    """The digits from position on: their value (-1 without any digit), and the position after them."""
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
def decimal_number(text, position):
    """A number as Python's float() reads it, without nan, inf and underscores: outcome, value, position after it."""
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
            if mantissa < MOST_DIGITS:
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
        power, position = whole_number(text, position)
        if power < 0:
            return BAD_NUMBER, np.float32(0.0), position
        exponent += sign * power
    outcome, value = nearest_float32(mantissa, exponent)
    return outcome, -value if negative else value, position


@strict_kernel
def nearest_float32(mantissa, exponent):
    """float32(mantissa * 10^exponent), rounded to float64 in between as float() does."""
    if mantissa == 0 or exponent < -LARGEST_EXPONENT:
        return GOOD, np.float32(0.0)
    if exponent > LARGEST_EXPONENT:
        return OVERFLOW, np.float32(0.0)
    product = mantissa / POWERS[-exponent] if exponent < 0 else mantissa * POWERS[exponent]
    value = np.float32(product)
    exact = mantissa <= EXACT_MANTISSA and -EXACT_EXPONENT <= exponent <= EXACT_EXPONENT
    if not exact and np.float32(product * (1.0 - MARGIN)) != np.float32(product * (1.0 + MARGIN)):
        return HARD, value
    return (OVERFLOW if np.isinf(value) else GOOD), value
