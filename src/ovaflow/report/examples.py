"""Some test documents with their true and predicted labels."""

from dataclasses import dataclass

import numpy as np

from ovaflow.report import wording
from ovaflow.report.explained import Piece, cut_text, parts_of, words_of

EXCERPT = 420
"""Characters of a text that are shown."""

TRUE_SHOWN = 20
"""True labels of a document that are shown; the rest is counted."""

FEATURES_SHOWN = 12
"""Features shown for a document without text, heaviest first."""


@dataclass(frozen=True)
class TrueLabel:
    """A true label of a document.

    Attributes
    ----------
    name : str
    positives : int
        Its training positives.
    found : list of int
        Numbers of the runs that predicted it.
    """

    name: str
    positives: int
    found: list


@dataclass(frozen=True)
class Prediction:
    """A predicted label of a document.

    Attributes
    ----------
    name : str
    score : float
    hit : bool
    probability : float or None
        None where the run is not calibrated.
    up, down : list of (str, float)
        Words that push its score up and down most, and by how much; empty where not known.
    """

    name: str
    score: float
    hit: bool
    probability: float | None
    up: list
    down: list


@dataclass(frozen=True)
class Example:
    """A test document.

    Attributes
    ----------
    row : int
        Its place in the test set, from 0.
    pieces : list of Piece
        The beginning of its text; empty when the source had features only.
    features : list of str
        Names of its heaviest features; empty when there is a text.
    true : list of TrueLabel
    more : int
        True labels beyond those listed.
    predictions : list of (int, list of Prediction)
        For each run, its number and the labels by falling score.
    """

    row: int
    pieces: list
    features: list
    true: list
    more: int
    predictions: list


def choose(hits, n_true, wanted, seed=0):
    """Draw documents: as many of each kind as the test set's shares demand, at least one of each.

    The kinds are: all found that could be found, some found, none found.

    Parameters
    ----------
    hits : ndarray of bool, shape (n, k)
        Which predictions of the first run are true.
    n_true : ndarray of int, shape (n,)
        True labels of each document; those without are never drawn.
    wanted : int
    seed : int

    Returns
    -------
    ndarray of int64, shape (at most ``wanted``,)
        Ascending.
    """
    found, possible = hits.sum(axis=1), np.minimum(n_true, hits.shape[1])
    kinds = [found == possible, (found > 0) & (found < possible), found == 0]
    kinds = [np.flatnonzero(kind & (n_true > 0)) for kind in kinds]
    random = np.random.default_rng(seed)
    drawn = [
        random.choice(kind, amount, replace=False)
        for kind, amount in zip(kinds, _allot([len(kind) for kind in kinds], wanted), strict=True)
    ]
    return np.sort(np.concatenate(drawn)).astype(np.int64)


def _allot(sizes, wanted):
    wanted = min(wanted, sum(sizes))
    amounts = [0] * len(sizes)
    for _ in range(wanted):
        # a kind that has none yet comes first, then the kind farthest below its share
        def lack(i):
            if amounts[i] == sizes[i]:
                return (-1, 0.0)
            return (amounts[i] == 0, sizes[i] * wanted / sum(sizes) - amounts[i])

        amounts[max(range(len(sizes)), key=lack)] += 1
    return amounts


class Documents:
    """Test documents of a dataset, as some runs see them.

    Parameters
    ----------
    dataset : Dataset
    counts : ndarray of int, shape (l,)
        Training positives.
    outcomes : list of (ndarray, ndarray, ndarray)
        For each run ids, scores and hits, all of shape (n, k).
    explained : (int, Predictor), optional
        The run whose predictions are explained, see :func:`ovaflow.report.explained.first_explained`.
    sigmoids : dict of int to Calibration, optional
        By the numbers of the runs that are calibrated.
    """

    def __init__(self, dataset, counts, outcomes, explained=None, sigmoids=None):
        self.dataset, self.counts, self.outcomes = dataset, counts, outcomes
        self.explained, self.sigmoids = explained, sigmoids or {}

    def choose(self, wanted, seed=0):
        """Draw documents by what the first run makes of them, see :func:`choose`."""
        return choose(self.outcomes[0][2], np.diff(self.dataset.test.Y.indptr), wanted, seed)

    def describe(self, rows, runs=None):
        """Put names and texts to documents.

        Parameters
        ----------
        rows : ndarray of int
        runs : list of int, optional
            Numbers of the runs whose predictions are told; all by default.

        Returns
        -------
        list of Example
        """
        runs = range(len(self.outcomes)) if runs is None else runs
        texts = self.dataset.test_texts(rows) or [""] * len(rows)
        return [self._example(int(row), text, runs) for row, text in zip(rows, texts, strict=True)]

    def _example(self, row, text, runs):
        labels, more = self._true(row, runs)
        features = [] if text else _heaviest(self.dataset, row)
        text = wording.plain(text, EXCERPT)
        pieces, words = self._explained(row, text) if self.explained else ([Piece(text)] if text else [], {})
        predictions = [(number, self._predictions(row, number, words.get(number, {}))) for number in runs]
        return Example(row, pieces, features, labels, more, predictions)

    def _true(self, row, runs):
        true = _entries(self.dataset.test.Y, row)[0]
        order = true[np.argsort(-self.counts[true], kind="stable")]
        found = {number: set(self.outcomes[number][0][row].tolist()) for number in runs}
        labels = [
            TrueLabel(
                label_name(self.dataset, label), int(self.counts[label]), [n for n in runs if int(label) in found[n]]
            )
            for label in order[:TRUE_SHOWN]
        ]
        return labels, len(true) - len(labels)

    def _explained(self, row, text):
        """The text cut where words speak for labels, and the words of each label of the run that is explained."""
        number, predictor = self.explained
        ids, _, hits = self.outcomes[number]
        parts = parts_of(predictor, self.dataset.test.X, row, ids[row][ids[row] >= 0])
        words = {number: {label: words_of(predictor, part) for label, part in parts.items()}}
        return cut_text(predictor, text, parts, set(ids[row][hits[row]].tolist())), words

    def _predictions(self, row, number, words):
        ids, scores, hits = (array[row] for array in self.outcomes[number])
        sigmoids = self.sigmoids.get(number)
        likely = [None] * len(ids) if sigmoids is None else sigmoids.probabilities(ids, scores).tolist()
        return [
            Prediction(
                label_name(self.dataset, label),
                float(score),
                bool(hit),
                probability,
                *words.get(int(label), ([], [])),
            )
            for label, score, hit, probability in zip(ids, scores, hits, likely, strict=True)
            if label >= 0
        ]


def label_name(dataset, label):
    """Name of a label as the page shows it.

    Parameters
    ----------
    dataset : Dataset
    label : int

    Returns
    -------
    str
        ``"label 17"`` where the source has no names.
    """
    names = dataset.label_names
    return wording.plain(names[label]) if names and names[label].strip() else f"label {label}"


def _heaviest(dataset, row):
    indices, data = _entries(dataset.test.X, row)
    names = dataset.feature_names
    real = indices < len(names)
    order = np.argsort(-np.abs(data[real]), kind="stable")[:FEATURES_SHOWN]
    return [wording.plain(names[column], 40) for column in indices[real][order]]


def _entries(matrix, row):
    start, end = matrix.indptr[row], matrix.indptr[row + 1]
    return matrix.indices[start:end], matrix.data[start:end]
