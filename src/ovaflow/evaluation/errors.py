"""Errors on the test records: true labels that were missed, and predicted ones that are not true; and why."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ovaflow.evaluation.ranking import find_hits
from ovaflow.prediction.explanation import shown_name
from ovaflow.prediction.reasons import explain
from ovaflow.reranking.answer_length import count_as_predicted

MEASURE = "lowest F1 of the predicted labels, then most errors, then the surest wrong label"
"""By which records are the worst."""

HEAVIEST = 12
"""Features that stand for a record without text."""


class RecordErrors(NamedTuple):
    """Each label of a test record once, as pairs of its id and its probability or score; None where that is unknown."""

    row: int  # of the test set, from 0
    name: str  # its id, or where in the file it is; empty where that is not known
    text: str  # its beginning; empty where the source had only features
    features: list  # names of the heaviest ones of a record without text
    f1: float
    right: list  # by falling probability, as are wrong ones and missed ones
    wrong: list
    missed: list

    @property
    def predicted(self):
        return sorted(self.right + self.wrong, key=_falling)

    @property
    def true(self):
        return self.right + self.missed


class LabelError(NamedTuple):
    """A record to which a label was wrongly predicted, or for which it was missed."""

    row: int
    missed: bool
    value: float | None  # probability or score of the label


@dataclass(frozen=True)
class RunErrors:
    """What a run predicts for the test records of its dataset, beside what is true.

    Labels that fit count as predicted, without a second stage the first five. Records without a label that a model
    can know are left out: of them nothing is known to be wrong.
    """

    dataset: Any
    predictions: Any

    @property
    def probabilistic(self):
        return self.predictions.ranking is not None

    @property
    def value(self):
        """What labels are predicted by."""
        return "probability" if self.probabilistic else "score"

    @cached_property
    def answers(self):
        """Labels by falling value, their values, and which of them count as predicted: three arrays (n, k)."""
        ranking = self.predictions.ranking
        if ranking is None:
            ids, values = self.predictions.ids, self.predictions.scores
        else:
            ids, values = ranking.ids, ranking.probabilities
        return ids, values, count_as_predicted(ids, values, self.probabilistic)

    @cached_property
    def hits(self):
        ids, _, predicted = self.answers
        return find_hits(ids, self.dataset.test.Y) & predicted

    @cached_property
    def positives(self):
        """Number of true labels of each record."""
        return np.diff(self.dataset.test.Y.indptr)

    @cached_property
    def n_right(self):
        return self.hits.sum(axis=1)

    @cached_property
    def n_wrong(self):
        _, _, predicted = self.answers
        return predicted.sum(axis=1) - self.n_right

    @property
    def n_missed(self):
        return self.positives - self.n_right

    @cached_property
    def f1(self):
        """F1 of the predicted labels of each record, 1 where there is neither a predicted nor a true one."""
        return 1 - (self.n_missed + self.n_wrong) / np.maximum(self.positives + self.n_right + self.n_wrong, 1)

    @property
    def n_labelled(self):
        return int(np.count_nonzero(self.positives))

    @cached_property
    def rows(self):
        """Records with an error, in the order of :data:`MEASURE`."""
        _, values, predicted = self.answers
        surest = np.where(predicted & ~self.hits, values, -np.inf).max(axis=1, initial=-np.inf)
        amounts = self.n_missed + self.n_wrong
        rows = np.flatnonzero((self.positives > 0) & (amounts > 0))
        return rows[np.lexsort((-surest[rows], -amounts[rows], self.f1[rows]))]

    def records(self, rows):
        """The :class:`RecordErrors` of some records."""
        names, texts = self.dataset.records("test", rows), self.dataset.test_texts(rows) or [""] * len(rows)
        return [self._record(int(row), *about) for row, *about in zip(rows, names, texts, strict=True)]

    def _record(self, row, name, text):
        ids, values, predicted = (array[row] for array in self.answers)
        known = {label: _short(value) for label, value in zip(ids.tolist(), values, strict=True) if label >= 0}
        answer, true = set(ids[predicted].tolist()), set(self.dataset.test.Y.part(row, row + 1).indices.tolist())
        labels = [[(label, known.get(label)) for label in of] for of in (true & answer, answer - true, true - answer)]
        groups = (sorted(of, key=_falling) for of in labels)
        features = [] if text else heaviest_features(self.dataset, row)
        return RecordErrors(row, name, text, features, float(self.f1[row]), *groups)

    def of_label(self, label, model):
        """Errors of one label: wrongly predicted by falling value, then missed by rising value."""
        ids, values, predicted = self.answers
        Y, here = self.dataset.test.Y, ids == label
        true = np.zeros(Y.n_rows, bool)
        true[np.repeat(np.arange(Y.n_rows), self.positives)[Y.indices == label]] = True
        value = np.where(here, values, -np.inf).max(axis=1)
        assigned = (here & predicted).any(axis=1)
        wrong, missed = np.flatnonzero(assigned & ~true & (self.positives > 0)), np.flatnonzero(true & ~assigned)
        wrong = wrong[np.argsort(-value[wrong], kind="stable")]
        scores = model.score(model.instances(self.dataset.test.take(missed)), np.array([label]))[:, 0]
        if not self.probabilistic:
            value[missed] = scores
        # those that are no candidates have no probability
        missed = missed[np.lexsort((scores, value[missed]))]
        return [
            LabelError(int(row), is_missed, _short(value[row]) if np.isfinite(value[row]) else None)
            for rows, is_missed in ((wrong, False), (missed, True))
            for row in rows
        ]

    def label_name(self, label):
        names = self.dataset.label_names
        return shown_name({"id": label, "name": names[label] if names else ""})


def heaviest_features(dataset, row):
    """The heaviest features of a test record by name, or by number where they have none."""
    if dataset.feature_names:
        return dataset.heaviest_features("test", row, HEAVIEST)
    x = dataset.test.X.part(row, row + 1)
    order = np.argsort(-np.abs(x.data), kind="stable")
    return [str(feature) for feature in x.indices[order].tolist() if feature != dataset.bias_feature][:HEAVIEST]


def why_unexplained(model, label):
    """Why nothing says what a label's score is made of; empty where something does."""
    if model.linear is None:
        return model.why_unexplainable
    return "" if model.trained[label] else "the label had no training positives and so no classifier"


def reasons_for(predictor, dataset, row, label, text, top):
    """Words that push a label up and down, ``top`` each, with what they add, and the evidence in words."""
    x = predictor.from_split(dataset.test.take(np.array([row])))
    (entry,) = explain(predictor, x, [label], top, text or None)
    up, down = ([(each["feature"], each["contribution"]) for each in entry[side]] for side in ("up", "down"))
    return up, down, [each["text"] for each in entry.get("evidence", ())]


def _short(value):
    return round(float(value), 4)


def _falling(pair):
    label, value = pair
    return (value is None, 0 if value is None else -value, label)
