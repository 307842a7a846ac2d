"""The forms that labels come in: classes, indicators, lists; and predictions in the same form."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Number
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ovaflow.sparse.csr import CSR, from_scipy

Matrix = Any
"""Dense or sparse, as scikit-learn takes it: there is no type for all of it."""
Labels = Any
"""Classes, an indicator, or a sequence of sequences."""

CLASSES = "classes"
DENSE = "dense indicator"
SPARSE = "sparse indicator"
LISTS = "lists"
_LABEL_SEQUENCE = list | tuple | set | frozenset | np.ndarray
_NUMERIC_KINDS = "biufcM"
"""Kinds of arrays with numbers, truth values and NumPy's dates; scikit-learn refuses complex
numbers.
"""
_DATE_TYPES: dict[str, type[date]] = {"date": date, "datetime": datetime}


@dataclass(frozen=True)
class LabelForm:
    """The form in which labels come, and their names.

    Attributes
    ----------
    kind : str
        ``"classes"`` (one for each instance), ``"dense indicator"``, ``"sparse indicator"`` or
    ``"lists"``. classes : ndarray, shape (l,)
        Ascending, but for indicators whose columns have names.
    dtype : str
        Of an indicator.
    """

    kind: str
    classes: np.ndarray
    dtype: str = "<i8"

    @classmethod
    def of(cls, Y: Labels, names: Sequence[str] | None = None) -> Self:
        """Form of some labels, whose columns may have names; ValueError if Y holds no labels."""
        if Y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if scipy.sparse.issparse(Y):
            return cls(SPARSE, _make_column_labels(Y.shape[1], names), Y.dtype.str)
        columns = _get_column_names(Y) if names is None else names
        Y = _require_complete(Y)
        if _are_lists(Y):
            return cls(LISTS, np.unique(_flatten(Y)))
        Y = _check_labels(Y)
        if Y.ndim == 1:
            return cls(CLASSES, np.unique(Y))
        return cls(DENSE, _make_column_labels(Y.shape[1], columns), Y.dtype.str)

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], names: Sequence[str]) -> Self:
        """Form by the :attr:`parameters` in a model file; none are in models of the pipeline: a
        sparse indicator.
        """
        classes = _parse_classes(names, parameters.get("classes"))
        return cls(parameters.get("kind", SPARSE), classes, parameters.get("indicator", "<i8"))

    @property
    def parameters(self) -> dict[str, str]:
        """What a model file records of the form."""
        first = next(iter(self.classes), None)
        # a datetime is a date, too: the last is the closest
        dates = [name for name, kind in _DATE_TYPES.items() if isinstance(first, kind)]
        return {
            "kind": self.kind,
            "classes": [self.classes.dtype.str, *dates][-1],
            "indicator": self.dtype,
        }

    def matrix(self, Y: Labels) -> CSR:
        """Labels (n, l) as every method takes them, without those that are not among the classes."""
        if scipy.sparse.issparse(Y):
            return self._indicated(Y)
        columns = _get_column_names(Y)
        Y = _require_complete(Y)
        rows = Y
        if not _are_lists(Y):
            Y = _check_labels(Y)
            if Y.ndim == 2:
                return self._indicated(Y if columns is None else self._in_order(Y, columns))
            rows = Y[:, None]
        lengths = [len(labels) for labels in rows]
        owners = np.repeat(np.arange(len(lengths)), lengths)
        places, known = self.places(_flatten(rows))
        shape = len(lengths), len(self.classes)
        ones = np.ones(known.sum())
        matrix = from_scipy(scipy.sparse.coo_array((ones, (owners[known], places[known])), shape))
        # a label may stand twice in a list
        return matrix._replace(data=np.ones_like(matrix.data))

    def _indicated(self, Y: Matrix) -> CSR:
        """An indicator; ValueError if it holds votes, weights, -1 or nan."""
        matrix = scipy.sparse.csr_array(Y, copy=True)
        if matrix.shape[1] != len(self.classes):
            raise ValueError(
                f"Y has {matrix.shape[1]} columns where {len(self.classes)} are expected"
            )
        matrix.sum_duplicates()
        wrong = ~np.isin(matrix.data, (0, 1))
        if wrong.any():
            found = matrix.tocoo()
            value, row, column = (array[wrong][0] for array in (found.data, found.row, found.col))
            place = f"y has {value} for instance {row} and label {self.classes[column]}"
            raise ValueError(f"Unknown label type: {place}; an indicator holds only 0 and 1")
        matrix.eliminate_zeros()
        return from_scipy(matrix)

    def _in_order(self, Y: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The values of a data frame, in the order of the classes where these are its columns."""
        order = {name: column for column, name in enumerate(columns.tolist())}
        classes = self.classes.tolist()
        if len(order) != len(classes) or order.keys() != set(classes):
            return Y
        return Y[:, [order[name] for name in classes]]

    def places(self, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Columns of some labels, and which of the labels are classes."""
        labels = np.asarray(labels)
        if not labels.size or not len(self.classes):
            return np.zeros(labels.shape, int), np.zeros(labels.shape, bool)
        order = np.argsort(self.classes, kind="stable")
        ranks = np.searchsorted(self.classes, labels, sorter=order)
        places = order[np.minimum(ranks, len(order) - 1)]
        return places, self.classes[places] == labels

    def convert_predictions(self, predicted: CSR) -> Any:
        """Predictions in the form of the labels."""
        if self.kind == CLASSES:
            return self.classes[predicted.indices]
        if self.kind == LISTS:
            lists = (
                self.classes[ids] for ids in np.split(predicted.indices, predicted.indptr[1:-1])
            )
            return np.fromiter(lists, object, predicted.n_rows)
        indicator = predicted.to_scipy().astype(self.dtype)
        return indicator if self.kind == SPARSE else indicator.toarray()


def convert_to_indicators(true: Labels, predicted: Labels) -> tuple[Labels, Labels]:
    """Lists of labels as indicators of the labels in either of them; other forms as they are."""
    if not _are_lists(predicted):
        return true, predicted
    form = LabelForm.of([*true, *predicted])
    return form.matrix(true).to_scipy(), form.matrix(predicted).to_scipy()


def is_missing(value: Any) -> bool:
    """Whether this is what Python, NumPy or pandas have in the place of a missing value."""
    # pandas.NA, without importing pandas
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float | np.floating | np.datetime64 | datetime) and bool(
        value != value
    )


def _make_column_labels(count: int, names: Sequence[str] | np.ndarray | None) -> np.ndarray:
    if names is None:
        return np.arange(count)
    if len(names) != count:
        raise ValueError(f"{len(names)} label_names for {count} columns of Y")
    return _convert_to_array(names)


def _get_column_names(Y: Labels) -> np.ndarray | None:
    """Names of the columns of a data frame."""
    # the columns of a table of Arrow, which has no dtypes, are no names
    return np.asarray(Y.columns) if hasattr(Y, "columns") and hasattr(Y, "dtypes") else None


def _require_complete(Y: Labels) -> Labels:
    """Labels as a list or an array; ValueError if one is missing, or all of an instance."""
    if not isinstance(Y, list | tuple):
        Y = np.asarray(Y)
        if Y.dtype.kind not in "OTM":
            return Y
    for row, labels in enumerate(Y):
        for label in labels if isinstance(labels, _LABEL_SEQUENCE) else (labels,):
            if is_missing(label):
                raise ValueError(
                    f"y has {label} for instance {row}; an instance without labels has an empty list"
                )
    return Y


def _are_lists(Y: Labels) -> bool:
    """Whether Y is a list of labels for each instance; rows of zeros and ones of one length are an
    indicator.
    """
    Y = Y if isinstance(Y, list | tuple) else np.asarray(Y)
    if isinstance(Y, np.ndarray) and (Y.dtype != object or Y.ndim != 1):
        return False
    if not len(Y) or not all(isinstance(labels, _LABEL_SEQUENCE) for labels in Y):
        return False
    lengths = {len(labels) for labels in Y}
    alike = len(lengths) == 1 and lengths != {1} and lengths != {0}
    return not (
        alike
        and all(
            isinstance(label, Number | np.bool_) and label in (0, 1) for row in Y for label in row
        )
    )


def _flatten(rows: Labels) -> np.ndarray:
    return _convert_to_array([label for labels in rows for label in labels])


def _convert_to_array(labels: Any) -> np.ndarray:
    """Labels of one type as an array; ValueError if they are of several, or of one that names do
    not tell.
    """
    array = np.asarray(labels)
    if array.dtype.kind in _NUMERIC_KINDS:
        return array
    # NumPy has made texts of numbers beside texts
    values = labels if isinstance(labels, list | tuple) else array.ravel().tolist()
    types = {type(label) for label in values}
    if all(issubclass(each, str) for each in types):
        return array.astype(object) if array.dtype.kind == "T" else array
    if len(types) == 1 and issubclass(types.copy().pop(), date):
        return array
    numbers = np.array(values)
    if numbers.dtype.kind in _NUMERIC_KINDS and numbers.ndim == 1:
        return numbers.reshape(array.shape)
    found = " and ".join(sorted(each.__name__ for each in types))
    raise ValueError(
        f"Unknown label type: {found}; expected texts, numbers, truth values or dates, all of one type"
    )


def _parse_classes(names: Sequence[str], recorded: str | None) -> np.ndarray:
    """Classes of the recorded type, from their names."""
    if recorded in _DATE_TYPES:
        return np.array([_DATE_TYPES[recorded].fromisoformat(name) for name in names])
    if recorded == np.dtype(bool).str:
        return np.asarray(names) == "True"
    return np.asarray(names, recorded)


def _check_labels(Y: Labels) -> np.ndarray:
    Y = check_array(_convert_to_array(Y), ensure_2d=False, dtype=None, input_name="y")
    if Y.ndim == 2 and Y.shape[1] > 1:
        if Y.dtype.kind not in "biuf":
            raise ValueError(
                "Unknown label type: a table of texts or dates; give a list of labels for each instance"
            )
        return Y
    if not isinstance(Y.flat[0], date):
        check_classification_targets(Y)
    return column_or_1d(Y, warn=True)
