"""Searching an open model again and again, whatever its method."""

from ovaflow.prediction.index_file import build_index, open_index
from ovaflow.prediction.top_k import LONGEST_LIST, check_features, scan, scores_of, search_index, sort_all

SCANS = 16
"""Instances that are scored without an index before one is built, which takes as long as 20 to 30 of them."""


class OneVsAllSearch:
    """A model of one-vs-all with its index: that beside its file, or one built in memory once it pays.

    Parameters
    ----------
    model : ovaflow.model.model_file.Model
    """

    def __init__(self, model):
        self._model = model
        self._panels = open_index(model)
        self._scans_left = SCANS

    def prepare(self):
        """Make the index now, so that no later search waits for it."""
        if self._panels is None:
            self._panels = list(build_index(self._model))

    def top_k(self, X, k, threads):
        """Best labels, see :meth:`ovaflow.prediction.predictor.Predictor.top_k`."""
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
        """Scores of chosen labels, see :meth:`ovaflow.prediction.predictor.Predictor.scores`."""
        return scores_of(self._model.weights, X, labels)


class PlainSearch:
    """A model that needs no index.

    Parameters
    ----------
    model : ovaflow.model.model_file.ModelFile
    predict : callable
        ``predict(model, X, k, threads, quiet)``.
    score : callable
        ``score(model, X, labels)``.
    load_kernels : callable
    """

    def __init__(self, model, predict, score, load_kernels):
        self._model, self._predict, self.prepare = model, predict, load_kernels
        self._score = score

    def top_k(self, X, k, threads):
        """Best labels, see :meth:`ovaflow.prediction.predictor.Predictor.top_k`."""
        return self._predict(self._model, X, k, threads, quiet=True)

    def scores(self, X, labels):
        """Scores of chosen labels, see :meth:`ovaflow.prediction.predictor.Predictor.scores`."""
        return self._score(self._model, X, labels)
