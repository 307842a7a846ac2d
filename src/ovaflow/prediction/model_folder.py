"""The files of a folder that has all that a model needs."""

import contextlib

from ovaflow.console.errors import InputError
from ovaflow.model.index import index_path, open_index
from ovaflow.reranking.reranker_file import FILE_NAME as RERANKER
from ovaflow.storage.texts import read_json

MODEL = "model.h5"
INDEX = index_path(MODEL).name
METRICS = "metrics.json"


def files_of(model):
    """Files of an open model, and where they lie, by their names in such a folder."""
    files = {MODEL: model.path}
    if open_index(model) is not None:
        files[INDEX] = index_path(model.path)
    second_stage = model.path.with_name(RERANKER)
    if second_stage.exists():
        files[RERANKER] = second_stage
    # those of another model stay behind
    with contextlib.suppress(InputError):
        if read_metrics(model):
            files[METRICS] = model.path.with_name(METRICS)
    return files


def read_metrics(model):
    """Read what was measured of an open model on its test set, metrics.json next to it; empty
    without this file.
    """
    path = model.path.with_name(METRICS)
    return read_json(path, "metrics", model.checksum) if path.exists() else {}


def is_file_of_model(name):
    """Whether a path in such a folder is that of one of its files."""
    return name.as_posix() in (MODEL, INDEX, RERANKER, METRICS)
