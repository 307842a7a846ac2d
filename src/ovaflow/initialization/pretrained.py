"""The start at the weights of an earlier model: another C, more instances, more labels."""

from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.start import Start
from ovaflow.sparse.csr import CSR


class Earlier(NamedTuple):
    """An earlier model as a dataset sees it; read by all threads.

    Attributes
    ----------
    weights : CSR, shape (l_0, d_0)
        Mapped from the model file.
    rows : ndarray of int64, shape (l,)
        Row of each label of the dataset, -1 where the model has no classifier for it.
    columns : ndarray of int64, shape (d_0,)
        Column of the dataset for each of the model's, -1 where there is none.
    bias_factor : float
        What the model's bias weight is multiplied with: its bias feature may
        have had another value. The bias is column d_0 - 1; 1 where there is none.
    """

    weights: CSR
    rows: np.ndarray
    columns: np.ndarray
    bias_factor: float

    @property
    def words(self):
        """How much of the model fits, for the log."""
        found, kept = int((self.rows >= 0).sum()), int((self.columns >= 0).sum())
        dropped = len(self.columns) - kept
        return (
            f"{found:,} of {len(self.rows):,} labels start from the earlier model, the others mean-separating; "
            f"{kept:,} of its features are known, {dropped:,} are dropped"
        )


def match_model(model, dataset):
    """Find a dataset's labels and features in an earlier model.

    Parameters
    ----------
    model : ovaflow.model.model_file.Model
    dataset : Dataset

    Returns
    -------
    Earlier

    Raises
    ------
    InputError
        If names have nothing in common, or without names the numbers differ.
    """
    bias, old_bias = dataset.parameters.get("bias", 0), model.parameters["transform"].get("bias", 0)
    l, d = dataset.n_labels, dataset.n_features - (bias != 0)  # noqa: E741
    old_l, old_d = model.n_labels, model.n_features - (old_bias != 0)
    if model.inputs.get("dataset") == dataset.checksum:
        rows, places = np.arange(l), np.arange(d)
    else:
        rows = _places(dataset.label_names, model.label_names, l, old_l, "labels", model, dataset)
        places = _places(dataset.feature_names, model.feature_names, d, old_d, "features", model, dataset)
    rows[rows >= 0] = np.where(model.trained[rows[rows >= 0]], rows[rows >= 0], -1)
    columns = np.full(model.n_features, -1, np.int64)
    columns[places[places >= 0]] = np.flatnonzero(places >= 0)
    if bias and old_bias:
        columns[-1] = d
    return Earlier(model.weights, rows, columns, old_bias / bias if bias and old_bias else 1.0)


def _places(names, old_names, count, old_count, kind, model, dataset):
    """Place of each label or feature in the model: by name where both have names, else by position."""
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
    """Place of each name in an older list.

    Parameters
    ----------
    names, old_names : sequence of str

    Returns
    -------
    ndarray of int64, shape (len(names),)
        -1 for names that are new. No place is given twice: of equal names
        the first ones belong together, the others are new.
    """
    places = {name: place for place, name in reversed(list(enumerate(old_names)))}
    return np.array([places.pop(name, -1) for name in names], np.int64)


class Pretrained(Start):
    """Every label starts at its weights in an earlier model.

    Weights that were pruned from the model start at 0, as do features that it
    lacks.

    Parameters
    ----------
    earlier : Earlier
    otherwise : Start
        Start of the labels that the model has no classifier for.
    """

    def __init__(self, earlier, otherwise):
        self._earlier, self._otherwise = earlier, otherwise

    def fill(self, label, X, positives, weights):
        old, rows, columns, bias_factor = self._earlier
        row = rows[label]
        if row < 0:
            self._otherwise.fill(label, X, positives, weights)
            return
        stored = slice(old.indptr[row], old.indptr[row + 1])
        indices, data = old.indices[stored], old.data[stored]
        if bias_factor != 1:
            data = np.where(indices == old.n_columns - 1, np.float32(bias_factor) * data, data)
        places = columns[indices]
        weights[:] = 0.0
        weights[places[places >= 0]] = data[places >= 0]
