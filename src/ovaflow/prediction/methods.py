"""The method of a model: the module, named in :mod:`ovaflow.methods`, that opens, saves and scores such models."""

from importlib import import_module

from ovaflow.console.errors import InputError
from ovaflow.methods import METHODS
from ovaflow.model.model_file import ONE_VS_ALL, method_of


def method_named(name, path):
    if name not in METHODS:
        raise InputError(
            f"a model of {name}, which this ovaflow does not know",
            path=path,
            remedy="use the ovaflow that wrote it, or a newer one",
        )
    return import_module(METHODS[name].model)


def method_of_model(model):
    return method_named(model.parameters.get("train", {}).get("method", ONE_VS_ALL), model.path)


def open_any_model(path):
    """Open a model file, whatever its method."""
    return method_named(method_of(path), path).open_model(path)


class _Search:
    """A model that needs no index."""

    def __init__(self, model):
        self._model, self._method = model, method_of_model(model)

    def prepare(self):
        self._method.load_kernels()

    def top_k(self, X, k, threads):
        return self._method.predict(self._model, X, k, threads, quiet=True)

    def scores(self, X, labels):
        return self._method.score(self._model, X, labels)


def search_of(model):
    """An open model, to be searched again and again: by its method's own ``Search``, where it has one."""
    return getattr(method_of_model(model), "Search", _Search)(model)
