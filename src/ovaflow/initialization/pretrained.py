"""The start at the weights of an earlier model: another C, more instances, more labels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.start import Start
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.weight_rows import WeightRows, decode_weights

_PROBLEM = (
    "C",
    "loss",
    "regularization",
    "weighting",
    "class_weight",
    "propensity_a",
    "propensity_b",
)

_NAMES_IN_LOG = 5


class EarlierModel(NamedTuple):
    """An earlier model as a dataset sees it; read by all threads."""

    weights: WeightRows | CSR  # (l_0, d_0), mapped from the model file
    rows: np.ndarray  # row of each label of the dataset, -1 without a classifier
    columns: np.ndarray  # column of the dataset for each of the model's, -1 if there is none
    factors: np.ndarray  # for weights, since features may have had another scale (idf, bias)
    counts: np.ndarray  # training positives of the model's labels
    new: Sequence = ()  # names of labels that the model lacks
    gone: Sequence = ()  # names of labels that the dataset lacks

    def weights_of(self, label):
        """Weights of a label that has a row: the dataset's features, ascending, and data."""
        old = decode_weights(self.weights, self.rows[label], self.rows[label] + 1)
        places = self.columns[old.indices]
        data = self.factors[old.indices] * old.data
        order = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
        return places[order], data[order]

    def keeps(self, labels, counts, retrain):
        """Which labels keep their weights: known ones that ``retrain`` leaves as they are."""
        rows = self.rows[labels]
        known = (rows >= 0) & (retrain != "all")
        if retrain == "changed":
            known &= self.counts[rows] == counts
        return known

    @property
    def summary(self):
        """How much of the model fits, for the log."""
        n_labels = int((self.rows >= 0).sum())
        n_features = int((self.columns >= 0).sum())
        return (
            f"{n_labels:,} of {len(self.rows):,} labels start from the earlier model, "
            f"the others mean-separating; {n_features:,} of its features are known, "
            f"{len(self.columns) - n_features:,} are dropped"
            f"{_first_names('new', self.new)}{_first_names('gone', self.gone)}"
        )


def match_model(model, dataset):
    bias = dataset.parameters.get("bias", 0)
    old_bias = model.bias
    old_l = model.n_labels
    d = dataset.n_features - (bias != 0)
    old_d = model.n_features - (old_bias != 0)
    if model.inputs.get("dataset") == dataset.checksum:
        rows = np.arange(dataset.n_labels)
        places = np.arange(d)
    else:
        rows = _places("label", dataset.n_labels, old_l, model, dataset)
        places = _places("feature", d, old_d, model, dataset)
    new = np.flatnonzero(rows < 0)
    gone = np.setdiff1d(np.arange(old_l), rows)
    changes = [dataset.label_names[j] for j in new], [model.label_names[j] for j in gone]
    rows = np.where((rows >= 0) & model.trained[rows], rows, -1)
    columns = np.full(model.n_features, -1, np.int64)
    columns[places[places >= 0]] = np.flatnonzero(places >= 0)
    if bias and old_bias:
        columns[-1] = d
    return EarlierModel(
        model.weights, rows, columns, _factors(model, dataset, columns), model.counts, *changes
    )


def _first_names(title, names):
    """A count and the first names, for the log."""
    if not names:
        return ""
    first = [*map(str, names[:_NAMES_IN_LOG])]
    if len(names) > _NAMES_IN_LOG:
        first.append("...")
    return f"; {title}: {len(names):,} ({', '.join(first)})"


def require_same_problem(model, training) -> None:
    """Refuse to mix labels of an earlier model with new ones of another problem."""
    if training.retrain == "all":
        return
    old = model.parameters.get("train", {})
    new = training.recorded
    for name in _PROBLEM:
        if old.get(name) != new.get(name):
            trained = f"its labels were trained with {name} {old.get(name)}"
            message = f"{trained}, new ones would be with {new.get(name)}"
            raise InputError(message, path=model.path, remedy="set retrain: all, or the same value")


def _factors(model, dataset, columns):
    """Old scale of each of the model's features divided by the new one."""
    factors = np.ones(model.n_features, np.float32)
    if model.inputs.get("dataset") == dataset.checksum:
        return factors
    bias = dataset.parameters.get("bias", 0)
    old_bias = model.bias
    old = model.idf
    new = dataset.names.idf
    if old is not None and new is not None:
        known = columns[: len(old)]
        factors[: len(old)][known >= 0] = old[known >= 0] / new[known[known >= 0]]
    if bias and old_bias:
        factors[-1] = old_bias / bias
    return factors


def _places(kind, count, old_count, model, dataset):
    """Position of each label or feature in the model: by name if both have names, else by number."""
    names = getattr(dataset, f"{kind}_names")
    old_names = getattr(model, f"{kind}_names")
    if len(names) and len(old_names):
        places = find_positions(names, old_names)
        if count and not (places >= 0).any():
            message = f"none of its {old_count:,} {kind}s is one of the {count:,} of {dataset.path}"
            raise InputError(message, path=model.path, remedy="start from a model of similar data")
        return places
    if count != old_count:
        counts = f"has {old_count:,} {kind}s, {dataset.path} has {count:,}"
        message = f"{counts}, and without names they cannot be matched"
        remedy = f"start from a model with the same {kind}s, or from data with names for them"
        raise InputError(message, path=model.path, remedy=remedy)
    return np.arange(count)


def find_positions(names, old_names):
    """Position of each name in an older list, -1 for new ones; of equal names the first match."""
    places = {name: place for place, name in reversed(list(enumerate(old_names)))}
    return np.array([places.pop(name, -1) for name in names], np.int64)


class PretrainedStart(Start):
    """Labels start at their weights in an earlier model, those without any ``otherwise``."""

    def __init__(self, earlier, otherwise) -> None:
        self._earlier = earlier
        self._otherwise = otherwise

    def fill(self, label, X, positives, weights) -> None:
        if self._earlier.rows[label] < 0:
            self._otherwise.fill(label, X, positives, weights)
            return
        places, data = self._earlier.weights_of(label)
        weights[:] = 0.0
        weights[places] = data
