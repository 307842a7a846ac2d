"""The records of a corpus after one reading: tokens of texts, and everything else."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa

from ovaflow.console.errors import StrPath
from ovaflow.features.tfidf import GrowingVector
from ovaflow.features.tokens import PLAIN, Numbering, Tokens
from ovaflow.features.vocabulary import read_tokens, take_tokens
from ovaflow.labels.lists import LabelLists
from ovaflow.reading.feature_columns import FeatureColumn
from ovaflow.reading.instances import FIELD_SEPARATOR, TextInstance
from ovaflow.records.columns import GrowingColumns, TextColumn, number_texts, read_feature_values
from ovaflow.records.drawing import hash_content
from ovaflow.records.units import find_text_units, select_units


class StoredTexts:
    """Texts one after the other, in UTF-8.

    Parameters
    ----------
    folder : path, optional
        Folder of the temporary file that they are mapped from; by default they are in memory.
    """

    def __init__(self, folder: StrPath | None = None) -> None:
        self._bytes = GrowingVector(np.uint8, folder)
        self._ends = array("q", [0])
        self._rows: np.ndarray | None = None

    def append(self, text: str) -> None:
        """Append a text."""
        content = text.encode("utf-8", "surrogatepass")
        self._bytes.extend(np.frombuffer(content, np.uint8))
        self._ends.append(self._ends[-1] + len(content))

    def take(self, rows: np.ndarray) -> Self:
        """Select some of the texts, without copying them."""
        selected = copy(self)
        selected._rows = rows if self._rows is None else self._rows[rows]
        return selected

    def __iter__(self) -> Iterator[str]:
        content = self._bytes.mapped()
        rows = range(len(self._ends) - 1) if self._rows is None else self._rows
        for row in rows:
            encoded = content[self._ends[row] : self._ends[row + 1]]
            yield encoded.tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class CollectedRecords:
    """Some records of a corpus: tokens of texts, labels, and one table of everything else.

    Parameters
    ----------
    tokens : Tokens
    labels : LabelLists
    columns : pyarrow.Table
        Columns of all records of the corpus; see :data:`ovaflow.records.columns.RECORD_COLUMNS`.
    rows : int64 (n,)
        Rows of these records in the corpus, ascending.
    word_sets : int64 (n,)
        Numbers that texts of the same words have in common; -1 for a text without a word.
    excerpts : StoredTexts
        Beginnings of the texts.
    units : int64 (n,), optional
        The first record of each one's unit; of training records.
    """

    tokens: Tokens
    labels: LabelLists
    columns: pa.Table
    rows: np.ndarray
    word_sets: np.ndarray
    excerpts: StoredTexts
    units: np.ndarray | None = None

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.rows)

    def column(self, name: str) -> np.ndarray:
        """Return a column of numbers: (n,)."""
        return self.columns[name].to_numpy()[self.rows]

    def texts(self, name: str) -> TextColumn:
        """Return a column of texts."""
        return TextColumn(self.columns[name], self.rows)

    @property
    def id_numbers(self) -> np.ndarray:
        """A number for each different id, -1 for records without one: int64 (n,)."""
        return number_texts(self.columns["id"])[self.rows]

    @property
    def names(self) -> TextColumn:
        """The name of each record in reports."""
        return self.texts("name")

    @property
    def feature_values(self) -> list[tuple] | None:
        """Values of the columns next to the texts; None without such columns."""
        return read_feature_values(self.columns, self.rows)

    @property
    def extra(self) -> np.ndarray:
        """A mask of the records of extra files: bool (n,)."""
        return self.column("extra")

    def with_units(self, split: str) -> Self:
        """Return the records with their units, which a split keeps together."""
        groups = self.column("group")
        return replace(self, units=find_text_units(self.tokens, self.word_sets, groups, split))

    def take(self, places: np.ndarray, folder: StrPath | None = None) -> Self:
        """Select some of the records by their places, which ascend."""
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


def collect_records(
    corpus: Iterable[TextInstance],
    number_label: Callable[[str], int],
    seed: int,
    *,
    threads: int = 1,
    folder: StrPath | None = None,
    excerpt: int = 0,
    feature_columns: Sequence[FeatureColumn] = (),
    word_kind: str = PLAIN,
) -> CollectedRecords:
    """Read a corpus once.

    Parameters
    ----------
    corpus : iterable of TextInstance
    number_label : callable
        Numbers a label by its name.
    seed : int
        Seed of the hashes of texts.
    threads : int
        Number of threads that find tokens.
    folder : path, optional
        Folder of temporary files that large arrays are mapped from.
    excerpt : int
        Number of characters of each text that are kept.
    feature_columns : sequence of FeatureColumn
        Columns next to the text whose values are kept.
    word_kind : str
        Kind of words.
    """
    labels = LabelLists(number_label)
    columns = GrowingColumns(feature_columns, folder)
    excerpts = StoredTexts(folder)

    def store_records() -> Iterator[str]:
        # records without a group have the number -1
        group_numbers = Numbering({"": -1})
        for instance in corpus:
            labels.append(instance.labels)
            text = instance.text.replace(FIELD_SEPARATOR, " ")
            columns.append(_make_row(instance, text, seed, group_numbers, len(feature_columns)))
            if excerpt:
                excerpts.append(text[:excerpt])
            yield instance.text

    tokens, word_sets = read_tokens(store_records(), threads, folder, word_kind)
    rows = np.arange(len(word_sets))
    return CollectedRecords(tokens, labels, columns.table(), rows, word_sets, excerpts)


def _make_row(
    instance: TextInstance,
    text: str,
    seed: int,
    group_numbers: Numbering,
    n_feature_columns: int,
) -> tuple:
    """Make the row of a record in the table of columns."""
    # a column says either the time or the part of a split
    time = instance.time
    part = None
    if isinstance(time, str):
        part = time
        time = None
    feature_values = instance.feature_values or (None,) * n_feature_columns
    return (
        instance.id,
        instance.name,
        hash_content(text, seed),
        group_numbers[instance.group],
        time,
        part,
        instance.weight,
        instance.extra,
        *feature_values,
    )
