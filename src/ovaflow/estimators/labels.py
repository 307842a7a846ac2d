"""The forms that labels come in: classes, indicators, lists; and predictions in the same form."""

from collections.abc import Sequence
from dataclasses import dataclass
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

CLASSES, DENSE, SPARSE, LISTS = "classes", "dense indicator", "sparse indicator", "lists"


@dataclass(frozen=True)
class LabelForm:
    """The form in which labels come, and their names.

    Attributes
    ----------
    kind : str
        ``"classes"`` (one for each instance), ``"dense indicator"``, ``"sparse indicator"`` or ``"lists"``.
    classes : ndarray, shape (l,)
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
            return cls(SPARSE, _columns(Y.shape[1], names), Y.dtype.str)
        _refuse_missing(Y)
        if _are_lists(Y):
            return cls(LISTS, np.unique(np.array([label for labels in Y for label in labels])))
        Y = _checked(Y)
        if Y.ndim == 1:
            return cls(CLASSES, np.unique(Y))
        return cls(DENSE, _columns(Y.shape[1], names), Y.dtype.str)

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], names: Sequence[str]) -> Self:
        """Form by the :attr:`parameters` in a model file; none are in models of the pipeline: a sparse indicator."""
        classes = np.asarray(names, parameters.get("classes"))
        return cls(parameters.get("kind", SPARSE), classes, parameters.get("indicator", "<i8"))

    @property
    def parameters(self) -> dict[str, str]:
        """What a model file records of the form."""
        classes = np.array(self.classes.tolist()).dtype.str
        return {"kind": self.kind, "classes": classes, "indicator": self.dtype}

    def matrix(self, Y: Labels) -> CSR:
        """Labels (n, l) as every method takes them, without those that are not among the classes."""
        if scipy.sparse.issparse(Y):
            return _indicated(Y, len(self.classes))
        _refuse_missing(Y)
        rows = Y
        if not _are_lists(Y):
            Y = _checked(Y)
            if Y.ndim == 2:
                return _indicated(Y, len(self.classes))
            rows = Y[:, None]
        lengths = [len(labels) for labels in rows]
        flat = np.array([label for labels in rows for label in labels])
        owners = np.repeat(np.arange(len(lengths)), lengths)
        places, known = self.places(flat)
        shape = len(lengths), len(self.classes)
        ones = np.ones(known.sum())
        return _indicated(scipy.sparse.coo_array((ones, (owners[known], places[known])), shape), shape[1])

    def places(self, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Columns of some labels, and which of the labels are classes."""
        labels = np.asarray(labels)
        if not labels.size or not len(self.classes):
            return np.zeros(labels.shape, int), np.zeros(labels.shape, bool)
        order = np.argsort(self.classes, kind="stable")
        ranks = np.searchsorted(self.classes, labels, sorter=order)
        places = order[np.minimum(ranks, len(order) - 1)]
        return places, self.classes[places] == labels

    def in_this_form(self, predicted: CSR) -> Any:
        """Predictions in the form of the labels."""
        if self.kind == CLASSES:
            return self.classes[predicted.indices]
        if self.kind == LISTS:
            return [self.classes[ids] for ids in np.split(predicted.indices, predicted.indptr[1:-1])]
        indicator = predicted.to_scipy().astype(self.dtype)
        return indicator if self.kind == SPARSE else indicator.toarray()


def _columns(count: int, names: Sequence[str] | None) -> np.ndarray:
    if names is None:
        return np.arange(count)
    if len(names) != count:
        raise ValueError(f"{len(names)} label_names for {count} columns of Y")
    return np.asarray(names)


def _refuse_missing(Y: Labels) -> None:
    """Refuse None and nan among labels, or in the place of an instance's labels."""
    Y = Y if isinstance(Y, list | tuple) else np.asarray(Y)
    if isinstance(Y, np.ndarray) and (Y.dtype != object or Y.ndim != 1):
        return
    for row, labels in enumerate(Y):
        for label in labels if isinstance(labels, list | tuple | set | frozenset) else (labels,):
            if label is None or (isinstance(label, float) and label != label):
                raise ValueError(f"y has {label} for instance {row}; an instance without labels has an empty list")


def _are_lists(Y: Labels) -> bool:
    """Whether Y is a list of labels for each instance; rows of zeros and ones of one length are an indicator."""
    Y = Y if isinstance(Y, list | tuple) else np.asarray(Y)
    if isinstance(Y, np.ndarray) and (Y.dtype != object or Y.ndim != 1):
        return False
    if not len(Y) or not all(isinstance(labels, list | tuple | set | frozenset | np.ndarray) for labels in Y):
        return False
    lengths = {len(labels) for labels in Y}
    alike = len(lengths) == 1 and lengths != {1} and lengths != {0}
    return not (alike and all(isinstance(label, Number | np.bool_) and label in (0, 1) for row in Y for label in row))


def _checked(Y: Labels) -> np.ndarray:
    Y = check_array(Y, ensure_2d=False, dtype=None, input_name="y")
    check_classification_targets(Y)
    if Y.ndim == 1 or Y.shape[1] == 1:
        return column_or_1d(Y, warn=True)
    if not np.isin(Y, (0, 1)).all():
        raise ValueError("Unknown label type: a matrix of other values than 0 and 1")
    return Y


def _indicated(Y: Matrix, n_labels: int) -> CSR:
    """Ones where labels are, each once."""
    matrix = scipy.sparse.csr_array(Y, copy=True)
    if matrix.shape[1] != n_labels:
        raise ValueError(f"Y has {matrix.shape[1]} columns where {n_labels} are expected")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix = from_scipy(matrix)
    return CSR(np.ones(len(matrix.data), np.float32), matrix.indices, matrix.indptr, matrix.n_columns)
