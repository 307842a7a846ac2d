"""Numbers and categories beside a text, as features.

As scikit-learn's StandardScaler and OneHotEncoder(handle_unknown="ignore") make them, but that a number outside of
those of training counts as the nearest of them, and a category of one training record has no feature. The marks in
their names are in no word: ``price (number)``, ``publisher=Springer``, ``publisher (missing)``.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from math import isnan, nan

import numpy as np
import scipy

from ovaflow.reading.cells import category_of, number_of
from ovaflow.reading.columns import split_names
from ovaflow.reading.glance import in_words_of_categories, in_words_of_numbers
from ovaflow.sparse.csr import NOWHERE, beside, columns_of, from_scipy

FEWEST = 2
"""Training records with a category, or without one, from which on that is a feature."""
_MISSING = " (missing)"


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
        least, most = float(known.min()), float(known.max())
        # rounding makes the deviation of equal numbers other than 0
        deviation = float(known.std()) if most > least else 1.0
        n_missing = sum(map(isnan, values))
        return cls(name, float(known.mean()), deviation, least, most, n_missing)

    @property
    def features(self):
        return [f"{self.name} (number)", *([self.name + _MISSING] if self.n_missing else [])]

    def transform(self, values):
        """Features of some values: float64 (n, 1 or 2)."""
        numbers = np.array(values, np.float64)
        is_missing = np.isnan(numbers)
        scaled = (np.clip(numbers, self.least, self.most) - self.mean) / self.deviation
        columns = [np.where(is_missing, 0, scaled), is_missing][: len(self.features)]
        return scipy.sparse.csr_array(np.stack(columns, axis=1))

    @property
    def in_words(self):
        return in_words_of_numbers(self.name, (self.least, self.most), self.n_missing)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, each with a feature of its own; that of the empty name says that there is none."""

    name: str
    categories: list
    n_different: int  # with those that have no feature
    n_missing: int

    @classmethod
    def fit(cls, name, values):
        amounts = Counter(values)
        frequent = sorted(each for each, amount in amounts.items() if amount >= FEWEST)
        n_missing = amounts.pop("", 0)
        return cls(name, frequent, len(amounts), n_missing)

    @property
    def features(self):
        return [f"{self.name}={each}" if each else self.name + _MISSING for each in self.categories]

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
    def in_words(self):
        once = self.n_different - sum(map(bool, self.categories))
        words = in_words_of_categories(self.name, self.n_different, self.n_missing)
        return f"{words}, {once:,} in one record alone" if once else words


@dataclass(frozen=True)
class ColumnFeatures:
    """Columns of numbers and of categories whose features are beside those of a text, all with the same weight."""

    numbers: tuple
    categories: tuple
    weight: float

    @classmethod
    def fit(cls, rows, settings):
        """From the values of training records, tuples of numbers and then of categories; None without columns."""
        numbers, categories = (split_names(each or "") for each in (settings.number_columns, settings.category_columns))
        if not numbers and not categories:
            return None
        missing = _missing(numbers, categories)
        values = list(zip(*(row or missing for row in rows), strict=True))
        fitted = [NumberColumn.fit(*each) for each in zip(numbers, values, strict=False)]
        named = [CategoryColumn.fit(*each) for each in zip(categories, values[len(numbers) :], strict=True)]
        return cls(tuple(fitted), tuple(named), settings.weight_beside_text)

    @cached_property
    def columns(self):
        return [*self.numbers, *self.categories]

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
        kinds = {"numbers": self.numbers, "categories": self.categories}
        return {kind: "; ".join(each.in_words for each in columns) for kind, columns in kinds.items() if columns}

    def values_of(self, record):
        """The values of a record, by column; ValueError if a number is none."""
        kinds = [*(number_of for _ in self.numbers), *(category_of for _ in self.categories)]
        return tuple(kind(record.get(name)) for name, kind in zip(self.column_names, kinds, strict=True))

    def transform(self, rows, n):
        """Features of the values of n records; an empty tuple stands for those of a record that has none.

        Without values there are no features: of names of labels nothing is known, not even that it is missing.
        """
        if not rows:
            return self._placed(from_scipy(scipy.sparse.csr_array((n, len(self.features)))))
        missing = _missing(self.numbers, self.categories)
        values = zip(*(row or missing for row in rows), strict=True)
        parts = [column.transform(each) for column, each in zip(self.columns, values, strict=True)]
        return self._placed(from_scipy(self.weight * scipy.sparse.hstack(parts, "csr")))

    def _placed(self, matrix):
        # no words, so that they stay where a text is cut
        return matrix._replace(places=np.full(len(matrix.data), NOWHERE, np.uint16))

    @property
    def parameters(self):
        """What :meth:`from_parameters` rebuilds it from, besides the names of its features."""
        numbers = [asdict(each) for each in self.numbers]
        categories = [asdict(each) | {"categories": len(each.categories)} for each in self.categories]
        return {"numbers": numbers, "categories": categories, "weight": self.weight, "features": len(self.features)}

    @classmethod
    def from_parameters(cls, parameters, feature_names):
        """Rebuild those of a dataset or model, whose last features they are; None where there are none."""
        stored = parameters.get(KEY)
        if stored is None:
            return None
        numbers = tuple(NumberColumn(**each) for each in stored["numbers"])
        ends = np.cumsum([each["categories"] for each in reversed(stored["categories"])])[::-1].tolist()
        categories = []
        for each, end in zip(stored["categories"], ends, strict=True):
            prefix, first = f"{each['name']}=", len(feature_names) - end
            own = feature_names[first : first + each["categories"]]
            names = [name.removeprefix(prefix) if name.startswith(prefix) else "" for name in own]
            categories.append(CategoryColumn(**each | {"categories": names}))
        return cls(numbers, tuple(categories), stored["weight"])


def _missing(numbers, categories):
    """The values of a record that has none."""
    return (*(nan for _ in numbers), *("" for _ in categories))


KEY = "columns"
"""Parameter of datasets and models that have such features."""


def of_words(X, parameters):
    """The features of a dataset or model without such ones; X itself where there are none."""
    n = n_beside(parameters)
    if n == 0:
        return X
    end = X.n_columns - bool(parameters.get("bias"))
    return beside(columns_of(X, 0, end - n), columns_of(X, end, X.n_columns))


def n_beside(parameters):
    """How many of the features of a dataset or model are such ones, the last before the bias feature."""
    return parameters.get(KEY, {}).get("features", 0)
