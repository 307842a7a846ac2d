"""Chains of successors, to their ends."""

from hypothesis import given
from hypothesis import strategies as st

from ovaflow.labels.successors import (
    REPLACED_BY_SEVERAL,
    REPLACED_BY_UNKNOWN,
    REPLACED_IN_CIRCLE,
    find_successors,
)

SUBJECTS = st.integers(0, 6)
REPLACED_BY = st.dictionaries(
    SUBJECTS, st.lists(SUBJECTS, min_size=1, max_size=2, unique=True).map(tuple)
)


def end_of(subject, replaced_by):
    """Where more steps lead than there are subjects; None in a circle."""
    for _ in range(8):
        if len(replaced_by.get(subject, ())) != 1:
            return subject
        [subject] = replaced_by[subject]
    return None


@given(REPLACED_BY, st.frozensets(SUBJECTS))
def test_each_has_one_end_or_a_reason(replaced_by, assignable) -> None:
    ours, why = find_successors(replaced_by, assignable)
    theirs = {subject: end_of(subject, replaced_by) for subject in replaced_by}
    assert ours == {old: end for old, end in theirs.items() if end in assignable and end != old}
    assert why == {
        old: REPLACED_IN_CIRCLE
        if end is None
        else REPLACED_BY_SEVERAL
        if end in replaced_by
        else REPLACED_BY_UNKNOWN
        for old, end in theirs.items()
        if old not in ours
    }
