"""Ids that occur more than once: records, perhaps corrected ones, that an export has again."""

from array import array

import numpy as np


def last_of_each_id(instances):
    """Whether there is no later record with the same id, for each record."""
    last, number = {}, -1
    for number, instance in enumerate(instances):
        last[instance.id or number] = number
    places = set(last.values())
    return [place in places for place in range(number + 1)]


class RepeatedIds:
    """Ids of records, and their labels as far as it takes to tell different ones."""

    def __init__(self):
        self._ids, self._labels = [], array("q")

    def add(self, instance):
        if instance.id:
            self._ids.append(instance.id)
            self._labels.append(hash(frozenset(instance.labels)))

    def count(self, counts):
        """Add the number of ids that have different labels, and the first of these ids."""
        if not self._ids:
            return
        ids, labels = np.array(list(map(hash, self._ids))), np.array(self._labels)
        _, firsts, numbers = np.unique(ids, return_index=True, return_inverse=True)
        different = firsts[np.unique(numbers[labels != labels[firsts[numbers]]])]
        if len(different):
            counts["ids_with_different_labels"] += len(different)
            counts.setdefault("first_id_with_different_labels", self._ids[different.min()])
