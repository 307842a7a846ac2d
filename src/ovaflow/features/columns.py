"""Columns beside a text, as features: of numbers and of categories.

As scikit-learn's StandardScaler and OneHotEncoder(handle_unknown="ignore") make them, but that a
number outside of those of training counts as the nearest of them, and a category of one training
record has no feature. The marks in their names are in no word: ``price (number)``,
``publisher=Springer``, ``publisher (missing)``.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from math import isnan
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.reading.feature_columns import (
    COLUMN_KINDS,
    FeatureColumn,
    describe_categories,
    describe_numbers,
    make_feature_columns,
    make_missing_values,
)
from ovaflow.registry import import_reference
from ovaflow.sparse.csr import NO_POSITION, from_scipy, select_columns, stack_columns

FEWEST_CATEGORY_RECORDS = 2
"""Training records with a category, or without one, from which on that is a feature."""
_MISSING_SUFFIX = " (missing)"


class UsualValues(NamedTuple):
    """Values that training records have in a column; those of other records may differ."""

    least: float | None = None
    most: float | None = None
    known: tuple = ()


class FormField(NamedTuple):
    """How a form asks for the value of a column."""

    name: str
    is_number: bool
    usual: UsualValues


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, standardised; those that are missing are as the mean."""

    name: str
    mean: float
    deviation: float
    least: float
    most: float
    n_missing: int

    @classmethod
    def fit(cls, name, values):
        known = np.array([value for value in values if not isnan(value)] or [0.0])
        least = float(known.min())
        most = float(known.max())
        # rounding makes the deviation of equal numbers other than 0
        deviation = float(known.std()) if most > least else 1.0
        n_missing = sum(map(isnan, values))
        return cls(name, float(known.mean()), deviation, least, most, n_missing)

    @property
    def features(self):
        return [f"{self.name} (number)", *([self.name + _MISSING_SUFFIX] if self.n_missing else [])]

    def transform(self, values):
        """Features of some values: float64 (n, 1 or 2)."""
        numbers = np.array(values, np.float64)
        is_missing = np.isnan(numbers)
        scaled = (np.clip(numbers, self.least, self.most) - self.mean) / self.deviation
        columns = [np.where(is_missing, 0, scaled), is_missing][: len(self.features)]
        return scipy.sparse.csr_array(np.stack(columns, axis=1))

    @property
    def usual(self) -> UsualValues:
        return UsualValues(least=self.least, most=self.most)

    @property
    def in_words(self):
        return describe_numbers(self.name, (self.least, self.most), self.n_missing)

    @property
    def parameters(self):
        """What :meth:`from_parameters` rebuilds it from, besides the names of its features."""
        return asdict(self)

    @classmethod
    def n_features(cls, parameters):
        return 1 + bool(parameters["n_missing"])

    @classmethod
    def from_parameters(cls, parameters, feature_names):
        return cls(**parameters)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, each with a feature of its own; that of the empty name says that
    there is none.
    """

    name: str
    categories: list
    n_different: int  # with those that have no feature
    n_missing: int

    @classmethod
    def fit(cls, name, values):
        amounts = Counter(values)
        frequent = sorted(
            each for each, amount in amounts.items() if amount >= FEWEST_CATEGORY_RECORDS
        )
        n_missing = amounts.pop("", 0)
        return cls(name, frequent, len(amounts), n_missing)

    @property
    def features(self):
        return [
            f"{self.name}={each}" if each else self.name + _MISSING_SUFFIX
            for each in self.categories
        ]

    @cached_property
    def _places(self):
        return {each: place for place, each in enumerate(self.categories)}

    def transform(self, values):
        places = np.array([self._places.get(value, -1) for value in values], np.int64)
        rows = np.flatnonzero(places >= 0)
        return scipy.sparse.csr_array(
            (np.ones(len(rows)), (rows, places[rows])), shape=(len(places), len(self.categories))
        )

    @property
    def usual(self) -> UsualValues:
        return UsualValues(known=tuple(filter(None, self.categories)))

    @property
    def in_words(self):
        once = self.n_different - sum(map(bool, self.categories))
        words = describe_categories(self.name, self.n_different, self.n_missing)
        return f"{words}, {once:,} in one record alone" if once else words

    @property
    def parameters(self):
        """What :meth:`from_parameters` rebuilds it from, besides the names of its features."""
        return asdict(self) | {"categories": len(self.categories)}

    @classmethod
    def n_features(cls, parameters):
        return parameters["categories"]

    @classmethod
    def from_parameters(cls, parameters, feature_names):
        prefix = f"{parameters['name']}="
        names = [
            name.removeprefix(prefix) if name.startswith(prefix) else "" for name in feature_names
        ]
        return cls(**parameters | {"categories": names})


@dataclass(frozen=True)
class ColumnFeatures:
    """Columns whose features are beside those of a text, all with the same weight."""

    by_kind: dict  # the columns of each kind, by its plural
    weight: float

    @classmethod
    def fit(cls, rows, settings):
        """From the values of training records, tuples by column; None without columns."""
        columns = make_feature_columns(lambda name: getattr(settings, name))
        if not columns:
            return None
        values = zip(*(row or make_missing_values(columns) for row in rows), strict=True)
        by_kind = {kind.plural: [] for kind in COLUMN_KINDS}
        for column, of_column in zip(columns, values, strict=True):
            fitted = import_reference(column.kind.features).fit(column.name, of_column)
            by_kind[column.kind.plural].append(fitted)
        return cls(by_kind, settings.weight_beside_text)

    @cached_property
    def columns(self):
        return list(chain.from_iterable(self.by_kind.values()))

    @cached_property
    def beside(self):
        """The columns with their kinds, as records have them."""
        return [
            FeatureColumn(each.name, kind)
            for kind in COLUMN_KINDS
            for each in self.by_kind[kind.plural]
        ]

    @cached_property
    def column_names(self):
        return [column.name for column in self.columns]

    @cached_property
    def features(self):
        """Names of the features."""
        return list(chain.from_iterable(column.features for column in self.columns))

    @property
    def in_words(self):
        """What training records have in the columns, by kind."""
        return {
            kind: "; ".join(each.in_words for each in columns)
            for kind, columns in self.by_kind.items()
            if columns
        }

    @property
    def form_fields(self) -> list[FormField]:
        """How a form asks for the columns, in their order."""
        pairs = zip(self.beside, self.columns, strict=True)
        return [FormField(name, kind.type is float, column.usual) for (name, kind), column in pairs]

    def values_of(self, record):
        """The values of a record, by column; ValueError if one cannot be read."""
        return tuple(column.kind.parse_value(record.get(column.name)) for column in self.beside)

    def list_missing(self, values):
        """Return the names of the columns that a record lacks, given its values; an empty tuple
        stands for none.
        """
        pairs = zip(self.beside, values or make_missing_values(self.beside), strict=True)
        return [column.name for column, value in pairs if column.kind.is_missing(value)]

    def transform(self, rows, n):
        """Features of the values of n records; an empty tuple stands for those of a record that has
        none.

        Without values there are no features: of names of labels nothing is known, not even that it
        is missing.
        """
        if not rows:
            return self._placed(from_scipy(scipy.sparse.csr_array((n, len(self.features)))))
        values = zip(*(row or make_missing_values(self.beside) for row in rows), strict=True)
        parts = [column.transform(each) for column, each in zip(self.columns, values, strict=True)]
        return self._placed(from_scipy(self.weight * scipy.sparse.hstack(parts, "csr")))

    def _placed(self, matrix):
        # no words, so that they stay where a text is cut
        return matrix._replace(places=np.full(len(matrix.data), NO_POSITION, np.uint16))

    @property
    def parameters(self):
        """What :meth:`from_parameters` rebuilds it from, besides the names of its features."""
        stored = {
            kind: [column.parameters for column in columns]
            for kind, columns in self.by_kind.items()
        }
        return stored | {"weight": self.weight, "features": len(self.features)}

    @classmethod
    def from_parameters(cls, parameters, feature_names):
        """Rebuild those of a dataset or model, whose last features they are; None where there are
        none.
        """
        stored = parameters.get(COLUMNS_KEY)
        if stored is None:
            return None
        by_kind = {}
        first = len(feature_names) - stored["features"]
        for kind in COLUMN_KINDS:
            features = import_reference(kind.features)
            columns = []
            # a kind that came later is in no older model
            for each in stored.get(kind.plural, ()):
                end = first + features.n_features(each)
                columns.append(features.from_parameters(each, feature_names[first:end]))
                first = end
            by_kind[kind.plural] = columns
        return cls(by_kind, stored["weight"])


COLUMNS_KEY = "columns"
"""Parameter of datasets and models that have such features."""


def select_text_features(X, parameters):
    """The features of a dataset or model without such ones; X itself where there are none."""
    n = count_column_features(parameters)
    if n == 0:
        return X
    end = X.n_columns - bool(parameters.get("bias"))
    return stack_columns(select_columns(X, 0, end - n), select_columns(X, end, X.n_columns))


def count_column_features(parameters):
    """How many of the features of a dataset or model are such ones, the last before the bias
    feature.
    """
    return parameters.get(COLUMNS_KEY, {}).get("features", 0)
