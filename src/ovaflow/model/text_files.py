"""A model as tables that any program reads: weights, features with their idf, and labels."""

import json
from pathlib import Path

import numpy as np

from ovaflow.sparse.csr import transpose
from ovaflow.sparse.weight_rows import decoded
from ovaflow.storage.writing import write_atomically, write_text

_TRANSFORM = (
    "token_pattern",
    "normal_form",
    "html",
    "features",
    "left_out",
    "column_weights",
    "tfidf",
    "sublinear",
    "normalize",
    "bias",
    "columns",
)
"""What of a model's transform makes its features."""

_WEIGHTS = 1 << 16  # written at a time
_ONE_CELL = str.maketrans("\t\n\r", "   ")


def write_weights(path, model):
    """Write a line for each weight, feature by feature; numbers are those of the other tables."""
    by_feature = transpose(decoded(model.weights))
    features = np.repeat(np.arange(by_feature.n_rows), np.diff(by_feature.indptr))
    columns = features, by_feature.indices, by_feature.data
    with write_atomically(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write("feature\tlabel\tweight\n")
        for start in range(0, len(features), _WEIGHTS):
            # as text, a float32 has the fewest digits that give it again
            part = [column[start : start + _WEIGHTS].astype(str).tolist() for column in columns]
            file.writelines(map("{}\t{}\t{}\n".format, *part))


def write_companions(path, model):
    """Write vocabulary, labels and transform next to a file of weights, and return their paths."""
    path = Path(path)
    tables = {"vocabulary": _vocabulary(model), "labels": _labels(model)}
    files = [path.with_suffix(f".{name}.tsv") for name in tables]
    for file, rows in zip(files, tables.values(), strict=True):
        write_text(file, "".join("\t".join(map(_cell, row)) + "\n" for row in rows))
    files.append(path.with_suffix(".transform.json"))
    transform = {name: model.transform[name] for name in _TRANSFORM if name in model.transform}
    if model.bias:
        transform["bias_feature"] = model.bias_feature
    write_text(files[-1], json.dumps(transform, indent=1, ensure_ascii=False) + "\n")
    return files


def _cell(value):
    return str(value).translate(_ONE_CELL)


def _vocabulary(model):
    n = model.n_features - (model.bias != 0)
    names = model.feature_names if len(model.feature_names) else range(n)
    idf = np.ones(n, np.float32) if model.idf is None else model.idf
    yield "id", "feature", "idf"
    yield from zip(range(n), names, idf, strict=True)


def _labels(model):
    uris = model.label_uris if len(model.label_uris) else [""] * model.n_labels
    yield "id", "label", "uri", "trained"
    trained = model.trained.astype(int)
    yield from zip(range(model.n_labels), model.label_names, uris, trained, strict=True)
