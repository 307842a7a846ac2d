"""Features of columns next to a text: of numbers and of categories.

They are those of scikit-learn's StandardScaler and OneHotEncoder(handle_unknown="ignore"), with two
differences: a number outside of the range of training counts as the nearest number in it, and a
category of one training record has no feature. The marks in their names are in no word: ``price
(number)``, ``publisher=Springer``, ``publisher (missing)``.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from math import isnan
from typing import Any, NamedTuple

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
from ovaflow.sparse.csr import CSR, NO_POSITION, from_scipy, select_columns, stack_columns

FEWEST_CATEGORY_RECORDS = 2
"""Training records with a category, or without one, from which on that is a feature."""
_MISSING_SUFFIX = " (missing)"
"""End of the name of the feature of records without a value."""


class UsualValues(NamedTuple):
    """Values that training records have in a column; those of other records may differ."""

    least: float | None = None
    most: float | None = None
    known: tuple[str, ...] = ()


class FormField(NamedTuple):
    """A field of a form that asks for the value of a column."""

    name: str
    is_number: bool
    usual: UsualValues


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, standardized; missing ones count as the mean."""

    name: str
    mean: float
    deviation: float
    least: float
    most: float
    n_missing: int

    @classmethod
    def fit(cls, name: str, values: Sequence[float]) -> "NumberColumn":
        """Fit the column to the values of training records."""
        present = [value for value in values if not isnan(value)]
        known = np.array(present or [0.0])
        least = float(known.min())
        most = float(known.max())
        # rounding makes the deviation of equal numbers other than 0
        deviation = float(known.std()) if most > least else 1.0
        return cls(
            name=name,
            mean=float(known.mean()),
            deviation=deviation,
            least=least,
            most=most,
            n_missing=len(values) - len(present),
        )

    @property
    def features(self) -> list[str]:
        """Names of its features."""
        names = [f"{self.name} (number)"]
        if self.n_missing:
            names.append(self.name + _MISSING_SUFFIX)
        return names

    def transform(self, values: Sequence[float]) -> "scipy.sparse.csr_array":
        """Compute the features of some values: float64 (n, 1 or 2)."""
        numbers = np.array(values, np.float64)
        is_missing = np.isnan(numbers)
        scaled = (np.clip(numbers, self.least, self.most) - self.mean) / self.deviation
        columns = [np.where(is_missing, 0, scaled), is_missing][: len(self.features)]
        return scipy.sparse.csr_array(np.stack(columns, axis=1))

    @property
    def usual(self) -> UsualValues:
        """Values of training records."""
        return UsualValues(least=self.least, most=self.most)

    @property
    def in_words(self) -> str:
        """Description for people."""
        return describe_numbers(self.name, (self.least, self.most), self.n_missing)

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters for :meth:`from_parameters`, apart from the names of features."""
        return asdict(self)

    @classmethod
    def n_features(cls, parameters: Mapping[str, Any]) -> int:
        """Return the number of features of a column with these parameters."""
        return 2 if parameters["n_missing"] else 1

    @classmethod
    def from_parameters(
        cls, parameters: Mapping[str, Any], feature_names: Sequence[str]
    ) -> "NumberColumn":
        """Rebuild a column from its parameters and the names of its features."""
        return cls(**parameters)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, each with a feature of its own.

    Attributes
    ----------
    name : str
        Name of the column.
    categories : list of str
        Categories with a feature; the empty one is that of records without a category.
    n_different : int
        Number of different categories, also of those that have no feature.
    n_missing : int
        Number of training records without a category.
    """

    name: str
    categories: list[str]
    n_different: int
    n_missing: int

    @classmethod
    def fit(cls, name: str, values: Sequence[str]) -> "CategoryColumn":
        """Fit the column to the values of training records."""
        amounts = Counter(values)
        frequent = sorted(
            each for each, amount in amounts.items() if amount >= FEWEST_CATEGORY_RECORDS
        )
        n_missing = amounts.pop("", 0)
        return cls(name, frequent, len(amounts), n_missing)

    @property
    def features(self) -> list[str]:
        """Names of its features."""
        names = []
        for category in self.categories:
            if category:
                names.append(f"{self.name}={category}")
            else:
                names.append(self.name + _MISSING_SUFFIX)
        return names

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {category: number for number, category in enumerate(self.categories)}

    def transform(self, values: Sequence[str]) -> "scipy.sparse.csr_array":
        """Compute the features of some values: ones, (n, number of features)."""
        numbers = np.array([self._numbers.get(value, -1) for value in values], np.int64)
        rows = np.flatnonzero(numbers >= 0)
        entries = (np.ones(len(rows)), (rows, numbers[rows]))
        return scipy.sparse.csr_array(entries, shape=(len(numbers), len(self.categories)))

    @property
    def usual(self) -> UsualValues:
        """Values of training records."""
        return UsualValues(known=tuple(category for category in self.categories if category))

    @property
    def in_words(self) -> str:
        """Description for people."""
        n_frequent = len([category for category in self.categories if category])
        n_single = self.n_different - n_frequent
        words = describe_categories(self.name, self.n_different, self.n_missing)
        return f"{words}, {n_single:,} in one record alone" if n_single else words

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters for :meth:`from_parameters`, apart from the names of features."""
        return asdict(self) | {"categories": len(self.categories)}

    @classmethod
    def n_features(cls, parameters: Mapping[str, Any]) -> int:
        """Return the number of features of a column with these parameters."""
        return parameters["categories"]

    @classmethod
    def from_parameters(
        cls, parameters: Mapping[str, Any], feature_names: Sequence[str]
    ) -> "CategoryColumn":
        """Rebuild a column from its parameters and the names of its features."""
        prefix = f"{parameters['name']}="
        categories = []
        for name in feature_names:
            categories.append(name.removeprefix(prefix) if name.startswith(prefix) else "")
        return cls(**{**parameters, "categories": categories})


@dataclass(frozen=True)
class ColumnFeatures:
    """Columns whose features follow those of a text.

    Attributes
    ----------
    by_kind : dict
        Columns of each kind, by its plural.
    weight : float
        Factor of all their features.
    """

    by_kind: dict[str, list[Any]]
    weight: float

    @classmethod
    def fit(cls, rows: Sequence[tuple], settings: Any) -> "ColumnFeatures | None":
        """Fit columns to the values of training records, tuples by column; None without columns."""
        columns = make_feature_columns(lambda name: getattr(settings, name))
        if not columns:
            return None
        by_kind: dict[str, list[Any]] = {kind.plural: [] for kind in COLUMN_KINDS}
        values_by_column = _transpose_rows(rows, columns)
        for column, values in zip(columns, values_by_column, strict=True):
            fitted = import_reference(column.kind.features).fit(column.name, values)
            by_kind[column.kind.plural].append(fitted)
        return cls(by_kind, settings.weight_beside_text)

    @cached_property
    def columns(self) -> list[Any]:
        """All columns, kind by kind."""
        return list(chain.from_iterable(self.by_kind.values()))

    @cached_property
    def feature_columns(self) -> list[FeatureColumn]:
        """The columns with their kinds, as records have them."""
        feature_columns = []
        for kind in COLUMN_KINDS:
            for column in self.by_kind[kind.plural]:
                feature_columns.append(FeatureColumn(column.name, kind))
        return feature_columns

    @cached_property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @cached_property
    def features(self) -> list[str]:
        """Names of the features."""
        return list(chain.from_iterable(column.features for column in self.columns))

    @property
    def in_words(self) -> dict[str, str]:
        """Descriptions of the values of training records, by kind."""
        descriptions = {}
        for kind, columns in self.by_kind.items():
            if columns:
                descriptions[kind] = "; ".join(column.in_words for column in columns)
        return descriptions

    @property
    def form_fields(self) -> list[FormField]:
        """Fields of a form that asks for the columns, in their order."""
        fields = []
        for (name, kind), column in zip(self.feature_columns, self.columns, strict=True):
            fields.append(FormField(name, kind.type is float, column.usual))
        return fields

    def parse_record(self, record: Mapping[str, Any]) -> tuple:
        """Parse the values of a record, by column; ValueError if one cannot be read."""
        values = []
        for column in self.feature_columns:
            values.append(column.kind.parse_value(record.get(column.name)))
        return tuple(values)

    def list_missing(self, values: tuple) -> list[str]:
        """List the names of the columns that a record lacks, given its values.

        An empty tuple means a record without any.
        """
        values = values or make_missing_values(self.feature_columns)
        pairs = zip(self.feature_columns, values, strict=True)
        return [column.name for column, value in pairs if column.kind.is_missing(value)]

    def transform(self, rows: Sequence[tuple] | None, n: int) -> CSR:
        """Compute the features of n records.

        Parameters
        ----------
        rows : sequence of tuples
            Values of each record, by column; an empty tuple means a record without any. Without
            rows there are no features, not even that values are missing: names of labels have no
            columns.
        n : int
            Number of records.

        Returns
        -------
        matrix : CSR
            The features.
        """
        if not rows:
            empty = scipy.sparse.csr_array((n, len(self.features)))
            return self._set_places(from_scipy(empty))
        parts = []
        values_by_column = _transpose_rows(rows, self.feature_columns)
        for column, values in zip(self.columns, values_by_column, strict=True):
            parts.append(column.transform(values))
        stacked = scipy.sparse.hstack(parts, "csr")
        return self._set_places(from_scipy(self.weight * stacked))

    def _set_places(self, matrix: CSR) -> CSR:
        # no words, so that they stay where a text is truncated
        return matrix._replace(places=np.full(len(matrix.data), NO_POSITION, np.uint16))

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters for :meth:`from_parameters`, apart from the names of features."""
        stored: dict[str, Any] = {}
        for kind, columns in self.by_kind.items():
            stored[kind] = [column.parameters for column in columns]
        return stored | {"weight": self.weight, "features": len(self.features)}

    @classmethod
    def from_parameters(
        cls, parameters: Mapping[str, Any], feature_names: Sequence[str]
    ) -> "ColumnFeatures | None":
        """Rebuild the columns of a dataset or model; None where there are none.

        Their features are the last ones in ``feature_names``.
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
"""Parameter of datasets and models that have features of columns."""


def _transpose_rows(rows: Sequence[tuple], columns: Sequence[FeatureColumn]) -> Any:
    """Return the values of each column; an empty row has missing values."""
    return zip(*(row or make_missing_values(columns) for row in rows), strict=True)


def select_text_features(X: CSR, parameters: Mapping[str, Any]) -> CSR:
    """Select the features of texts, and the bias, of a dataset or model.

    X itself is returned where there are no features of columns.
    """
    n = count_column_features(parameters)
    if n == 0:
        return X
    n_bias_features = 1 if parameters.get("bias") else 0
    end = X.n_columns - n_bias_features
    return stack_columns(select_columns(X, 0, end - n), select_columns(X, end, X.n_columns))


def count_column_features(parameters: Mapping[str, Any]) -> int:
    """Count the features of columns of a dataset or model, the last before the bias feature."""
    return parameters.get(COLUMNS_KEY, {}).get("features", 0)
