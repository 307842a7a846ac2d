"""What differs between methods once a model is trained: how it is opened and how it scores."""

from collections.abc import Callable
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.fastxml import scoring
from ovaflow.fastxml.model_file import METHOD as FASTXML
from ovaflow.fastxml.model_file import open_forest, save_forest
from ovaflow.model.model_file import ONE_VS_ALL, Model, method_of, open_model, save_model
from ovaflow.prediction import top_k
from ovaflow.prediction.index import build_index, open_index
from ovaflow.prediction.top_k import LONGEST_LIST, check_features, load_kernels, scan, scores_of, search_index, sort_all
from ovaflow.rembrandt import scoring as embedded
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.model_file import open_embedding_model, save_embedding_model

SCANS = 16
"""Instances that are scored without an index before one is built, which takes as long as 20 to 30 of them."""


class Method(NamedTuple):
    """A family of models."""

    open: Callable  # opens a model file: ``open(path)``
    predict: Callable  # best labels and scores: ``predict(model, X, k, threads, quiet)``
    score: Callable  # scores of chosen labels: ``score(model, X, labels)``
    save: Callable  # writes a model that is in memory: ``save(path, model)``
    load_kernels: Callable  # loads or compiles what scoring needs


def _predict_one_vs_all(model, X, k, threads, quiet):
    return top_k.predict_top_k(model.weights, model.trained, X, k, threads, quiet=quiet)


def _score_one_vs_all(model, X, labels):
    return top_k.scores_of(model.weights, X, labels)


def _predict_fastxml(model, X, k, threads, quiet):
    return scoring.predict_trees(model.forest, X, k, threads, quiet=quiet)


def _score_fastxml(model, X, labels):
    return scoring.scores_of(model.forest, X, labels)


def _predict_rembrandt(model, X, k, threads, quiet):
    return embedded.predict_embedded(model.projection, model.decoder, model.trained, X, k, threads, quiet)


def _score_rembrandt(model, X, labels):
    return embedded.scores_of(model.projection, model.decoder, X, labels)


METHODS = {
    ONE_VS_ALL: Method(open_model, _predict_one_vs_all, _score_one_vs_all, save_model, top_k.load_kernels),
    FASTXML: Method(open_forest, _predict_fastxml, _score_fastxml, save_forest, scoring.load_kernels),
    REMBRANDT: Method(
        open_embedding_model, _predict_rembrandt, _score_rembrandt, save_embedding_model, embedded.load_kernels
    ),
}
"""By the name in the model's ``parameters["train"]["method"]``."""


def method_named(name, path):
    if name not in METHODS:
        raise InputError(
            f"a model of {name}, which this ovaflow does not know",
            path=path,
            remedy="use the ovaflow that wrote it, or a newer one",
        )
    return METHODS[name]


def method_of_model(model):
    return method_named(model.parameters.get("train", {}).get("method", ONE_VS_ALL), model.path)


def open_any_model(path):
    """Open a model file, whatever its method."""
    return method_named(method_of(path), path).open(path)


class OneVsAllSearch:
    """A model of one-vs-all with its index: that beside its file, or one built in memory once it pays."""

    def __init__(self, model):
        self._model = model
        self._panels = open_index(model)
        self._scans_left = SCANS

    def prepare(self):
        load_kernels()
        if self._panels is None:
            self._panels = list(build_index(self._model))

    def top_k(self, X, k, threads):
        weights, trained = self._model.weights, self._model.trained
        check_features(weights, X)
        if k > LONGEST_LIST:
            return sort_all(weights, trained, X, k)
        if self._panels is None:
            self._scans_left -= X.n_rows
            if self._scans_left >= 0:
                return scan(weights, trained, X, k, threads)
            self.prepare()
        return search_index(self._panels, weights, X, k, threads)

    def scores(self, X, labels):
        return scores_of(self._model.weights, X, labels)


class PlainSearch:
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
    """How an open model is searched."""
    return OneVsAllSearch(model) if isinstance(model, Model) else PlainSearch(model)
