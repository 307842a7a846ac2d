"""Models of one-vs-all at work: opened, saved, scored once, or searched again and again by their index."""

from ovaflow.model.model_file import open_model, save_model
from ovaflow.prediction.index import build_index, open_index
from ovaflow.prediction.top_k import (
    LONGEST_LIST,
    check_features,
    load_kernels,
    predict_top_k,
    scan,
    scores_of,
    search_index,
    sort_all,
)

__all__ = ["Search", "load_kernels", "open_model", "predict", "save_model", "score"]

SCANS = 16
"""Instances that are scored without an index before one is built, which takes as long as 20 to 30 of them."""


def predict(model, X, k, threads, quiet):
    return predict_top_k(model.weights, model.trained, X, k, threads, quiet=quiet)


def score(model, X, labels):
    return scores_of(model.weights, X, labels)


class Search:
    """A model with its index: that beside its file, or one built in memory once it pays."""

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
        return score(self._model, X, labels)
