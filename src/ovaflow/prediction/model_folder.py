"""The files of a folder that has all that a model needs."""

import contextlib

from ovaflow.console.errors import InputError
from ovaflow.model.index import index_path, open_index
from ovaflow.reranking.reranker_file import FILE_NAME as RERANKER
from ovaflow.storage.texts import read_json

MODEL_NAME = "model.h5"
INDEX_NAME = index_path(MODEL_NAME).name
METRICS_NAME = "metrics.json"


def list_model_files(model):
    """Files of an open model, and where they lie, by their names in such a folder."""
    files = {MODEL_NAME: model.path}
    if open_index(model) is not None:
        files[INDEX_NAME] = index_path(model.path)
    second_stage = model.path.with_name(RERANKER)
    if second_stage.exists():
        files[RERANKER] = second_stage
    # those of another model stay behind
    with contextlib.suppress(InputError):
        if read_metrics(model):
            files[METRICS_NAME] = model.path.with_name(METRICS_NAME)
    return files


def read_metrics(model):
    """Read what was measured of an open model on its test set, metrics.json next to it; empty
    without this file.
    """
    path = model.path.with_name(METRICS_NAME)
    return read_json(path, "metrics", model.checksum) if path.exists() else {}


def is_model_file(name):
    """Whether a path in such a folder is that of one of its files."""
    return name.as_posix() in (MODEL_NAME, INDEX_NAME, RERANKER, METRICS_NAME)
