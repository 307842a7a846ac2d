"""Units among some records, and of rows of features."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.records.units import find_feature_units, select_units
from ovaflow.sparse.csr import from_scipy


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_some_records_keep_their_units(groups, random) -> None:
    units = np.array([groups.index(group) for group in groups])
    rows = np.array([row for row in range(len(groups)) if random.random() < 0.5], np.int64)
    left = [groups[row] for row in rows]
    assert select_units(units, rows).tolist() == [left.index(group) for group in left]


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=4, max_size=4), min_size=1, max_size=40
    )
)
def test_copies_are_a_unit_but_empty_rows_are_not(rows) -> None:
    X = from_scipy(np.array(rows, np.float32))
    theirs = [rows.index(row) if any(row) else place for place, row in enumerate(rows)]
    assert find_feature_units(X).tolist() == theirs
    assert find_feature_units(X, split="random").tolist() == list(range(len(rows)))
