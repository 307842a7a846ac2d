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
    rows = np.flatnonzero(list(map(bool, records.ids))) if has_ids else np.arange(records.n)
    keys = np.array(list(map(hash, records.ids))) if has_ids else records.hashes
    labels = np.array([hash(frozenset(each)) for each in records.labels])[rows]
    _, firsts, numbers = np.unique(keys[rows], return_index=True, return_inverse=True)
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
