"""Texts with labels, read in one pass: their features, label lists, names of records and beginnings."""

from typing import Any, NamedTuple

from ovaflow.data.labels import LabelLists
from ovaflow.data.readers.texts import FIELD


class Corpus(NamedTuple):
    """What one pass over instances leaves; ``features`` are what its ``count`` made of the texts."""

    features: Any
    labels: LabelLists
    records: list
    excerpts: list


def read_corpus(instances, labels, count, excerpt=0):
    """Read instances once: a :class:`Corpus`.

    ``count`` takes the texts one by one and returns their features. ``labels`` gives numbers to labels. ``excerpt`` are
    the characters kept of each text.
    """
    lists, records, excerpts = LabelLists(labels.number_of), [], []

    def texts():
        for instance in instances:
            lists.append(instance.labels)
            records.append(instance.name)
            if excerpt:
                excerpts.append(instance.text[:excerpt].replace(FIELD, " "))
            yield instance.text

    return Corpus(count(texts()), lists, records, excerpts)
