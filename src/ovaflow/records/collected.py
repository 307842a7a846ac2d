"""The records of a corpus after one reading: tokens of texts, and what else they have."""

from array import array
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from ovaflow.features.tfidf import GrowingVector
from ovaflow.features.tokens import Tokens
from ovaflow.features.vocabulary import read_tokens, taken
from ovaflow.labels.lists import LabelLists
from ovaflow.reading.instances import FIELD
from ovaflow.records.drawing import hash_of
from ovaflow.records.splitting import group_numbers
from ovaflow.records.units import units_among, units_of_texts


class StoredTexts:
    """Texts one after the other; with a folder they are mapped from there."""

    def __init__(self, folder=None):
        self._bytes, self._ends = GrowingVector(np.uint8, folder), array("q", [0])
        self._rows = None

    def append(self, text):
        content = text.encode("utf-8", "surrogatepass")
        self._bytes.extend(np.frombuffer(content, np.uint8))
        self._ends.append(self._ends[-1] + len(content))

    def take(self, rows):
        """Some of the texts, which are not copied."""
        chosen = copy(self)
        chosen._rows = rows if self._rows is None else self._rows[rows]
        return chosen

    def __iter__(self):
        content = self._bytes.mapped()
        for row in range(len(self._ends) - 1) if self._rows is None else self._rows:
            yield content[self._ends[row] : self._ends[row + 1]].tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Collected:
    """The records of a corpus, row by row: tokens of texts, and what else they have."""

    tokens: Tokens
    labels: LabelLists
    ids: list  # empty where a record has none
    records: list  # what a report calls them
    hashes: np.ndarray  # uint64, of the texts
    sets: np.ndarray  # int64, of their sets of words; -1 without a word
    groups: np.ndarray | None  # int64, -1 for none
    times: list
    beside: list  # numbers and categories, empty tuples where these are not read
    weights: np.ndarray  # float32, of the losses
    extra: np.ndarray | None  # bool, of instances of extra files
    excerpts: StoredTexts
    rows: np.ndarray  # int64, ascending: which of the corpus they are
    units: np.ndarray | None = None  # int64: the first of those that no split parts from each; of training records

    @property
    def n(self):
        return len(self.records)

    def with_units(self, split):
        """Return the records with their units, by which a split does not part them."""
        return replace(self, units=units_of_texts(self.tokens, self.sets, self.groups, split))

    def take(self, rows, folder=None):
        """Some of the records, in ascending order."""
        if len(rows) == self.n:
            return self
        arrays = {name: getattr(self, name) for name in ("hashes", "sets", "groups", "weights", "extra", "rows")}
        arrays = {name: None if array is None else array[rows] for name, array in arrays.items()}
        arrays["units"] = None if self.units is None else units_among(self.units, rows)
        lists = {name: [getattr(self, name)[row] for row in rows] for name in ("ids", "records", "times", "beside")}
        tokens, labels, excerpts = taken(self.tokens, rows, folder), self.labels.take(rows), self.excerpts.take(rows)
        return Collected(tokens, labels, excerpts=excerpts, **arrays, **lists)


def collect(corpus, number_of, seed, threads=1, folder=None, excerpt=0):
    """Read a corpus once, with its labels as ``number_of`` numbers them; the first characters of texts are kept."""
    lists, ids, records = LabelLists(number_of), [], []
    groups, numbers, times, beside = array("q"), group_numbers(), [], []
    weights, extra = array("f"), array("b")
    hashes, excerpts = array("Q"), StoredTexts(folder)

    def texts():
        for instance in corpus:
            lists.append(instance.labels)
            ids.append(instance.id)
            records.append(instance.name)
            text = instance.text.replace(FIELD, " ")
            hashes.append(hash_of(text, seed))
            groups.append(numbers[instance.group])
            times.append(instance.time)
            beside.append(instance.beside)
            weights.append(instance.weight)
            extra.append(instance.extra)
            if excerpt:
                excerpts.append(text[:excerpt])
            yield instance.text

    tokens, sets = read_tokens(texts(), threads, folder)
    grouped = np.array(groups, np.int64) if len(numbers) > 1 else None
    weights, extra = np.array(weights, np.float32), np.array(extra, bool) if any(extra) else None
    hashes, rows = np.array(hashes, np.uint64), np.arange(len(ids))
    of_rows = hashes, sets, grouped, times, beside, weights, extra
    return Collected(tokens, lists, ids, records, *of_rows, excerpts, rows)
