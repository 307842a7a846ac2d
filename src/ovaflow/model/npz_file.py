"""A model as a matrix for SciPy: ``scipy.sparse.load_npz`` reads the weights, one row per label."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Names
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.reading.npz import UNREADABLE_MATRIX_ERRORS, read_matrix
from ovaflow.registry import ONE_VS_ALL
from ovaflow.settings.schema import explain_error
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.weight_rows import decode_weights
from ovaflow.storage.writing import write_atomically

_DESCRIPTION_KEY = "ovaflow"
"""Entry of the file with its description, as JSON."""


def write_npz(path: StrPath, model: OneVsAll) -> None:
    """Write the weights of a model as SciPy does, with a description for :func:`read_npz`."""
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
    arrays: dict[str, Any] = {
        "data": weights.data,
        "indices": weights.indices,
        "indptr": weights.indptr,
        "shape": np.array([weights.n_rows, weights.n_columns]),
        "format": np.array(b"csr"),
        "_is_array": np.array(True),
        _DESCRIPTION_KEY: np.frombuffer(json.dumps(description).encode(), np.uint8),
    }
    with write_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_npz(path: StrPath, bias: float = 1.0, *, normalize: bool = True) -> OneVsAll:
    """Read a model of ovaflow, or the weights of another program.

    For these, ``bias`` and ``normalize`` say how instances were prepared.
    """
    weights = read_matrix(path)
    description: Any = None
    try:
        description = _read_description(path)
        if description is None:
            description = _make_description(weights, bias, normalize=normalize)
        return _make_model(Path(path), weights, _Description.model_validate(description))
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


def _make_model(path: Path, weights: CSR, description: _Description) -> OneVsAll:
    """Make a model of weights and their description; ValueError if they do not fit."""
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
    columns = f"{n_features:,} columns of weights without the bias"
    if names.features and len(names.features) != n_features:
        raise ValueError(f"{columns}, but {len(names.features):,} names of features")
    if idf is not None and len(idf) != n_features:
        raise ValueError(f"{columns}, but {len(idf):,} idf")
    return model


def _read_description(path: StrPath) -> Any:
    """Read the description that ovaflow wrote; None in files of other programs."""
    with np.load(path, allow_pickle=False) as arrays:
        if _DESCRIPTION_KEY not in arrays.files:
            return None
        return json.loads(bytes(arrays[_DESCRIPTION_KEY]))


def _make_description(weights: CSR, bias: float, *, normalize: bool) -> dict[str, Any]:
    """Make the description of another program's matrix; labels without weights are untrained."""
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
