"""Errors on the test records: true labels that were missed, and predicted ones that are not true;
and why.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.prediction.reasons import explain_labels

ERROR_ORDER = "lowest F1 of the predicted labels, then most errors, then the surest wrong label"
"""By which records are the worst."""

MAX_SHOWN_FEATURES = 12
"""Features that stand for a record without text."""


class RecordErrors(NamedTuple):
    """Each label of a test record once: pairs of id and probability or score, None where that is
    unknown.
    """

    row: int  # of the test set, from 0
    name: str  # its id, or where in the file it is
    text: str  # its beginning, or the heaviest features of one without text
    f1: float
    right: list  # by falling probability, as are the others
    wrong: list
    missed: list


@dataclass(frozen=True)
class RunErrors:
    """What a run predicts for the test records of its dataset, beside what is true.

    Records without a label that a model can know are left out: of them nothing is known to be
    wrong.
    """

    dataset: Dataset
    measured: EvaluatedPredictions

    @property
    def value(self):
        """What labels are predicted by."""
        return "probability" if self.measured.probabilistic else "score"

    @property
    def positives(self):
        """Number of true labels of each record."""
        return self.measured.candidates.positives

    @cached_property
    def wrongly_predicted(self):
        """Which candidates are wrongly predicted: bool (n, K)."""
        return self.measured.predicted & ~self.measured.hits

    @cached_property
    def amounts(self):
        """Numbers of right, wrong and missed labels of each record: three arrays (n,)."""
        wrong = self.wrongly_predicted.sum(axis=1)
        right = self.measured.predicted.sum(axis=1) - wrong
        return right, wrong, self.positives - right

    @cached_property
    def f1(self):
        right, wrong, missed = self.amounts
        return 2 * right / np.maximum(2 * right + wrong + missed, 1)

    @cached_property
    def tested(self):
        """Records with labels in the order of :data:`MEASURE`; those without an error are the last."""
        _, wrong, missed = self.amounts
        surest = np.where(self.wrongly_predicted, self.measured.values, -np.inf).max(
            axis=1, initial=-np.inf
        )
        rows = np.flatnonzero(self.positives)
        return rows[np.lexsort((-surest[rows], -(wrong + missed)[rows], self.f1[rows]))]

    @cached_property
    def rows(self):
        """Records with an error, in the same order."""
        _, wrong, missed = self.amounts
        return self.tested[(wrong + missed)[self.tested] > 0]

    def summary(self):
        """Say in words how many records have errors, and how many labels are right, wrong and
        missed.
        """
        right, wrong, missed = (int(each[self.tested].sum()) for each in self.amounts)
        which = f"{len(self.rows):,} of {len(self.tested):,} test records with labels have errors"
        predicted = (
            f"of {self.measured.rule} of each record {right:,} are right and {wrong:,} wrong"
        )
        return f"{which}; {predicted}, and {missed:,} true labels are missed"

    def most_frequent(self, amount):
        """Labels that are missed, and wrong, in the most records, with the numbers of these: pairs
        by kind.
        """
        ranked = self.measured.candidates
        labelled = self.positives[:, None] > 0
        wrong = ranked.count_labels(self.wrongly_predicted & labelled).predicted
        true, _, right = ranked.count_labels(self.measured.predicted)
        missed = true - right
        return {"missed": _largest(missed, amount), "wrong": _largest(wrong, amount)}

    def records(self, rows):
        """The :class:`RecordErrors` of some records."""
        names = self.dataset.records("test", rows)
        texts = self.dataset.test_texts(rows)
        texts = texts or [", ".join(find_heaviest_features(self.dataset, row)) for row in rows]
        return [
            self._record(int(row), *about) for row, *about in zip(rows, names, texts, strict=True)
        ]

    def _record(self, row, name, text):
        ids = self.measured.candidates.ids[row]
        values = self.measured.values[row]
        predicted = self.measured.predicted[row]
        known = dict(zip(ids.tolist(), np.round(values, 4).tolist(), strict=True))
        answer = set(ids[predicted].tolist())
        true = set(self.dataset.test.Y.part(row, row + 1).indices.tolist())
        groups = true & answer, answer - true, true - answer
        pairs = (sort_by_value((label, known.get(label)) for label in group) for group in groups)
        return RecordErrors(row, name or f"test instance {row}", text, float(self.f1[row]), *pairs)

    def of_label(self, label, model):
        """Records of a label: where it is wrong, by falling value, where it is missed, by rising;
        values of all (n,).

        Where it is no candidate its probability is -inf, and the lowest score comes first.
        """
        ids = self.measured.candidates.ids
        values = self.measured.values
        predicted = self.measured.predicted
        test = self.dataset.test
        here = ids == label
        value = np.where(here, values, -np.inf).max(axis=1)
        true = np.repeat(np.arange(len(ids)), self.positives)[test.Y.indices == label]
        assigned = np.flatnonzero((here & predicted).any(axis=1) & (self.positives > 0))
        wrong = np.setdiff1d(assigned, true)
        missed = np.setdiff1d(true, assigned)
        scores = model.score(model.instances(test.take(missed)), np.array([label]))[:, 0]
        if not self.measured.probabilistic:
            value[missed] = scores
        by_rising = np.lexsort((scores, value[missed]))
        return wrong[np.argsort(-value[wrong], kind="stable")], missed[by_rising], value


def _largest(amounts, most):
    """Pairs of label and amount, by falling amount; amounts of 0 are left out."""
    labels = np.argsort(-amounts, kind="stable")[:most]
    return [(label, int(amounts[label])) for label in labels.tolist() if amounts[label]]


def sort_by_value(pairs):
    """Pairs of label and value; unknown values last."""
    return sorted(
        pairs, key=lambda pair: (-np.inf if pair[1] is None else pair[1], -pair[0]), reverse=True
    )


def find_heaviest_features(dataset, row):
    """The heaviest features of a test record by name, or by number where they have none."""
    if dataset.feature_names:
        return dataset.heaviest_features("test", row, MAX_SHOWN_FEATURES)
    x = dataset.test.X.part(row, row + 1)
    features = x.indices[np.argsort(-np.abs(x.data), kind="stable")].tolist()
    return [str(feature) for feature in features if feature != dataset.bias_feature][
        :MAX_SHOWN_FEATURES
    ]


def explain_prediction(predictor, dataset, row, label, text, top):
    """Words that push a label up and down, ``top`` each, with what they add, and the evidence in
    words.
    """
    model = predictor.model
    if model.linear is None or not model.trained[label]:
        return [], [], [model.why_unexplainable if model.linear is None else "it has no classifier"]
    x = predictor.from_split(dataset.test.take(np.array([row])))
    (entry,) = explain_labels(predictor, x, [label], top, text if predictor.takes_text else None)
    up, down = (
        [f"{each.feature} {each.contribution:+.3f}" for each in side]
        for side in (entry.up, entry.down)
    )
    return up, down, [each.text for each in entry.evidence or ()]
