"""DiSMEC's models, which are LIBLINEAR's: a header, then a line of weights for each feature, one of each label.

Every weight is written out, zeros too, so this is for models, or batches of
labels, of moderate size. Names do not survive.
"""

from pathlib import Path

import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.data.readers.rows import ID_LIMIT
from ovaflow.data.readers.streams import open_stream
from ovaflow.model.dismecpp_files import numbers_of
from ovaflow.model.exchange import assemble, checked_weights, describe_foreign
from ovaflow.sparse.csr import transpose
from ovaflow.storage.artifact import write_atomically

MOST_NUMBERS = 10**10
_HEADER = ("solver_type", "nr_class", "label", "nr_feature", "bias")
_MARGINS = ("L2R_L2LOSS_SVC", "L2R_LR")
_SOLVERS = (*_MARGINS, "L2R_L2LOSS_SVC_DUAL", "L2R_L1LOSS_SVC_DUAL", "L1R_L2LOSS_SVC", "L1R_LR", "L2R_LR_DUAL")


def write_dismec(path, model):
    """Write a model.

    Parameters
    ----------
    path : path-like
    model : ovaflow.model.model_file.Model

    Raises
    ------
    InputError
        If it is too large for a format without zeros left out, or has two labels, which the format takes for one.
    """
    l, d = model.n_labels, model.n_features  # noqa: E741
    if l == 2 or l * d > MOST_NUMBERS:
        why = "two labels, which DiSMEC takes for one" if l == 2 else f"{l * d:,} weights, zeros included"
        raise InputError(why, path=model.path, remedy="use --to=dismec++")
    bias = model.parameters["transform"].get("bias", 0.0)
    solver = _MARGINS[model.parameters["train"].get("loss") == "logistic"]
    header = [solver, l, " ".join(map(str, range(l))), d - (bias != 0), f"{bias or -1:.9g}"]
    columns = transpose(model.weights)
    with write_atomically(path) as temporary, temporary.open("w", encoding="ascii") as file:
        file.writelines(f"{name} {value}\n" for name, value in zip(_HEADER, header, strict=True))
        file.write("w\n")
        with Progress("writing", d, "features") as progress:
            for feature in range(d):
                file.write(_line(columns, feature, l))
                progress.advance()


def _line(columns, feature, n_labels):
    words = ["0"] * n_labels
    stored = slice(*columns.indptr[feature : feature + 2])
    for label, weight in zip(columns.indices[stored].tolist(), columns.data[stored].tolist(), strict=True):
        words[label] = f"{weight:.9g}"
    return " ".join(words) + "\n"


def read_dismec(path, **supposed):
    """Read a model.

    Parameters
    ----------
    path : path-like
    **supposed
        See :func:`ovaflow.model.exchange.describe_foreign`; the bias is the file's own.

    Returns
    -------
    ovaflow.model.model_file.Model
        Labels have their numbers as names.

    Raises
    ------
    InputError
        With the line that does not fit.
    """
    path = Path(path)
    with open_stream(path) as stream:
        header, line = _read_header(stream, path)
        d = header["nr_feature"] + (header["bias"] >= 0)
        columns = len(header["label"]) if len(header["label"]) != 2 else 1
        parts = []
        for line, text in enumerate(stream, line + 1):  # noqa: B020
            if len(parts) == d:
                raise InputError(f"more than the {d:,} lines of weights that are told", path=path, line=line)
            parts.append(scipy.sparse.csr_array(numbers_of(text, columns, path, line)[None, :]))
    if len(parts) != d:
        raise InputError(f"{len(parts):,} lines of weights where {d:,} are told", path=path, line=line)
    matrix = scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr").T)
    if len(header["label"]) == 2:
        # of two classes LIBLINEAR keeps the first one's weights alone
        matrix = scipy.sparse.csr_array(scipy.sparse.vstack([matrix, -matrix]))
    weights = checked_weights(path, matrix)
    described = describe_foreign(weights, **{**supposed, "bias": max(header["bias"], 0.0)})
    return assemble(path, weights, described | {"label_names": [str(label) for label in header["label"]]})


def _read_header(stream, path):
    header = {}
    for number, line in enumerate(stream, 1):
        name, *words = line.decode("ascii", "replace").split()[:ID_LIMIT] or [""]
        if name == "w" and not words:
            break
        if name not in _HEADER or name in header or not words:
            raise InputError(f"found {name[:30]!r}, expected a line of a header", path=path, line=number)
        header[name] = _value(name, words, path, number)
    else:
        raise InputError("no weights: the line w is missing", path=path, remedy="mend this file, or give another one")
    missing = [name for name in _HEADER if name not in header]
    if missing:
        raise InputError(f"its header lacks {', '.join(missing)}", path=path, line=number)
    if header["nr_class"] != len(header["label"]) or not header["label"]:
        raise InputError(f"{len(header['label'])} labels for nr_class {header['nr_class']}", path=path, line=number)
    return header, number


def _value(name, words, path, number):
    try:
        if name == "solver_type":
            if words[0] not in _SOLVERS:
                raise ValueError(f"solver_type {words[0][:30]!r} has no weights for each label")
            return words[0]
        if name == "label":
            return [int(word) for word in words]
        value = float(words[0]) if name == "bias" else int(words[0])
    except ValueError as error:
        raise InputError(str(error), path=path, line=number) from None
    if len(words) > 1 or not value < ID_LIMIT or (name != "bias" and value < 0):
        raise InputError(f"{name}: found {' '.join(words)[:30]!r}", path=path, line=number)
    return value
