"""Forms of labels (classes, indicators, lists), and predictions in the same form."""

from collections.abc import Iterable, Sequence
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
"""A dense or sparse matrix, as scikit-learn takes it; no type describes all of them."""
Labels = Any
"""Classes, an indicator, or a sequence of sequences."""

CLASSES = "classes"
DENSE = "dense indicator"
SPARSE = "sparse indicator"
LISTS = "lists"
"""Kinds of forms, as a model file records them."""

_LABEL_SEQUENCE = list | tuple | set | frozenset | np.ndarray
"""Types of the labels of one instance, in lists of labels."""
_NUMERIC_KINDS = "biufcM"
"""NumPy's kinds of numbers, truth values and dates; scikit-learn refuses complex numbers."""
_DATE_TYPES: dict[str, type[date]] = {"date": date, "datetime": datetime}
"""Python's types of dates by the names that a model file records."""


@dataclass(frozen=True)
class LabelForm:
    """Form of labels, and their names.

    Attributes
    ----------
    kind : str
        ``"classes"`` (one for each instance), ``"dense indicator"``, ``"sparse indicator"`` or
        ``"lists"``.
    classes : ndarray, shape (l,)
        Labels in ascending order, or in that of an indicator's named columns.
    dtype : str
        NumPy's code for the type of an indicator's values.
    """

    kind: str
    classes: np.ndarray
    dtype: str = "<i8"

    @classmethod
    def from_labels(cls, Y: Labels, names: Sequence[str] | np.ndarray | None = None) -> Self:
        """Find the form of labels, whose columns may have names; ValueError if there are none."""
        if Y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if scipy.sparse.issparse(Y):
            return cls(SPARSE, _make_column_labels(Y.shape[1], names), Y.dtype.str)
        if names is None:
            names = _get_column_names(Y)
        Y = _require_complete(_take_lists(Y))
        if _are_lists(Y):
            return cls(LISTS, np.unique(_flatten(Y)))
        Y = _check_labels(Y, has_named_columns=names is not None)
        if Y.ndim == 1:
            return cls(CLASSES, np.unique(Y))
        return cls(DENSE, _make_column_labels(Y.shape[1], names), Y.dtype.str)

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], names: Sequence[str]) -> Self:
        """Make the form that a model file records as :attr:`parameters`.

        Models of the pipeline record none: their form is a sparse indicator.
        """
        classes = _parse_classes(names, parameters.get("classes"))
        return cls(parameters.get("kind", SPARSE), classes, parameters.get("indicator", "<i8"))

    @property
    def parameters(self) -> dict[str, str]:
        """Parameters of the form, which a model file records."""
        first = next(iter(self.classes), None)
        class_type = self.classes.dtype.str
        for name, date_type in _DATE_TYPES.items():
            # a datetime is a date, too: the last match is the closest
            if isinstance(first, date_type):
                class_type = name
        return {"kind": self.kind, "classes": class_type, "indicator": self.dtype}

    def to_matrix(self, Y: Labels) -> CSR:
        """Convert labels to a matrix (n, l) of ones, without labels that are no classes."""
        if scipy.sparse.issparse(Y):
            return self._read_indicator(Y)
        columns = _get_column_names(Y)
        Y = _require_complete(_take_lists(Y))
        if _are_lists(Y):
            return self._read_lists(Y)
        Y = _check_labels(Y, has_named_columns=self.kind in (DENSE, SPARSE))
        if Y.ndim == 1:
            return self._read_lists(Y[:, None])
        if columns is not None:
            Y = self._reorder_columns(Y, columns)
        return self._read_indicator(Y)

    def _read_lists(self, lists: Labels) -> CSR:
        """Convert the labels of each instance."""
        lengths = [len(labels) for labels in lists]
        rows = np.repeat(np.arange(len(lengths)), lengths)
        columns, is_known = self.find_columns(_flatten(lists))
        shape = (len(lengths), len(self.classes))
        entries = (np.ones(is_known.sum()), (rows[is_known], columns[is_known]))
        matrix = from_scipy(scipy.sparse.coo_array(entries, shape))
        # a label may occur twice in a list
        return matrix._replace(data=np.ones_like(matrix.data))

    def _read_indicator(self, Y: Matrix) -> CSR:
        """Convert an indicator; ValueError if it holds votes, weights, -1 or nan."""
        matrix = scipy.sparse.csr_array(Y, copy=True)
        if matrix.shape[1] != len(self.classes):
            raise ValueError(
                f"Y has {matrix.shape[1]} columns where {len(self.classes)} are expected"
            )
        matrix.sum_duplicates()
        is_wrong = ~np.isin(matrix.data, (0, 1))
        if is_wrong.any():
            entries = matrix.tocoo()
            first = np.flatnonzero(is_wrong)[0]
            value = entries.data[first]
            label = self.classes[entries.col[first]]
            found = f"y has {value} for instance {entries.row[first]} and label {label}"
            raise ValueError(f"Unknown label type: {found}; an indicator holds only 0 and 1")
        matrix.eliminate_zeros()
        return from_scipy(matrix)

    def _reorder_columns(self, Y: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Order the columns of a data frame like the classes, if these are its columns."""
        order = {name: column for column, name in enumerate(columns.tolist())}
        classes = self.classes.tolist()
        if len(order) != len(classes) or order.keys() != set(classes):
            return Y
        return Y[:, [order[name] for name in classes]]

    def find_columns(self, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Find the columns of labels.

        Parameters
        ----------
        labels : array_like, shape (m,)

        Returns
        -------
        columns : ndarray of int, shape (m,)
            Column of each label; any column for labels that are none of the classes.
        is_known : ndarray of bool, shape (m,)
            True for labels that are classes.
        """
        labels = np.asarray(labels)
        if not labels.size or not len(self.classes):
            return np.zeros(labels.shape, int), np.zeros(labels.shape, bool)
        order = np.argsort(self.classes, kind="stable")
        ranks = np.searchsorted(self.classes, labels, sorter=order)
        columns = order[np.minimum(ranks, len(order) - 1)]
        return columns, self.classes[columns] == labels

    def convert_predictions(self, predicted: CSR) -> Any:
        """Convert predictions to the form of the labels."""
        if self.kind == CLASSES:
            return self.classes[predicted.indices]
        if self.kind == LISTS:
            ids = np.split(predicted.indices, predicted.indptr[1:-1])
            lists = (self.classes[row] for row in ids)
            return np.fromiter(lists, object, predicted.n_rows)
        indicator = predicted.to_scipy().astype(self.dtype)
        return indicator if self.kind == SPARSE else indicator.toarray()


def convert_to_indicators(true: Labels, predicted: Labels) -> tuple[Labels, Labels]:
    """Convert lists of labels to indicators of the labels in either of them.

    Other forms are returned unchanged.
    """
    if not _are_lists(predicted):
        return true, predicted
    form = LabelForm.from_labels([*true, *predicted])
    return form.to_matrix(true).to_scipy(), form.to_matrix(predicted).to_scipy()


def is_missing(value: Any) -> bool:
    """Return True for the missing values of Python, NumPy and pandas."""
    # pandas.NA, without importing pandas
    if value is None or type(value).__name__ == "NAType":
        return True
    is_number = isinstance(value, float | np.floating | np.datetime64 | datetime)
    # nan and NaT differ from themselves
    return is_number and bool(value != value)


def _make_column_labels(count: int, names: Sequence[str] | np.ndarray | None) -> np.ndarray:
    if names is None:
        return np.arange(count)
    if len(names) != count:
        raise ValueError(f"{len(names)} label_names for {count} columns of Y")
    return _convert_to_array(names)


def _get_column_names(Y: Labels) -> np.ndarray | None:
    """Return the names of the columns of a data frame; None for other labels."""
    # the columns of a table of Arrow, which has no dtypes, are no names
    if hasattr(Y, "columns") and hasattr(Y, "dtypes"):
        return np.asarray(Y.columns)
    return None


def _take_lists(Y: Labels) -> Labels:
    """Return the lists in the only column of a data frame; other labels unchanged."""
    if _get_column_names(Y) is not None and Y.shape[1] == 1:
        column = np.asarray(Y)[:, 0]
        if any(isinstance(labels, _LABEL_SEQUENCE) for labels in column):
            return column
    return Y


def _require_complete(Y: Labels) -> Labels:
    """Return labels as a list or an array; ValueError for missing values."""
    if not isinstance(Y, list | tuple):
        Y = np.asarray(Y)
        if Y.dtype.kind not in "OTM":
            return Y
    for row, labels in enumerate(Y):
        for label in labels if isinstance(labels, _LABEL_SEQUENCE) else (labels,):
            if is_missing(label):
                remedy = "an instance without labels has an empty list"
                raise ValueError(f"y has {label} for instance {row}; {remedy}")
    return Y


def _are_lists(Y: Labels) -> bool:
    """Return True if Y is a list of labels for each instance.

    Rows of zeros and ones of the same length, at least 2, are an indicator.
    """
    if not isinstance(Y, list | tuple):
        Y = np.asarray(Y)
    if isinstance(Y, np.ndarray) and (Y.dtype != object or Y.ndim != 1):
        return False
    if not len(Y) or not all(isinstance(labels, _LABEL_SEQUENCE) for labels in Y):
        return False
    lengths = {len(labels) for labels in Y}
    if len(lengths) > 1 or lengths <= {0, 1}:
        return True
    return not all(_are_zeros_and_ones(labels) for labels in Y)


def _are_zeros_and_ones(labels: Iterable[Any]) -> bool:
    return all(isinstance(label, Number | np.bool_) and label in (0, 1) for label in labels)


def _flatten(rows: Labels) -> np.ndarray:
    """Return the labels of all instances one after another."""
    flat: list[Any] = []
    for labels in rows:
        flat.extend(labels)
    return _convert_to_array(flat)


def _convert_to_array(labels: Any) -> np.ndarray:
    """Convert labels of one type to an array.

    Labels of several types, or of a type that cannot be read from names again, raise ValueError.
    """
    array = np.asarray(labels)
    if array.dtype.kind in _NUMERIC_KINDS:
        return array
    # NumPy converts numbers to texts where there are texts, too
    values = labels if isinstance(labels, list | tuple) else array.ravel().tolist()
    types = {type(label) for label in values}
    if all(issubclass(each, str) for each in types):
        return array.astype(object) if array.dtype.kind == "T" else array
    if len(types) == 1 and all(issubclass(each, date) for each in types):
        return array
    numbers = np.array(values)
    if numbers.dtype.kind in _NUMERIC_KINDS and numbers.ndim == 1:
        return numbers.reshape(array.shape)
    found = " and ".join(sorted(each.__name__ for each in types))
    expected = "expected texts, numbers, truth values or dates, all of one type"
    raise ValueError(f"Unknown label type: {found}; {expected}")


def _parse_classes(names: Sequence[str], recorded: str | None) -> np.ndarray:
    """Parse the names of classes by their recorded type."""
    if recorded in _DATE_TYPES:
        return np.array([_DATE_TYPES[recorded].fromisoformat(name) for name in names])
    if recorded == np.dtype(bool).str:
        return np.asarray(names) == "True"
    return np.asarray(names, recorded)


def _check_labels(Y: Labels, *, has_named_columns: bool) -> np.ndarray:
    """Return classes (n,) or an indicator (n, l) as an array, checked as scikit-learn does.

    A single column of zeros and ones is an indicator if it has a name.
    """
    Y = check_array(_convert_to_array(Y), ensure_2d=False, dtype=None, input_name="y")
    is_indicator = Y.ndim == 2 and Y.shape[1] > 1
    if Y.ndim == 2 and has_named_columns:
        is_indicator |= _are_zeros_and_ones(Y.ravel().tolist())
    if is_indicator:
        if Y.dtype.kind not in "biuf":
            raise ValueError(
                "Unknown label type: a table of texts or dates; "
                "give a list of labels for each instance"
            )
        return Y
    if not isinstance(Y.flat[0], date):
        check_classification_targets(Y)
    return column_or_1d(Y, warn=True)
