"""Records that occur more than once: by their ids, or by their texts where they have none."""

import numpy as np

from ovaflow.features.tokens import Numbers


def last_rows(records):
    """Rows without a later one of the same id."""
    last = {name or row: row for row, name in enumerate(records.ids)}
    return np.sort(np.fromiter(last.values(), np.int64, len(last)))


def joined_rows(records):
    """The first row of each record, and for each row the place of its record among these."""
    places = Numbers()
    keys = zip(records.ids, records.hashes.tolist(), strict=True)
    numbers = np.array([places[name or text] for name, text in keys], np.int64)
    return np.unique(numbers, return_index=True)[1], numbers


def count_repeated(records, counts):
    """Count ids, or texts without ids, that occur again with other labels, and those whose text is the same."""
    has_ids = any(records.ids)
    rows = _repeated_rows(records, has_ids)
    if not len(rows):
        return
    keys = [records.ids[row] for row in rows] if has_ids else records.hashes[rows]
    _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
    labels = np.array([hash(frozenset(records.labels.of(row).tolist())) for row in rows])
    again = labels != labels[firsts[numbers]]
    different = np.unique(numbers[again])
    if not len(different):
        return
    kind = "ids" if has_ids else "texts"
    counts[f"{kind}_with_different_labels"] += len(different)
    if has_ids:
        texts = records.hashes[rows]
        others = np.unique(numbers[texts != texts[firsts[numbers]]])
        counts["ids_with_different_labels_alike"] += len(np.setdiff1d(different, others))
        counts.setdefault("first_id_with_different_labels", records.ids[rows[firsts[different]].min()])


def _repeated_rows(records, has_ids):
    """Rows whose id, or whose text without ids, occurs more than once."""
    keys = np.array(list(map(hash, records.ids))) if has_ids else records.hashes
    _, numbers, amounts = np.unique(keys, return_inverse=True, return_counts=True)
    repeated = amounts[numbers] > 1
    if has_ids:
        repeated &= np.array(list(map(bool, records.ids)))
    return np.flatnonzero(repeated)
