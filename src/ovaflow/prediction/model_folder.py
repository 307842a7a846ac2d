"""The files of a folder that has a model with all that it needs."""

import contextlib
from pathlib import Path, PurePath
from typing import Any

from ovaflow.console.errors import InputError
from ovaflow.model.index import index_path, open_index
from ovaflow.model.model_file import Model
from ovaflow.reranking.reranker_file import FILE_NAME as RERANKER_NAME
from ovaflow.storage.texts import read_json

MODEL_NAME = "model.h5"
INDEX_NAME = index_path(MODEL_NAME).name
METRICS_NAME = "metrics.json"


def list_model_files(model: Model) -> dict[str, Path]:
    """List the paths of the files of an open model, by their names in such a folder."""
    files = {MODEL_NAME: model.path}
    if open_index(model) is not None:
        files[INDEX_NAME] = index_path(model.path)
    second_stage = model.path.with_name(RERANKER_NAME)
    if second_stage.exists():
        files[RERANKER_NAME] = second_stage
    # metrics of another model are left out
    with contextlib.suppress(InputError):
        if read_metrics(model):
            files[METRICS_NAME] = model.path.with_name(METRICS_NAME)
    return files


def read_metrics(model: Model) -> dict[str, Any]:
    """Read the metrics of an open model, metrics.json next to it; empty without this file."""
    path = model.path.with_name(METRICS_NAME)
    if not path.exists():
        return {}
    return read_json(path, "metrics", model.checksum)


def is_model_file(path: PurePath) -> bool:
    """Return True if a path in such a folder is that of one of its files."""
    return path.as_posix() in (MODEL_NAME, INDEX_NAME, RERANKER_NAME, METRICS_NAME)
