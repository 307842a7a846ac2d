"""The files of a folder that has all that a model needs."""

import contextlib

from ovaflow.console.errors import InputError
from ovaflow.model.index import index_path, open_index
from ovaflow.reranking.reranker_file import FILE_NAME as RERANKER
from ovaflow.reranking.reranker_file import copy_of_run
from ovaflow.storage.texts import read_json

MODEL = "model.h5"
METRICS = "metrics.json"


def files_of(model):
    """Files of an open model, and where they lie, by their names in such a folder."""
    files = _with_index(model, MODEL)
    second_stage = model.path.with_name(RERANKER)
    if second_stage.exists():
        files[RERANKER] = second_stage
    # those of another model stay behind
    with contextlib.suppress(InputError):
        if read_metrics(model):
            files[METRICS] = model.path.with_name(METRICS)
    if model.probabilistic:
        for source, other in zip(model.reranker.runs, model.others, strict=True):
            files |= _with_index(other, copy_of_run("", source.name).as_posix())
    return files


def read_metrics(model):
    """Read what was measured of an open model on its test set, metrics.json next to it; empty without this file."""
    path = model.path.with_name(METRICS)
    return read_json(path, "metrics", model.checksum) if path.exists() else {}


def _with_index(model, name):
    files = {name: model.path}
    if open_index(model) is not None:
        files[index_path(name).as_posix()] = index_path(model.path)
    return files


def is_file_of_model(name):
    """Whether a path in such a folder is that of one of its files."""
    names = MODEL, index_path(MODEL).name, RERANKER, METRICS
    return name.as_posix() in names or name.match(copy_of_run("", "*").as_posix())
