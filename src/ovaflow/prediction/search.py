"""Searching an open model again and again, whatever its method."""

from ovaflow.model.model_file import Model
from ovaflow.prediction.index_file import build_index, open_index
from ovaflow.prediction.methods import method_of_model
from ovaflow.prediction.top_k import LONGEST_LIST, check_features, load_kernels, scan, scores_of, search_index, sort_all

SCANS = 16
"""Instances that are scored without an index before one is built, which takes as long as 20 to 30 of them."""


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
