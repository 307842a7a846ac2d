"""Division into train and test."""

from hypothesis import given
from hypothesis import strategies as st

from ovaflow.data.split import in_test


@given(st.text(), st.integers(-(2**60), 2**60))
def test_extremes(text, seed):
    assert not in_test(text, 0.0, seed)
    assert in_test(text, 1.0, seed)


@given(st.text(), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_test_set_holds_the_smaller(text, one, other):
    small, large = sorted((one, other))
    assert in_test(text, large) >= in_test(text, small)


def test_share_and_seed():
    first, second = ([in_test(f"text {i}", 0.2, seed) for i in range(5000)] for seed in (0, 1))
    assert 0.18 < sum(first) / 5000 < 0.22
    assert first != second


def test_known_values():
    assert [in_test(text, 0.2) for text in ("a", "b", "ä", "", "\ud800")] == [True, False, False, False, False]
