"""A model as a matrix for SciPy: ``scipy.sparse.load_npz`` reads the weights, one row per label."""

import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Names
from ovaflow.model.model_file import ONE_VS_ALL
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.writing import write_atomically

_KEY = "ovaflow"
"""Entry of the file with everything but the weights, as JSON."""

_FOREIGN = (ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy and SciPy raise for files that are not a matrix."""


def write_npz(path, model):
    """Write a model of one-vs-all."""
    weights = model.weights
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
    """Read a model; ``bias`` and ``normalize`` say how instances were prepared for another program's weights."""
    try:
        weights = _read_weights(path)
        description = _description(path) or _default_description(weights, bias, normalize)
        return _model(Path(path), weights, description)
    except _FOREIGN as error:
        message = f"not a sparse matrix of finite weights ({error})"
        remedy = "write it with scipy.sparse.save_npz"
        raise InputError(message, path=path, remedy=remedy) from None


def _model(path, weights, description):
    idf = description["idf"]
    names = Names(
        description["label_names"],
        description["feature_names"],
        None if idf is None else np.array(idf, np.float32),
    )
    trained = np.array(description["trained"], bool)
    counts = np.array(description["counts"], np.int64)
    n_labels = len(names.labels)
    if not weights.n_rows == n_labels == len(trained) == len(counts):
        raise ValueError(f"{weights.n_rows:,} rows of weights, but {n_labels:,} names of labels")
    return OneVsAll(
        path,
        trained,
        counts,
        checksum="",
        parameters=description["parameters"],
        inputs=description["inputs"],
        weights=weights,
        names_in_memory=names,
    )


def _description(path):
    """What ovaflow wrote beside the weights; None in files of other programs."""
    with np.load(path, allow_pickle=False) as arrays:
        return json.loads(bytes(arrays[_KEY])) if _KEY in arrays.files else None


def _read_weights(path):
    matrix = scipy.sparse.load_npz(path)
    if hasattr(matrix, "check_format"):
        # SciPy's conversions do not check indices
        matrix.check_format(full_check=True)
    with np.errstate(over="ignore"):
        weights = from_scipy(matrix)
    if not np.isfinite(weights.data).all():
        raise ValueError("some are not finite numbers of 32 bits")
    return weights


def _default_description(weights, bias, normalize):
    """The description of another program's matrix; labels without weights count as untrained."""
    return {
        "label_names": [str(label) for label in range(weights.n_rows)],
        "feature_names": [],
        "idf": None,
        "trained": np.diff(weights.indptr) > 0,
        "counts": [0] * weights.n_rows,
        "parameters": {
            "train": {"method": ONE_VS_ALL},
            "prune": 0.0,
            "transform": {"format": "foreign", "tfidf": False, "normalize": normalize, "bias": bias},
        },
        "inputs": {},
    }
