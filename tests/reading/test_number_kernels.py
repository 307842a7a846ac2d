"""Jitted numbers against Python's float()."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ovaflow.reading.number_kernels import (
    BAD_NUMBER,
    OVERFLOW,
    PARSED,
    TOO_LARGE,
    UNDECIDED,
    parse_decimal,
    parse_whole_number,
)


def encode_line(text) -> np.ndarray:
    return np.frombuffer(text.encode() + b"\n", np.uint8)


def to_float32(text) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(float(text))


NUMBERS = st.one_of(
    st.from_regex(
        r"[+-]?([0-9]{1,25}\.?|[0-9]{0,25}\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True
    ),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: f"{value:.17e}"),
    st.floats(min_value=1e-40, max_value=1e38).map(lambda value: f"{value:.6g}"),
)


@given(NUMBERS)
@example("16777217")
@example("16777217.0000000001")
@example("0.1000000014901161193847656250000000001")
@example("3.4028235677973366e38")
@example("3.4028235677973365e38")
@example("7.006492321624085e-46")
@example("7.006492321624086e-46")
@example("0." + "0" * 100 + "1e101")
@example("1" + "0" * 100 + "e-100")
@example("1e0000000000000000000000001")
@example("1e99999999999999999999")
@example("1e-99999999999999999999")
@example("-0")
@pytest.mark.filterwarnings("ignore:overflow encountered in nextafter")
def test_numbers_equal_those_of_python(text) -> None:
    outcome, ours, position = parse_decimal(encode_line(text), 0)
    theirs = to_float32(text)
    assert position == len(text)
    if outcome == UNDECIDED:
        below = np.nextafter(ours, np.float32(-np.inf))
        above = np.nextafter(ours, np.float32(np.inf))
        assert below <= theirs <= above
    elif outcome == OVERFLOW:
        assert np.isinf(theirs)
    else:
        assert outcome == PARSED
        assert ours == theirs


@pytest.mark.parametrize(
    "text", ["", ".", "-", "+.", "e5", "1e", "1e+", "nan", "inf", "-inf", "--1", "x", " 1"]
)
def test_what_is_no_number(text) -> None:
    outcome, _, _ = parse_decimal(encode_line(text), 0)
    assert outcome == BAD_NUMBER


@given(st.text("0123456789", max_size=30))
def test_whole_numbers_equal_those_of_python(text) -> None:
    ours, position = parse_whole_number(encode_line(text), 0)
    theirs = int(text or -1)
    if theirs >= 10**12:
        theirs = TOO_LARGE
    assert position == len(text)
    assert ours == theirs
