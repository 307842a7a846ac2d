"""Meanings of written labels, compared with those of one record at a time."""

from collections import Counter

import naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.labels.choice import NameChoice
from ovaflow.labels.hierarchy import find_ancestors_by_name
from ovaflow.labels.lists import LabelLists
from ovaflow.labels.matrix import NamedLabels

NAMES = ["a", "b", "a>b", "a>b>c", "d>c", "e"]
some_names = st.sampled_from(NAMES)
records = st.lists(st.lists(some_names, max_size=5, unique=True), max_size=9)
replacements = st.dictionaries(some_names, st.sampled_from([*NAMES, ""]), max_size=4)


@given(
    st.lists(records, min_size=2, max_size=2),
    replacements,
    replacements,
    st.booleans(),
    st.lists(some_names, max_size=2),
)
def test_meanings_are_those_of_one_record_at_a_time(
    files, new_names, replaced, is_hierarchical, exclude
) -> None:
    replaced = {old: new for old, new in replaced.items() if new}
    above = find_ancestors_by_name(">") if is_hierarchical else None
    labels = NamedLabels(NameChoice([], exclude) if exclude else None, above)
    labels.new_names = new_names
    labels.replaced = replaced
    followed = Counter()
    for rows in files:
        written = LabelLists(labels.meanings.number_of)
        counts = Counter()
        for row in rows:
            written.append(row)
        ours = labels.meanings.translate(written, counts)
        kept = []
        n_left_out = 0
        n_renamed = 0
        n_replaced = 0
        for row in rows:
            theirs = naive.resolve_labels(
                row,
                new_names,
                replaced,
                above or (lambda name: []),
                lambda name: name not in exclude,
            )
            kept_in_row, left_out, renamed, former = theirs
            kept.append(kept_in_row)
            n_left_out += len(left_out)
            n_renamed += len(renamed)
            if former:
                n_replaced += 1
            followed.update(former)
        assert [{labels.written(number) for number in row} for row in ours] == kept
        assert all(len(row) == len(np.unique(row)) for row in ours)
        assert counts["labels_renamed"] == n_renamed
        assert counts["labels_of_instances_left_out"] == n_left_out
        assert counts["records_with_replaced_subjects"] == n_replaced
    assert labels.followed == followed
