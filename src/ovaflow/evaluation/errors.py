"""Errors on the test records, and the reasons for them.

Errors are true labels that were missed, and predicted ones that are not true.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.model.model_file import Model
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.reasons import explain_labels

ERROR_ORDER = "lowest F1 of the predicted labels, then most errors, then the surest wrong label"
"""Order of the records by their errors, the worst first."""

MAX_SHOWN_FEATURES = 12
"""Heaviest features that are shown for a record without text."""

LabelValue = tuple[int, float | None]
"""A label, and its probability or score, None where that is unknown."""


class RecordErrors(NamedTuple):
    """Right, wrong and missed labels of a test record, each by falling value."""

    row: int  # of the test set, from 0
    name: str  # its id, or its place in the file
    text: str  # its beginning, or the heaviest features of a record without text
    f1: float
    right: list[LabelValue]
    wrong: list[LabelValue]
    missed: list[LabelValue]


class ErrorCounts(NamedTuple):
    """Numbers of right, wrong and missed labels of each record: (n,) each."""

    right: np.ndarray
    wrong: np.ndarray
    missed: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """Number of wrong and missed labels of each record."""
        return self.wrong + self.missed


@dataclass(frozen=True)
class RunErrors:
    """Predicted and true labels of the test records of a dataset.

    Records without a label that the model can know are left out: whether a label is wrong for them
    is not known.
    """

    dataset: Dataset
    measured: EvaluatedPredictions

    @property
    def value(self) -> str:
        """Name of the values by which labels are predicted."""
        return "probability" if self.measured.probabilistic else "score"

    @property
    def positives(self) -> np.ndarray:
        """Number of true labels of each record."""
        return self.measured.candidates.positives

    @cached_property
    def wrongly_predicted(self) -> np.ndarray:
        """Candidates that are predicted but not true: bool (n, K)."""
        return self.measured.predicted & ~self.measured.hits

    @cached_property
    def counts(self) -> ErrorCounts:
        """Numbers of right, wrong and missed labels."""
        wrong = self.wrongly_predicted.sum(axis=1)
        right = self.measured.predicted.sum(axis=1) - wrong
        return ErrorCounts(right, wrong, self.positives - right)

    @cached_property
    def f1(self) -> np.ndarray:
        """F1 of the predicted labels of each record: float64 (n,)."""
        right, wrong, missed = self.counts
        return 2 * right / np.maximum(2 * right + wrong + missed, 1)

    @cached_property
    def labelled_rows(self) -> np.ndarray:
        """Records with labels in the :data:`ERROR_ORDER`; those without an error are the last."""
        wrong_values = np.where(self.wrongly_predicted, self.measured.values, -np.inf)
        surest = wrong_values.max(axis=1, initial=-np.inf)
        rows = np.flatnonzero(self.positives)
        order = np.lexsort((-surest[rows], -self.counts.errors[rows], self.f1[rows]))
        return rows[order]

    @cached_property
    def error_rows(self) -> np.ndarray:
        """Records with an error, in the same order."""
        return self.labelled_rows[self.counts.errors[self.labelled_rows] > 0]

    def summary(self) -> str:
        """Say in words how many records have errors, and how many labels are right and wrong."""
        right = int(self.counts.right[self.labelled_rows].sum())
        wrong = int(self.counts.wrong[self.labelled_rows].sum())
        missed = int(self.counts.missed[self.labelled_rows].sum())
        n_errors = len(self.error_rows)
        which = f"{n_errors:,} of {len(self.labelled_rows):,} test records with labels have errors"
        predicted = (
            f"of {self.measured.rule} of each record {right:,} are right and {wrong:,} wrong"
        )
        return f"{which}; {predicted}, and {missed:,} true labels are missed"

    def most_frequent(self, amount: int) -> dict[str, list[tuple[int, int]]]:
        """Find the labels that are missed, and wrong, in the most records.

        Wrong labels count only in records with labels; in others nothing can be missed. Returns
        pairs of a label and the number of these records, by kind.
        """
        candidates = self.measured.candidates
        is_labelled = self.positives[:, None] > 0
        wrong = candidates.count_labels(self.wrongly_predicted & is_labelled).predicted
        counts = candidates.count_labels(self.measured.predicted)
        missed = counts.true - counts.right
        return {"missed": _find_largest(missed, amount), "wrong": _find_largest(wrong, amount)}

    def records(self, rows: Iterable[int]) -> list[RecordErrors]:
        """Describe the errors of some records."""
        numbers = [int(row) for row in rows]
        names = self.dataset.records("test", numbers)
        texts = self.dataset.test_texts(numbers)
        if not texts:
            texts = [", ".join(find_heaviest_features(self.dataset, row)) for row in numbers]
        records = []
        for row, name, text in zip(numbers, names, texts, strict=True):
            records.append(self._describe_record(row, name, text))
        return records

    def _describe_record(self, row: int, name: str, text: str) -> RecordErrors:
        ids = self.measured.candidates.ids[row]
        values = np.round(self.measured.values[row], 4)
        value_of_label = dict(zip(ids.tolist(), values.tolist(), strict=True))
        answer = set(ids[self.measured.predicted[row]].tolist())
        true = set(self.dataset.test.Y.part(row, row + 1).indices.tolist())

        def add_values(labels: set[int]) -> list[LabelValue]:
            return sort_by_value((label, value_of_label.get(label)) for label in labels)

        return RecordErrors(
            row=row,
            name=name or f"test instance {row}",
            text=text,
            f1=float(self.f1[row]),
            right=add_values(true & answer),
            wrong=add_values(answer - true),
            missed=add_values(true - answer),
        )

    def find_label_errors(
        self, label: int, model: Model
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the records in which a label is wrong, and in which it is missed.

        Returns
        -------
        wrong : int (m,)
            Records by falling value.
        missed : int (m,)
            Records by rising value. Where the label is no candidate, its probability is -inf, and
            the lowest score comes first.
        values : float (n,)
            Values of the label for all records.
        """
        test = self.dataset.test
        is_label = self.measured.candidates.ids == label
        values = np.where(is_label, self.measured.values, -np.inf).max(axis=1)
        true = np.repeat(np.arange(len(is_label)), self.positives)[test.Y.indices == label]
        is_predicted = (is_label & self.measured.predicted).any(axis=1)
        assigned = np.flatnonzero(is_predicted & (self.positives > 0))
        wrong = np.setdiff1d(assigned, true)
        missed = np.setdiff1d(true, assigned)
        scores = model.score(model.instances(test.take(missed)), np.array([label]))[:, 0]
        if not self.measured.probabilistic:
            values[missed] = scores
        by_falling = np.argsort(-values[wrong], kind="stable")
        by_rising = np.lexsort((scores, values[missed]))
        return wrong[by_falling], missed[by_rising], values


def _find_largest(counts: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Find the labels with the largest counts above 0: pairs of label and count."""
    labels = np.argsort(-counts, kind="stable")[:most]
    return [(label, int(counts[label])) for label in labels.tolist() if counts[label]]


def sort_by_value(pairs: Iterable[LabelValue]) -> list[LabelValue]:
    """Sort pairs of label and value by falling value, ties by label; unknown values come last."""

    def sort_key(pair: LabelValue) -> tuple[float, int]:
        label, value = pair
        return (np.inf if value is None else -value, label)

    return sorted(pairs, key=sort_key)


def find_heaviest_features(dataset: Dataset, row: int) -> list[str]:
    """Find the heaviest features of a test record: their names, or numbers where they have none."""
    if dataset.feature_names:
        return dataset.heaviest_features("test", row, MAX_SHOWN_FEATURES)
    x = dataset.test.X.part(row, row + 1)
    by_weight = x.indices[np.argsort(-np.abs(x.data), kind="stable")].tolist()
    names = [str(feature) for feature in by_weight if feature != dataset.bias_feature]
    return names[:MAX_SHOWN_FEATURES]


def explain_prediction(
    predictor: Predictor, dataset: Dataset, row: int, label: int, text: str, top: int
) -> tuple[list[str], list[str], list[str]]:
    """Explain the score of a label for a test record.

    Returns the ``top`` words that push the label up, with what they add, the same down, and the
    evidence in words.
    """
    model = predictor.model
    if model.linear is None:
        return [], [], [model.why_unexplainable]
    if not model.trained[label]:
        return [], [], ["it has no classifier"]
    x = predictor.from_split(dataset.test.take(np.array([row])))
    (entry,) = explain_labels(predictor, x, [label], top, text if predictor.takes_text else None)
    up = [f"{each.feature} {each.contribution:+.3f}" for each in entry.up]
    down = [f"{each.feature} {each.contribution:+.3f}" for each in entry.down]
    return up, down, [each.text for each in entry.evidence or ()]
