"""A model as a matrix for SciPy: ``scipy.sparse.load_npz`` reads the weights, one row a label."""

import json
import zipfile
import zlib

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.data.readers.npz import check_sizes
from ovaflow.model.exchange import KEY, assemble, checked_weights, describe, describe_foreign, parse
from ovaflow.storage.artifact import write_atomically

_FOREIGN = (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy and SciPy raise on files that are no matrix."""


def write_npz(path, model):
    """Write a model.

    Parameters
    ----------
    path : path-like
    model : ovaflow.model.model_file.Model
    """
    weights = model.weights
    described = np.frombuffer(json.dumps(describe(model)).encode(), np.uint8)
    arrays = {
        "data": weights.data,
        "indices": weights.indices,
        "indptr": weights.indptr,
        "shape": np.array([weights.n_rows, weights.n_columns]),
        "format": np.array(b"csr"),
        "_is_array": np.array(True),
        KEY: described,
    }
    with write_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_npz(path, **supposed):
    """Read a matrix of weights.

    Parameters
    ----------
    path : path-like
    **supposed
        For matrices of others, see :func:`ovaflow.model.exchange.describe_foreign`.

    Returns
    -------
    ovaflow.model.model_file.Model

    Raises
    ------
    InputError
        If the file is no such matrix, or damaged.
    """
    try:
        with open(path, "rb") as stream:
            check_sizes(stream)
        matrix = scipy.sparse.load_npz(path)
        if len(matrix.shape) != 2:
            raise ValueError(f"{len(matrix.shape)} dimensions instead of 2")
        # SciPy's conversions do not look where indices point
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        matrix = scipy.sparse.csr_array(matrix)
        with np.load(path, allow_pickle=False) as arrays:
            described = bytes(arrays[KEY]) if KEY in arrays.files else None
    except _FOREIGN as error:
        raise InputError(
            f"no sparse matrix as SciPy writes it ({error})", path=path, remedy="mend this file, or give another one"
        ) from None
    weights = checked_weights(path, matrix)
    if described is None:
        return assemble(path, weights, describe_foreign(weights, **supposed))
    return assemble(path, weights, parse(described, path))
