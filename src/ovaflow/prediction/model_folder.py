"""The files of a folder that has all that a model needs."""

from ovaflow.model.index import index_path, open_index
from ovaflow.prediction.reference import FILE_NAME as REFERENCE
from ovaflow.reranking.reranker_file import FILE_NAME as RERANKER
from ovaflow.reranking.reranker_file import copy_of_run

MODEL = "model.h5"


def files_of(model):
    """Files of an open model, and where they lie, by their names in such a folder."""
    files = _with_index(model, MODEL)
    for name in (RERANKER, REFERENCE):
        beside = model.path.with_name(name)
        if beside.exists():
            files[name] = beside
    if model.probabilistic:
        for source, other in zip(model.reranker.runs, model.others, strict=True):
            files |= _with_index(other, copy_of_run("", source.name).as_posix())
    return files


def _with_index(model, name):
    files = {name: model.path}
    if open_index(model) is not None:
        files[index_path(name).as_posix()] = index_path(model.path)
    return files


def is_file_of_model(name):
    """Whether a path in such a folder is that of one of its files."""
    names = MODEL, index_path(MODEL).name, RERANKER, REFERENCE
    return name.as_posix() in names or name.match(copy_of_run("", "*").as_posix())
