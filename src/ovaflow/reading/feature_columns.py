"""Columns beside the text whose values are features: each kind is an entry here.

The number of pages of a book and its publisher are such columns; settings, readers, features, the
model and whoever asks it are made from the entry.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, NamedTuple

from ovaflow.reading.columns import split_column_names
from ovaflow.registry import import_reference


@dataclass(frozen=True)
class ColumnKind:
    """What the values of a kind of column are.

    Parameters
    ----------
    setting, sentence : str
        The setting that names such columns, and what it says.
    plural : str
        What people call its values.
    read : str or callable
        Gives the value of a cell's content, of None ``missing``; or the place of such a function.
    missing : float or str
        The value where there is none; all values have its type.
    in_words : callable
        Says of a column's name and its values in some records what a person should see.
    features : str or type
        Makes features of a column: a class such as :class:`ovaflow.features.columns.NumberColumn`,
    or its place. type : type
        Of its values in JSON, ``float`` or ``str``.
    """

    setting: str
    sentence: str
    plural: str
    read: str | Callable[[Any], Any]
    missing: Any
    in_words: Callable[[str, Sequence[Any]], str]
    features: str | type
    type: type

    @cached_property
    def parse_value(self) -> Callable[[Any], Any]:
        """What gives the value of a cell's content."""
        return import_reference(self.read)

    def is_missing(self, value: Any) -> bool:
        """Whether a value says that there is none; nan is not equal to itself."""
        return value == self.missing or (value != value and self.missing != self.missing)


class FeatureColumn(NamedTuple):
    """A column beside the text."""

    name: str
    kind: ColumnKind


def _numbers_in_words(name: str, values: Sequence[float]) -> str:
    known = [value for value in values if value == value]
    return describe_numbers(
        name, (min(known), max(known)) if known else None, len(values) - len(known)
    )


def describe_numbers(name: str, ends: tuple[float, float] | None, n_missing: int) -> str:
    """A column of numbers: its least and largest, and how many are missing."""
    values = f"{ends[0]:g} to {ends[1]:g}" if ends else "no number"
    return f"{name!r}, {values}, {n_missing:,} missing"


def _categories_in_words(name: str, values: Sequence[str]) -> str:
    return describe_categories(name, len({*values} - {""}), values.count(""))


def describe_categories(name: str, different: int, n_missing: int) -> str:
    """A column of categories: how many different ones there are, and how many are missing."""
    return f"{name!r}, {different:,} different, {n_missing:,} missing"


COLUMN_KINDS = [
    ColumnKind(
        setting="number_columns",
        sentence="column of numbers, or several, that are features beside the text: price,pages",
        plural="numbers",
        read="ovaflow.reading.cells:parse_number",
        missing=nan,
        in_words=_numbers_in_words,
        features="ovaflow.features.columns:NumberColumn",
        type=float,
    ),
    ColumnKind(
        setting="category_columns",
        sentence="column of categories, or several, that are features beside the text: publisher,language",
        plural="categories",
        read="ovaflow.reading.cells:parse_category",
        missing="",
        in_words=_categories_in_words,
        features="ovaflow.features.columns:CategoryColumn",
        type=str,
    ),
]
"""Columns of a record are in this order."""


def make_feature_columns(chosen: Callable[[str], str | None]) -> tuple[FeatureColumn, ...]:
    """The columns that settings name, each of which ``chosen`` gives."""
    return tuple(
        FeatureColumn(name, kind)
        for kind in COLUMN_KINDS
        for name in split_column_names(chosen(kind.setting) or "")
    )


def make_missing_values(columns: Iterable[FeatureColumn]) -> tuple:
    """The values of a record that has none."""
    return tuple(column.kind.missing for column in columns)
