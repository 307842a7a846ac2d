"""What goes with the weights when a model leaves for another format, and what is supposed when it comes without."""

import json
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.names import Names
from ovaflow.model.model_file import ONE_VS_ALL, Model
from ovaflow.sparse.csr import CSR, from_scipy

KEY = "ovaflow"
"""Name under which the description stands in files of other formats."""


def parse(text, path):
    """JSON of a file that may come from anywhere.

    Parameters
    ----------
    text : str or bytes
    path : path-like
        For messages.

    Returns
    -------
    object

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON ({error})", path=path, remedy="mend this file, or give another one") from None


def describe(model):
    """All that a model is beside its weights.

    Parameters
    ----------
    model : Model

    Returns
    -------
    dict
        JSON-able.
    """
    return {
        "label_names": list(model.label_names),
        "feature_names": list(model.feature_names),
        "idf": None if model.idf is None else model.idf.tolist(),
        "trained": model.trained.tolist(),
        "counts": model.counts.tolist(),
        "parameters": model.parameters,
        "inputs": model.inputs,
    }


def describe_foreign(weights, bias=1.0, normalize=True):
    """What is supposed of a model that comes without a description.

    Parameters
    ----------
    weights : CSR, shape (l, d)
    bias : float
        Value of the bias feature, the last column; 0 where there is none.
    normalize : bool
        Whether instances had length 1.

    Returns
    -------
    dict
        Labels without weights are taken for untrained; how many instances the others had is not known.
    """
    return {
        "label_names": [str(label) for label in range(weights.n_rows)],
        "feature_names": [],
        "idf": None,
        "trained": (np.diff(weights.indptr) > 0).tolist(),
        "counts": [0] * weights.n_rows,
        "parameters": {
            "train": {"method": ONE_VS_ALL},
            "prune": 0.0,
            "transform": {"format": "foreign", "tfidf": False, "normalize": normalize, "bias": bias},
        },
        "inputs": {},
    }


def assemble(path, weights, description):
    """A model from its weights and a description, which may come from anywhere.

    Parameters
    ----------
    path : path-like
        Where they come from, for messages.
    weights : CSR, shape (l, d)
    description : dict

    Returns
    -------
    Model

    Raises
    ------
    InputError
        If the description is incomplete, or does not fit the weights.
    """
    l, d = weights.n_rows, weights.n_columns  # noqa: E741
    got = description if isinstance(description, dict) else {}
    parameters, inputs = (_checked(got, name, dict, path) for name in ("parameters", "inputs"))
    for name in ("train", "transform"):
        _checked(parameters, name, dict, path)
    if parameters["train"].get("method", ONE_VS_ALL) != ONE_VS_ALL:
        raise InputError(
            "describes a model without weights of labels", path=path, remedy="mend this file, or give another one"
        )
    bias = parameters["transform"].get("bias", 0.0)
    if isinstance(bias, bool) or not isinstance(bias, int | float):
        raise InputError(
            "the bias of its transform is no number", path=path, remedy="mend this file, or give another one"
        )
    plain = d - (bias != 0)
    idf = _column(got, "idf", plain, (int, float), path) if got.get("idf") is not None else None
    idf = None if idf is None else _numbers(idf, np.float32, "idf", path)
    names = Names(
        _column(got, "label_names", l, str, path),
        _column(got, "feature_names", plain, str, path) if got.get("feature_names") else [],
        idf,
    )
    trained = np.array(_column(got, "trained", l, bool, path), bool)
    counts = _numbers(_column(got, "counts", l, int, path), np.int64, "counts", path)
    return Model(Path(path), trained, counts, "", parameters, inputs, weights=weights, given=names)


def _checked(holder, name, kind, path):
    if not isinstance(holder.get(name), kind):
        raise InputError(f"its description lacks {name}", path=path, remedy="convert the model again")
    return holder[name]


def _column(holder, name, length, kind, path):
    values = _checked(holder, name, list, path)
    if len(values) != length:
        raise InputError(
            f"{len(values):,} {name} where the weights ask for {length:,}",
            path=path,
            remedy="mend this file, or give another one",
        )
    if not all(isinstance(value, kind) for value in values):
        raise InputError(
            f"its {name} are not what they should be", path=path, remedy="mend this file, or give another one"
        )
    return values


def _numbers(values, dtype, name, path):
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(values, dtype)
    except OverflowError:
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise InputError(f"its {name} are too large", path=path, remedy="mend this file, or give another one")
    return numbers


def checked_weights(path, matrix):
    """Weights of a file, as a model has them.

    Parameters
    ----------
    path : path-like
    matrix : scipy.sparse.csr_array, shape (l, d)

    Returns
    -------
    CSR, shape (l, d)

    Raises
    ------
    InputError
        If entries are not finite, stand beyond the matrix, or are too many.
    """
    if max(matrix.shape) >= np.iinfo(np.int32).max:
        raise InputError(
            f"{matrix.shape[0]:,} labels and {matrix.shape[1]:,} features are too many",
            path=path,
            remedy="mend this file, or give another one",
        )
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(
            f"no matrix of weights: {error}", path=path, remedy="mend this file, or give another one"
        ) from None
    if matrix.dtype.kind not in "fiub":
        raise InputError(f"weights of type {matrix.dtype}", path=path, remedy="mend this file, or give another one")
    with np.errstate(over="ignore"):
        weights = from_scipy(matrix)
    if not np.isfinite(weights.data).all():
        raise InputError(
            "weights that are not finite numbers of 32 bits", path=path, remedy="mend this file, or give another one"
        )
    return CSR(*(np.require(array, requirements="W") for array in weights.arrays), weights.n_columns)
