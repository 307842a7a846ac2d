"""The records of a corpus after one reading: tokens of texts, and what else they have."""

from array import array
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ovaflow.features.tfidf import GrowingVector
from ovaflow.features.tokens import Tokens
from ovaflow.features.vocabulary import read_tokens, take_tokens
from ovaflow.labels.lists import LabelLists
from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.records.columns import GrowingColumns, TextColumn, number_texts, read_feature_values
from ovaflow.records.drawing import hash_content
from ovaflow.records.splitting import make_group_numbers
from ovaflow.records.units import find_text_units, select_units


class StoredTexts:
    """Texts one after the other; with a folder they are mapped from there."""

    def __init__(self, folder=None) -> None:
        self._bytes = GrowingVector(np.uint8, folder)
        self._ends = array("q", [0])
        self._rows = None

    def append(self, text) -> None:
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
            yield (
                content[self._ends[row] : self._ends[row + 1]]
                .tobytes()
                .decode("utf-8", "surrogatepass")
            )


@dataclass(frozen=True)
class CollectedRecords:
    """The records of a corpus: tokens of texts, labels, and one table of what else they have."""

    tokens: Tokens
    labels: LabelLists
    columns: pa.Table  # of the whole corpus
    rows: np.ndarray  # int64 (n,), ascending: which of the corpus they are
    word_sets: (
        np.ndarray
    )  # int64 (n,): numbers that texts of the same words have in common; -1 without a word
    excerpts: StoredTexts
    units: np.ndarray | None = (
        None  # int64 (n,): the first record of each one's unit; of training records
    )

    @property
    def n(self):
        return len(self.rows)

    def column(self, name):
        """Return a column of numbers: (n,)."""
        return self.columns[name].to_numpy()[self.rows]

    def texts(self, name):
        """Return a column of texts."""
        return TextColumn(self.columns[name], self.rows)

    @property
    def id_numbers(self):
        """A number for each different id, -1 for records without one: int64 (n,)."""
        return number_texts(self.columns["id"])[self.rows]

    @property
    def names(self):
        """What a report calls each record."""
        return self.texts("name")

    @property
    def beside(self):
        """Values of the columns beside the texts, if there are any."""
        return read_feature_values(self.columns, self.rows)

    @property
    def extra(self):
        """Which records are of extra files: bool (n,)."""
        return self.column("extra")

    def with_units(self, split):
        """Return the records with their units, by which a split does not part them."""
        return replace(
            self, units=find_text_units(self.tokens, self.word_sets, self.column("group"), split)
        )

    def take(self, places, folder=None):
        """Some of the records, in ascending order."""
        if len(places) == self.n:
            return self
        return replace(
            self,
            tokens=take_tokens(self.tokens, places, folder),
            labels=self.labels.take(places),
            rows=self.rows[places],
            word_sets=self.word_sets[places],
            excerpts=self.excerpts.take(places),
            units=None if self.units is None else select_units(self.units, places),
        )


def collect_records(corpus, number_of, seed, threads=1, folder=None, excerpt=0, beside=()):
    """Read a corpus once, with its labels as ``number_of`` numbers them.

    The first ``excerpt`` characters of texts are kept, and the values of columns that are
    ``beside`` them.
    """
    labels = LabelLists(number_of)
    numbers = make_group_numbers()
    columns = GrowingColumns(beside, folder)
    excerpts = StoredTexts(folder)
    without = (None,) * len(beside)

    def texts():
        for instance in corpus:
            labels.append(instance.labels)
            text = instance.text.replace(FIELD_SEPARATOR, " ")
            time = instance.time
            part = None
            if isinstance(time, str):
                time, part = None, time
            columns.append(
                (
                    instance.id,
                    instance.name,
                    hash_content(text, seed),
                    numbers[instance.group],
                    time,
                    part,
                    instance.weight,
                    instance.extra,
                    *(instance.beside or without),
                )
            )
            if excerpt:
                excerpts.append(text[:excerpt])
            yield instance.text

    tokens, sets = read_tokens(texts(), threads, folder)
    return CollectedRecords(tokens, labels, columns.table(), np.arange(len(sets)), sets, excerpts)
