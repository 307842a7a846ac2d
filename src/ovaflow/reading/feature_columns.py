"""Columns next to the text whose values are features; each kind is an entry of a registry.

Examples are the number of pages of a book and its publisher. Settings, readers, features, the model
and the service are made from the entry.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any, NamedTuple

from ovaflow.reading.columns import split_column_names
from ovaflow.registry import import_reference


@dataclass(frozen=True)
class ColumnKind:
    """A kind of column.

    Parameters
    ----------
    setting, sentence : str
        The setting that names such columns, and its description.
    plural : str
        People's word for its values.
    read : str or callable
        Returns the value of a cell's content, ``missing`` for None; or the import path of such a
        function.
    missing : float or str
        The value of an empty cell; all values have its type.
    describe : callable
        Describes a column, given its name and its values in some records, for people.
    features : str or type
        Makes features of a column: a class such as :class:`ovaflow.features.columns.NumberColumn`,
        or its import path.
    type : type
        The type of its values in JSON, ``float`` or ``str``.
    """

    setting: str
    sentence: str
    plural: str
    read: str | Callable[[Any], Any]
    missing: Any
    describe: Callable[[str, Sequence[Any]], str]
    features: str | type
    type: type

    @cached_property
    def parse_value(self) -> Callable[[Any], Any]:
        """The function that parses the content of a cell."""
        return import_reference(self.read)

    def is_missing(self, value: Any) -> bool:
        """Tell whether a value stands for an empty cell; nan is not equal to itself."""
        return value == self.missing or (value != value and self.missing != self.missing)


class FeatureColumn(NamedTuple):
    """A column next to the text."""

    name: str
    kind: ColumnKind


def _describe_number_values(name: str, values: Sequence[float]) -> str:
    present = [value for value in values if not isnan(value)]
    ends = (min(present), max(present)) if present else None
    return describe_numbers(name, ends, len(values) - len(present))


def describe_numbers(name: str, ends: tuple[float, float] | None, n_missing: int) -> str:
    """Describe a column of numbers by its smallest and largest, and the number of empty cells."""
    values = "no number"
    if ends is not None:
        low, high = ends
        values = f"{low:g} to {high:g}"
    return f"{name!r}, {values}, {n_missing:,} missing"


def _describe_category_values(name: str, values: Sequence[str]) -> str:
    categories = {value for value in values if value}
    return describe_categories(name, len(categories), values.count(""))


def describe_categories(name: str, n_categories: int, n_missing: int) -> str:
    """Describe a column of categories by their number and that of the empty cells."""
    return f"{name!r}, {n_categories:,} different, {n_missing:,} missing"


COLUMN_KINDS = [
    ColumnKind(
        setting="number_columns",
        sentence="column of numbers, or several, that are features next to the text: price,pages",
        plural="numbers",
        read="ovaflow.reading.cells:parse_number",
        missing=nan,
        describe=_describe_number_values,
        features="ovaflow.features.columns:NumberColumn",
        type=float,
    ),
    ColumnKind(
        setting="category_columns",
        sentence="column of categories, or several, that are features next to the text: "
        "publisher,language",
        plural="categories",
        read="ovaflow.reading.cells:parse_category",
        missing="",
        describe=_describe_category_values,
        features="ovaflow.features.columns:CategoryColumn",
        type=str,
    ),
]
"""Kinds of columns, in the order of a record's columns."""


def make_feature_columns(get_setting: Callable[[str], str | None]) -> tuple[FeatureColumn, ...]:
    """Make the columns that settings name.

    Parameters
    ----------
    get_setting : callable
        Returns the value of a setting by its name, such as ``"price,pages"``.
    """
    columns = []
    for kind in COLUMN_KINDS:
        names = split_column_names(get_setting(kind.setting) or "")
        columns += [FeatureColumn(name, kind) for name in names]
    return tuple(columns)


def make_missing_values(columns: Iterable[FeatureColumn]) -> tuple:
    """Make the values of a record whose cells are all empty."""
    return tuple(column.kind.missing for column in columns)
