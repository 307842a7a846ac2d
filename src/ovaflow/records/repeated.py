"""Records that occur more than once: by their ids, or by their texts where they have none."""

from collections import Counter

import numpy as np

from ovaflow.records.collected import CollectedRecords


def find_last_rows(records: CollectedRecords) -> np.ndarray:
    """Find the rows without a later one of the same id."""
    ids = records.id_numbers
    _, from_the_end = np.unique(ids[::-1], return_index=True)
    is_last = ids < 0
    is_last[len(ids) - 1 - from_the_end] = True
    return np.flatnonzero(is_last)


def group_repeated_rows(records: CollectedRecords) -> tuple[np.ndarray, np.ndarray]:
    """Group the rows of one record.

    Returns
    -------
    firsts : int64 (m,)
        The first row of each record.
    places : int64 (n,)
        The place of each row's record among these.
    """
    keys = _number_keys(records)
    _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return firsts[order], places[numbers]


def _number_keys(records: CollectedRecords) -> np.ndarray:
    """Assign a number to the id of each record, or to its text where it has none."""
    ids = records.id_numbers
    _, texts = np.unique(records.column("text_hash"), return_inverse=True)
    return np.where(ids < 0, ids.max(initial=-1) + 1 + texts, ids)


def count_repeated(records: CollectedRecords, counts: Counter) -> None:
    """Count ids, or texts without ids, that occur again with other labels.

    Of these ids those of the same text are also counted.
    """
    keys = records.id_numbers
    texts = records.column("text_hash")
    has_ids = (keys >= 0).any()
    if not has_ids:
        _, keys = np.unique(texts, return_inverse=True)
    rows = _find_repeated_rows(keys)
    _, firsts, numbers = np.unique(keys[rows], return_index=True, return_inverse=True)
    label_hashes = []
    for row in rows.tolist():
        label_hashes.append(hash(frozenset(records.labels.get_labels(row).tolist())))
    labels = np.array(label_hashes, np.int64)
    has_other_labels = labels != labels[firsts[numbers]]
    different = np.unique(numbers[has_other_labels])
    if not len(different):
        return
    kind = "ids" if has_ids else "texts"
    counts[f"{kind}_with_different_labels"] += len(different)
    if has_ids:
        others = np.unique(numbers[texts[rows] != texts[rows[firsts[numbers]]]])
        counts["ids_with_different_labels_alike"] += len(np.setdiff1d(different, others))
        first = rows[firsts[different]].min()
        counts.setdefault("first_id_with_different_labels", records.texts("id")[first])


def _find_repeated_rows(keys: np.ndarray) -> np.ndarray:
    """Find the rows whose key is not negative and occurs more than once."""
    _, numbers, amounts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.flatnonzero((amounts[numbers] > 1) & (keys >= 0))
