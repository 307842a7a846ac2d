"""DiSMEC++'s models: a JSON file that names files of weights, one line a label.

Lines are ``feature:weight feature:weight``, features from 0 (SparseTXT), or all
weights (DenseTXT); DenseNPY is a NumPy array.
"""

import json
from pathlib import Path

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.data.readers.row_kernels import Bounds
from ovaflow.data.readers.rows import ID_LIMIT, parse_rows
from ovaflow.data.readers.streams import open_stream
from ovaflow.model.exchange import KEY, assemble, checked_weights, describe, describe_foreign, parse
from ovaflow.storage.artifact import write_atomically, write_text

LABELS_OF_A_FILE = 4096


def write_dismecpp(path, model):
    """Write a model; nine digits tell every float32 from its neighbours.

    Parameters
    ----------
    path : path-like
        The JSON file; those of the weights stand beside it.
    model : ovaflow.model.model_file.Model
    """
    path, weights, files = Path(path), model.weights, []
    described = describe(model)
    with Progress("writing", weights.n_rows, "labels") as progress:
        for first in range(0, weights.n_rows, LABELS_OF_A_FILE):
            last = min(first + LABELS_OF_A_FILE, weights.n_rows)
            name = f"{path.name}.weights-{first}-{last - 1}"
            with write_atomically(path.parent / name) as temporary, temporary.open("w", encoding="ascii") as file:
                file.writelines(_line(weights, label) for label in range(first, last))
            files.append({"first": first, "count": last - first, "file": name, "weight-format": "SparseTXT"})
            progress.advance(last - first)
    # features and labels stand first: the description of a large model is long
    content = {"num-features": weights.n_columns, "num-labels": weights.n_rows, "files": files, KEY: described}
    write_text(path, json.dumps(content) + "\n")


def _line(weights, label):
    stored = slice(*weights.indptr[label : label + 2])
    pairs = zip(weights.indices[stored].tolist(), weights.data[stored].tolist(), strict=True)
    return " ".join([f"{feature}:{weight:.9g}" for feature, weight in pairs]) + "\n"


def read_dismecpp(path, **supposed):
    """Read a model.

    Parameters
    ----------
    path : path-like
        The JSON file.
    **supposed
        For models of DiSMEC++ itself, see :func:`ovaflow.model.exchange.describe_foreign`.

    Returns
    -------
    ovaflow.model.model_file.Model

    Raises
    ------
    InputError
        With the file, and in texts the line, that does not fit.
    """
    path = Path(path)
    try:
        content = parse(path.read_bytes(), path)
    except OSError as error:
        raise InputError(error.strerror, path=path, remedy="give the path of a model's description") from None
    d, n_labels, files = _contents(content, path)
    parts = [_READERS[entry["weight-format"]](path.parent / entry["file"], entry["count"], d) for entry in files]
    matrix = scipy.sparse.vstack(parts, format="csr") if parts else scipy.sparse.csr_array((n_labels, d), dtype="f4")
    weights = checked_weights(path, scipy.sparse.csr_array(matrix))
    return assemble(path, weights, content[KEY] if KEY in content else describe_foreign(weights, **supposed))


def _contents(content, path):
    """Numbers of features and labels, and the files in the order of their labels."""
    if not isinstance(content, dict) or not isinstance(content.get("files"), list):
        raise InputError(
            "no model of DiSMEC++: it names no files", path=path, remedy="mend this file, or give another one"
        )
    d, n_labels = (_size(content.get(name), name, path) for name in ("num-features", "num-labels"))
    for entry in content["files"]:
        _check_entry(entry, path)
    files, following = sorted(content["files"], key=lambda entry: entry["first"]), 0
    for entry in files:
        if entry["first"] != following:
            raise InputError(
                f"{entry['file']} begins with label {entry['first']}, not {following}",
                path=path,
                remedy="mend this file, or give another one",
            )
        following += entry["count"]
    if following != n_labels:
        raise InputError(
            f"its files hold {following:,} of {n_labels:,} labels",
            path=path,
            remedy="mend this file, or give another one",
        )
    return d, n_labels, files


def _size(value, name, path):
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < ID_LIMIT:
        raise InputError(f"{name}: found {value!r}, expected a whole number below 2^31", path=path)
    return value


def _check_entry(entry, path):
    if not isinstance(entry, dict):
        raise InputError("files: expected mappings", path=path)
    for name in ("first", "count"):
        _size(entry.get(name), name, path)
    name = entry.get("file")
    # nothing but files beside this one is opened
    if not isinstance(name, str) or name in ("", ".", "..") or not name.isprintable() or "/" in name:
        raise InputError(f"file: found {name!r}, expected the name of a file beside it", path=path)
    if entry.get("weight-format") not in _READERS:
        raise InputError(
            f"weight-format: found {entry.get('weight-format')!r}, expected {', '.join(_READERS)}", path=path
        )


def _read_sparse(path, count, d):
    with open_stream(path) as stream:
        rows = parse_rows(stream, path, Bounds(count, 0, d, 0, False))
    _check_count(path, rows.X.n_rows, count)
    return rows.X._replace(n_columns=d).to_scipy()


def _read_dense(path, count, d):
    parts = []
    with open_stream(path) as stream:
        for number, line in enumerate(stream, 1):
            parts.append(scipy.sparse.csr_array(numbers_of(line, d, path, number)[None, :]))
            if number > count:
                raise InputError(f"more than the {count} lines that are told", path=path, line=number)
    _check_count(path, len(parts), count)
    return scipy.sparse.vstack(parts, format="csr") if parts else scipy.sparse.csr_array((0, d), dtype=np.float32)


def _read_npy(path, count, d):
    try:
        array = np.load(path, allow_pickle=False, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"no array of NumPy's ({error})", path=path, remedy="mend this file, or give another one"
        ) from None
    if array.shape != (count, d) or array.dtype.kind != "f":
        raise InputError(
            f"an array of {array.dtype}, {array.shape}, where {(count, d)} is told",
            path=path,
            remedy="mend this file, or give another one",
        )
    return scipy.sparse.csr_array(array)


_READERS = {"SparseTXT": _read_sparse, "DenseTXT": _read_dense, "DenseNPY": _read_npy}


def _check_count(path, found, count):
    if found != count:
        raise InputError(
            f"{found:,} lines where {count:,} labels are told", path=path, remedy="mend this file, or give another one"
        )


def numbers_of(line, count, path, number):
    """Numbers of a line of text.

    Parameters
    ----------
    line : bytes
    count : int
        How many there must be.
    path : path-like
    number : int
        Of the line, for messages.

    Returns
    -------
    ndarray of float32, shape (count,)

    Raises
    ------
    InputError
        If there are more or fewer, or one is not finite.
    """
    words = line.split()
    if len(words) != count:
        raise InputError(f"{len(words):,} numbers where {count:,} are expected", path=path, line=number)
    try:
        with np.errstate(over="ignore"):
            values = np.array([float(word) for word in words], np.float32)
    except ValueError as error:
        raise InputError(str(error), path=path, line=number) from None
    if not np.isfinite(values).all():
        raise InputError("a number that is not finite in 32 bits", path=path, line=number)
    return values
