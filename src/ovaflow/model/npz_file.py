"""A model as a matrix for SciPy: ``scipy.sparse.load_npz`` reads the weights, one row per label."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Names
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.reading.npz import UNREADABLE_MATRIX_ERRORS, read_matrix
from ovaflow.registry import ONE_VS_ALL
from ovaflow.settings.schema import explain_error
from ovaflow.sparse.weight_rows import decode_weights
from ovaflow.storage.writing import write_atomically

_KEY = "ovaflow"
"""Entry of the file with its description, as JSON."""


def write_npz(path, model) -> None:
    weights = decode_weights(model.weights)
    description = {
        "label_names": list(model.label_names),
        "feature_names": list(model.feature_names),
        "idf": None if model.idf is None else model.idf.tolist(),
        "trained": model.trained.tolist(),
        "counts": model.counts.tolist(),
        "parameters": model.parameters,
        "inputs": model.inputs,
    }
    arrays = {
        "data": weights.data,
        "indices": weights.indices,
        "indptr": weights.indptr,
        "shape": np.array([weights.n_rows, weights.n_columns]),
        "format": np.array(b"csr"),
        "_is_array": np.array(True),
        _KEY: np.frombuffer(json.dumps(description).encode(), np.uint8),
    }
    with write_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_npz(path, bias=1.0, normalize=True):
    """Read a model; ``bias`` and ``normalize`` say how instances were prepared for another
    program's weights.
    """
    weights = read_matrix(path)
    description = None
    try:
        description = _description(path) or _default_description(weights, bias, normalize)
        return _model(Path(path), weights, _Description.model_validate(description))
    except ValidationError as error:
        message = explain_error(error, description, _Description)
    except UNREADABLE_MATRIX_ERRORS as error:
        message = str(error)
    raise InputError(f"not a model of ovaflow ({message})", path=path, remedy="write it again")


class _Parameters(BaseModel, extra="allow"):
    train: dict[str, Any]
    transform: dict[str, Any]


class _Description(BaseModel, allow_inf_nan=False):
    """Everything but the weights."""

    label_names: list[str]
    feature_names: list[str]
    idf: list[float] | None
    trained: list[bool]
    counts: list[int]
    parameters: _Parameters
    inputs: dict[str, str]


def _model(path, weights, description):
    idf = None if description.idf is None else np.array(description.idf, np.float32)
    names = Names(description.label_names, description.feature_names, idf)
    trained = np.array(description.trained, bool)
    counts = np.array(description.counts, np.int64)
    n_labels = len(names.labels)
    if not weights.n_rows == n_labels == len(trained) == len(counts):
        raise ValueError(f"{weights.n_rows:,} rows of weights, but {n_labels:,} names of labels")
    model = OneVsAll(
        trained,
        counts,
        path=path,
        parameters=description.parameters.model_dump(),
        inputs=description.inputs,
        weights=weights,
        names_in_memory=names,
    )
    n_features = model.n_features - (model.bias != 0)
    for what, values in (("names of features", names.features or None), ("idf", idf)):
        if values is not None and len(values) != n_features:
            raise ValueError(
                f"{n_features:,} columns of weights without the bias, but {len(values):,} {what}"
            )
    return model


def _description(path):
    """What ovaflow wrote beside the weights; None in files of other programs."""
    with np.load(path, allow_pickle=False) as arrays:
        return json.loads(bytes(arrays[_KEY])) if _KEY in arrays.files else None


def _default_description(weights, bias, normalize):
    """The description of another program's matrix; labels without weights count as untrained."""
    return {
        "label_names": [str(label) for label in range(weights.n_rows)],
        "feature_names": [],
        "idf": None,
        "trained": (np.diff(weights.indptr) > 0).tolist(),
        "counts": [0] * weights.n_rows,
        "parameters": {
            "train": {"method": ONE_VS_ALL},
            "prune": 0.0,
            "transform": {
                "format": "foreign",
                "tfidf": False,
                "normalize": normalize,
                "bias": bias,
            },
        },
        "inputs": {},
    }
