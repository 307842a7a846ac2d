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


def find_end(subject, replaced_by) -> int | None:
    """Follow a chain for more steps than there are subjects; None in a circle."""
    for _ in range(8):
        if len(replaced_by.get(subject, ())) != 1:
            return subject
        [subject] = replaced_by[subject]
    return None


@given(REPLACED_BY, st.frozensets(SUBJECTS))
def test_each_has_one_end_or_a_reason(replaced_by, assignable) -> None:
    ours, reasons = find_successors(replaced_by, assignable)
    successors = {}
    their_reasons = {}
    for subject in replaced_by:
        end = find_end(subject, replaced_by)
        if end is None:
            their_reasons[subject] = REPLACED_IN_CIRCLE
        elif end in assignable and end != subject:
            successors[subject] = end
        elif end in replaced_by:
            their_reasons[subject] = REPLACED_BY_SEVERAL
        else:
            their_reasons[subject] = REPLACED_BY_UNKNOWN
    assert ours == successors
    assert reasons == their_reasons
