"""The start at the weights of an earlier model: another C, more instances, more labels."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.start import Start
from ovaflow.settings.train import TrainLabels
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.weight_rows import WeightRows, decode_weights

_EQUAL_SETTINGS = (
    "C",
    "loss",
    "regularization",
    "weighting",
    "class_weight",
    "propensity_a",
    "propensity_b",
)
"""Settings that must be equal for labels of two trainings to be mixed."""

_NAMES_IN_LOG = 5
"""Most names of new or missing labels in the log."""


class StoredModel(Protocol):
    """Properties of a one-vs-all model, see :class:`ovaflow.model.model_file.LabelWeights`."""

    @property
    def weights(self) -> WeightRows | CSR: ...

    @property
    def trained(self) -> np.ndarray: ...

    @property
    def counts(self) -> np.ndarray: ...

    @property
    def idf(self) -> np.ndarray | None: ...

    @property
    def bias(self) -> float: ...

    @property
    def n_labels(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def label_names(self) -> Sequence[str]: ...

    @property
    def inputs(self) -> dict[str, str]: ...

    @property
    def parameters(self) -> dict[str, Any]: ...

    @property
    def path(self) -> StrPath | None: ...


class EarlierModel(NamedTuple):
    """An earlier model matched with a dataset; read by all threads."""

    weights: WeightRows | CSR  # (l_0, d_0), mapped from the model file
    rows: np.ndarray  # row of each label of the dataset, -1 without a classifier
    columns: np.ndarray  # column of the dataset for each of the model's, -1 if there is none
    factors: np.ndarray  # for weights, since features may have had another scale (idf, bias)
    counts: np.ndarray  # training positives of the model's labels
    new: Sequence[str] = ()  # names of labels that the model lacks
    gone: Sequence[str] = ()  # names of labels that the dataset lacks

    def read_label(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """Read the weights of a label that has a row.

        Returns features of the dataset, ascending, and data.
        """
        row = decode_weights(self.weights, self.rows[label], self.rows[label] + 1)
        features = self.columns[row.indices]
        data = self.factors[row.indices] * row.data
        n_unknown = np.count_nonzero(features < 0)
        order = np.argsort(features, kind="stable")[n_unknown:]
        return features[order], data[order]

    def find_kept(self, labels: np.ndarray, counts: np.ndarray, retrain: str) -> np.ndarray:
        """Find the labels that keep their weights, by the setting ``retrain``: bool."""
        rows = self.rows[labels]
        kept = (rows >= 0) & (retrain != "all")
        if retrain == "changed":
            kept &= self.counts[rows] == counts
        return kept

    @property
    def summary(self) -> str:
        """Numbers of labels and features that the model shares with the dataset, for the log."""
        n_labels = int((self.rows >= 0).sum())
        n_features = int((self.columns >= 0).sum())
        return (
            f"{n_labels:,} of {len(self.rows):,} labels start from the earlier model, "
            f"the others mean-separating; {n_features:,} of its features are known, "
            f"{len(self.columns) - n_features:,} are dropped"
            f"{_list_first_names('new', self.new)}{_list_first_names('gone', self.gone)}"
        )


def match_model(model: StoredModel, dataset: Dataset) -> EarlierModel:
    """Match the labels and features of an earlier model with those of a dataset."""
    bias = dataset.parameters.get("bias", 0)
    old_bias = model.bias
    n_old_labels = model.n_labels
    d = dataset.n_features - (bias != 0)
    old_d = model.n_features - (old_bias != 0)
    if model.inputs.get("dataset") == dataset.checksum:
        rows = np.arange(dataset.n_labels)
        positions = np.arange(d)
    else:
        rows = _match_numbers("label", dataset.n_labels, n_old_labels, model, dataset)
        positions = _match_numbers("feature", d, old_d, model, dataset)
    new = [dataset.label_names[int(j)] for j in np.flatnonzero(rows < 0)]
    gone = [model.label_names[int(j)] for j in np.setdiff1d(np.arange(n_old_labels), rows)]
    has_classifier = (rows >= 0) & model.trained[rows]
    columns = np.full(model.n_features, -1, np.int64)
    columns[positions[positions >= 0]] = np.flatnonzero(positions >= 0)
    if bias and old_bias:
        columns[-1] = d
    return EarlierModel(
        weights=model.weights,
        rows=np.where(has_classifier, rows, -1),
        columns=columns,
        factors=_compute_factors(model, dataset, columns),
        counts=model.counts,
        new=new,
        gone=gone,
    )


def _list_first_names(title: str, names: Sequence[str]) -> str:
    """List a count and the first names, for the log."""
    if not names:
        return ""
    first = [str(name) for name in names[:_NAMES_IN_LOG]]
    if len(names) > _NAMES_IN_LOG:
        first.append("...")
    return f"; {title}: {len(names):,} ({', '.join(first)})"


def require_same_problem(model: StoredModel, training: TrainLabels) -> None:
    """Refuse to mix labels of an earlier model with new ones of another problem."""
    if training.retrain == "all":
        return
    old = model.parameters.get("train", {})
    new = training.recorded
    for name in _EQUAL_SETTINGS:
        if old.get(name) != new.get(name):
            trained = f"its labels were trained with {name} {old.get(name)}"
            message = f"{trained}, new ones would be with {new.get(name)}"
            raise InputError(message, path=model.path, remedy="set retrain: all, or the same value")


def _compute_factors(model: StoredModel, dataset: Dataset, columns: np.ndarray) -> np.ndarray:
    """Compute the old scale of each of the model's features divided by the new one."""
    factors = np.ones(model.n_features, np.float32)
    if model.inputs.get("dataset") == dataset.checksum:
        return factors
    bias = dataset.parameters.get("bias", 0)
    old_bias = model.bias
    old_idf = model.idf
    new_idf = dataset.names.idf
    if old_idf is not None and new_idf is not None:
        columns = columns[: len(old_idf)]
        is_known = columns >= 0
        factors[: len(old_idf)][is_known] = old_idf[is_known] / new_idf[columns[is_known]]
    if bias and old_bias:
        factors[-1] = old_bias / bias
    return factors


def _match_numbers(
    kind: str, count: int, old_count: int, model: StoredModel, dataset: Dataset
) -> np.ndarray:
    """Find the number of each label or feature in the model, -1 for new ones.

    They are matched by name if both have names, else by number.
    """
    names = getattr(dataset, f"{kind}_names")
    old_names = getattr(model, f"{kind}_names")
    if len(names) and len(old_names):
        positions = find_positions(names, old_names)
        if count and not (positions >= 0).any():
            message = f"none of its {old_count:,} {kind}s is one of the {count:,} of {dataset.path}"
            raise InputError(message, path=model.path, remedy="start from a model of similar data")
        return positions
    if count != old_count:
        counts = f"has {old_count:,} {kind}s, {dataset.path} has {count:,}"
        message = f"{counts}, and without names they cannot be matched"
        remedy = f"start from a model with the same {kind}s, or from data with names for them"
        raise InputError(message, path=model.path, remedy=remedy)
    return np.arange(count)


def find_positions(names: Sequence[str], old_names: Sequence[str]) -> np.ndarray:
    """Find the position of each name in an older list, -1 for new ones: int64.

    Of equal names the first ones match.
    """
    positions = {}
    for position, name in reversed(list(enumerate(old_names))):
        positions[name] = position
    return np.array([positions.pop(name, -1) for name in names], np.int64)


class PretrainedStart(Start):
    """Start of labels at their weights in an earlier model, of those without any ``otherwise``."""

    def __init__(self, earlier: EarlierModel, otherwise: Start) -> None:
        self._earlier = earlier
        self._otherwise = otherwise

    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
        if self._earlier.rows[label] < 0:
            self._otherwise.fill(label, X, positives, weights)
            return
        features, data = self._earlier.read_label(label)
        weights[:] = 0.0
        weights[features] = data
