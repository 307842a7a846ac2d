"""Records that occur more than once: by their ids, or by their texts where they have none."""

import numpy as np


def find_last_rows(records):
    """Rows without a later one of the same id."""
    ids = records.id_numbers
    _, from_the_end = np.unique(ids[::-1], return_index=True)
    is_last = ids < 0
    is_last[len(ids) - 1 - from_the_end] = True
    return np.flatnonzero(is_last)


def group_repeated_rows(records):
    """The first row of each record, and for each row the place of its record among these."""
    keys = _keys_of(records)
    _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return firsts[order], places[numbers]


def _keys_of(records):
    """A number of each record: of its id, or of its text where it has none."""
    ids = records.id_numbers
    _, texts = np.unique(records.column("text_hash"), return_inverse=True)
    return np.where(ids < 0, ids.max(initial=-1) + 1 + texts, ids)


def count_repeated(records, counts) -> None:
    """Count ids, or texts without ids, that occur again with other labels, and those whose text is
    the same.
    """
    keys = records.id_numbers
    texts = records.column("text_hash")
    has_ids = (keys >= 0).any()
    if not has_ids:
        _, keys = np.unique(texts, return_inverse=True)
    rows = _repeated_rows(keys)
    _, firsts, numbers = np.unique(keys[rows], return_index=True, return_inverse=True)
    labels = np.array(
        [hash(frozenset(records.labels.of(row).tolist())) for row in rows.tolist()], np.int64
    )
    again = labels != labels[firsts[numbers]]
    different = np.unique(numbers[again])
    if not len(different):
        return
    kind = "ids" if has_ids else "texts"
    counts[f"{kind}_with_different_labels"] += len(different)
    if has_ids:
        others = np.unique(numbers[texts[rows] != texts[rows[firsts[numbers]]]])
        counts["ids_with_different_labels_alike"] += len(np.setdiff1d(different, others))
        first = rows[firsts[different]].min()
        counts.setdefault("first_id_with_different_labels", records.texts("id")[first])


def _repeated_rows(keys):
    """Rows whose key is not negative and occurs more than once."""
    _, numbers, amounts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.flatnonzero((amounts[numbers] > 1) & (keys >= 0))
