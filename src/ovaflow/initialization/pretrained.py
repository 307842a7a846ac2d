"""The start at the weights of an earlier model: another C, more instances, more labels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.start import Start
from ovaflow.sparse.csr import CSR

_PROBLEM = ("C", "loss", "regularization", "weighting", "propensity_a", "propensity_b")


_NAMED = 5


class Earlier(NamedTuple):
    """An earlier model as a dataset sees it; read by all threads."""

    weights: CSR  # shape (l_0, d_0), mapped from the model file
    rows: np.ndarray  # row of each label of the dataset, -1 where the model has no classifier for it
    columns: np.ndarray  # column of the dataset for each of the model's, -1 where there is none
    factors: np.ndarray  # what weights are multiplied by, since features may have had another scale (idf, bias)
    counts: np.ndarray  # training positives of the model's labels
    new: Sequence = ()  # names of labels that the model lacks
    gone: Sequence = ()  # names of labels that the dataset lacks

    def weights_of(self, label):
        """A label's weights as the dataset's features have them: indices, ascending, and data. It must have a row."""
        stored = slice(*self.weights.indptr[self.rows[label] : self.rows[label] + 2])
        old = self.weights.indices[stored]
        places, data = self.columns[old], self.factors[old] * self.weights.data[stored]
        order = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
        return places[order], data[order]

    def taken_over(self, labels, counts, retrain):
        """Which labels keep their weights: those that have as many positives if "changed" ones are retrained, or all
        that are known if "new" ones are.
        """
        rows = self.rows[labels]
        known = (rows >= 0) & (retrain != "all")
        return known & (self.counts[rows] == counts) if retrain == "changed" else known

    @property
    def words(self):
        """How much of the model fits, for the log."""
        found, kept = int((self.rows >= 0).sum()), int((self.columns >= 0).sum())
        dropped = len(self.columns) - kept
        return (
            f"{found:,} of {len(self.rows):,} labels start from the earlier model, the others mean-separating; "
            f"{kept:,} of its features are known, {dropped:,} are dropped"
            f"{_named('new', self.new)}{_named('gone', self.gone)}"
        )


def match_model(model, dataset):
    """Find a dataset's labels and features in an earlier model.

    InputError if names have nothing in common, or without names the numbers differ.
    """
    bias, old_bias = dataset.parameters.get("bias", 0), model.parameters["transform"].get("bias", 0)
    l, d = dataset.n_labels, dataset.n_features - (bias != 0)  # noqa: E741
    old_l, old_d = model.n_labels, model.n_features - (old_bias != 0)
    if model.inputs.get("dataset") == dataset.checksum:
        rows, places = np.arange(l), np.arange(d)
    else:
        rows = _places(dataset.label_names, model.label_names, l, old_l, "labels", model, dataset)
        places = _places(dataset.feature_names, model.feature_names, d, old_d, "features", model, dataset)
    new, gone = np.flatnonzero(rows < 0), np.setdiff1d(np.arange(old_l), rows)
    changes = [dataset.label_names[j] for j in new], [model.label_names[j] for j in gone]
    rows = np.where((rows >= 0) & model.trained[rows], rows, -1)
    columns = np.full(model.n_features, -1, np.int64)
    columns[places[places >= 0]] = np.flatnonzero(places >= 0)
    if bias and old_bias:
        columns[-1] = d
    return Earlier(model.weights, rows, columns, _factors(model, dataset, columns), model.counts, *changes)


def _named(what, names):
    """A count and the first of some names, for the log."""
    more = ", ..." * (len(names) > _NAMED)
    return f"; {what}: {len(names):,} ({', '.join(map(str, names[:_NAMED]))}{more})" if names else ""


def require_same_problem(model, training):
    """Refuse to mix labels of an earlier model with new ones of another problem."""
    old, new = model.parameters.get("train", {}), training.recorded
    for name in _PROBLEM if training.retrain != "all" else ():
        if old.get(name) != new.get(name):
            raise InputError(
                f"its labels were trained with {name} {old.get(name)}, new ones would be with {new.get(name)}",
                path=model.path,
                remedy="set retrain: all, or the same value",
            )


def _factors(model, dataset, columns):
    """Old scale of each of the model's features divided by the new one."""
    factors = np.ones(model.n_features, np.float32)
    if model.inputs.get("dataset") == dataset.checksum:
        return factors
    bias, old_bias = dataset.parameters.get("bias", 0), model.parameters["transform"].get("bias", 0)
    old, new = model.idf, dataset.names.idf
    if old is not None and new is not None:
        known = columns[: len(old)]
        factors[: len(old)][known >= 0] = old[known >= 0] / new[known[known >= 0]]
    if bias and old_bias:
        factors[-1] = old_bias / bias
    return factors


def _places(names, old_names, count, old_count, kind, model, dataset):
    """Position of each label or feature in the model: by name where both have names, or else by number."""
    if len(names) and len(old_names):
        places = places_of(names, old_names)
        if count and not (places >= 0).any():
            raise InputError(
                f"none of its {old_count:,} {kind} is one of the {count:,} of {dataset.path}",
                path=model.path,
                remedy="start from a model of data like these",
            )
        return places
    if count != old_count:
        raise InputError(
            f"it has {old_count:,} {kind}, {dataset.path} has {count:,}, and without names they cannot be matched",
            path=model.path,
            remedy=f"start from a model with the same {kind}, or from data with names for them",
        )
    return np.arange(count)


def places_of(names, old_names):
    """Position of each name in an older list, -1 for names that are new.

    No position is given twice: of equal names the first ones belong together, the others are new.
    """
    places = {name: place for place, name in reversed(list(enumerate(old_names)))}
    return np.array([places.pop(name, -1) for name in names], np.int64)


class Pretrained(Start):
    """Every label starts at its weights in an earlier model, or ``otherwise`` where that has no classifier for it.

    Weights that were pruned from the model start at 0, as do features that it lacks.
    """

    def __init__(self, earlier, otherwise):
        self._earlier, self._otherwise = earlier, otherwise

    def fill(self, label, X, positives, weights):
        if self._earlier.rows[label] < 0:
            self._otherwise.fill(label, X, positives, weights)
            return
        places, data = self._earlier.weights_of(label)
        weights[:] = 0.0
        weights[places] = data
