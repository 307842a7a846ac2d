"""Pruning to a size: the smallest threshold under which a model fits."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import save_model
from ovaflow.model.pruning import prune
from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import PAGE

_BLOCK = 1 << 22
_BYTES_OF_A_WEIGHT = 8


def threshold_for(weights, most):
    """The smallest threshold that leaves at most ``most`` weights, 0 where only zeros must go."""
    if np.count_nonzero(weights) <= most:
        return 0.0
    upper = _at_least(_counted(weights, lambda bits: bits >> 16), 0)
    first = int(np.argmax(upper <= most))
    # the half above which all fit, and of the one below, where the largest may fit too, the lower bits
    lower = _at_least(_counted(weights, lambda bits: bits[bits >> 16 == first - 1] & 0xFFFF), int(upper[first]))
    found = int(np.argmax(np.append(lower, 0) <= most))
    return float(np.array([((first - 1) << 16) + found], np.uint32).view(np.float32)[0])


def _counted(weights, part):
    counts = np.zeros(1 << 16, np.int64)
    for low in range(0, len(weights), _BLOCK):
        bits = np.abs(weights[low : low + _BLOCK]).view(np.uint32)
        counts += np.bincount(part(bits), minlength=1 << 16)
    return counts


def _at_least(counts, above):
    """How many are at least each value."""
    return above + np.cumsum(counts[::-1])[::-1]


def prune_to_bytes(model, most_bytes, path):
    """Write a model pruned as little as a file size allows, to within three pages."""
    rest = _bytes_beside_weights(model, Path(path).parent)
    # both arrays of weights begin at a page
    most = (most_bytes - rest - 2 * PAGE) // _BYTES_OF_A_WEIGHT
    if most < 0:
        raise InputError(
            f"without any weight it takes {rest + 2 * PAGE:,} bytes, so it cannot be pruned to {most_bytes:,}",
            path=model.path,
            remedy="allow more bytes",
        )
    return write_pruned(model, threshold_for(model.weights.data, most), path)


def write_pruned(model, threshold, path):
    """Write a model without weights below the threshold, or its own if that is larger."""
    threshold = max(threshold, model.parameters.get("prune", 0.0))
    pruned = replace(
        model,
        weights=prune(model.weights, threshold),
        parameters=model.parameters | {"prune": threshold},
        inputs=model.inputs | {"unpruned": model.checksum},
    )
    save_model(path, pruned)
    return pruned


def _bytes_beside_weights(model, folder):
    empty = CSR(np.empty(0, np.float32), np.empty(0, np.int32), np.zeros_like(model.weights.indptr), model.n_features)
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "empty.h5"
        write_pruned(replace(model, weights=empty), 1.0, path)
        return path.stat().st_size
