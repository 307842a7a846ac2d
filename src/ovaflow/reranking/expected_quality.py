"""Expected precision and recall of answers, by the probabilities of their labels."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ovaflow.reranking.answer_length import count_fitting_labels, keep_fitting_probabilities

CHECKED_PRECISIONS = tuple(hundredths / 100 for hundredths in range(50, 100))
"""Expected precisions at which the second stage checks itself."""


class ExpectedQuality(NamedTuple):
    """Expectations about the answer to one text, or to n texts.

    Expectations add up even where labels depend on others.
    """

    labels: np.ndarray  # number of labels of the answer
    right: np.ndarray  # expected number of these that are right
    true: np.ndarray  # expected number of labels that the text should have

    @property
    def precision(self) -> np.ndarray:
        """Expected precision, nan for an answer without labels."""
        with np.errstate(invalid="ignore"):
            return np.divide(self.right, self.labels)

    @property
    def recall(self) -> np.ndarray:
        """Expected recall."""
        with np.errstate(invalid="ignore"):
            return np.divide(self.right, self.true)

    @property
    def errors(self) -> np.ndarray:
        """Expected number of labels that are wrong or missing."""
        return self.labels + self.true - 2 * self.right


def estimate_quality(
    answers: np.ndarray, candidates: np.ndarray, missed: float = 0.0
) -> ExpectedQuality:
    """Estimate the quality of answers.

    A text should have the sum of the probabilities of its candidates, and labels that are no
    candidates: ``missed`` times its :func:`compute_unfitting_share`.

    Parameters
    ----------
    answers : float (n, m)
        Probabilities of the labels of each answer; -inf where there is no label.
    candidates : float (n, k)
        Probabilities of all candidates by falling value.
    missed : float
        Number of true labels that are no candidates where no label fits.
    """
    labels = np.count_nonzero(np.isfinite(answers), axis=1)
    right = np.maximum(answers, 0).sum(axis=1, dtype=np.float64)
    true_candidates = np.maximum(candidates, 0).sum(axis=1, dtype=np.float64)
    others = missed * compute_unfitting_share(candidates)
    return ExpectedQuality(labels, right, true_candidates + others)


def compute_unfitting_share(candidates: np.ndarray) -> np.ndarray:
    """Compute the share of the expected true candidates that do not fit: float64 (n,).

    Texts miss more labels that are no candidates the more of their candidates they leave out: a
    text whose labels that fit have all that its candidates promise misses hardly any, and one whose
    candidates are all improbable misses the most.

    ``candidates`` (n, k) are probabilities by falling value.
    """
    expected = np.cumsum(np.maximum(candidates, 0), axis=1, dtype=np.float64)
    total = expected[:, -1]
    n_fitting = count_fitting_labels(candidates)
    fitting = np.where(n_fitting > 0, expected[np.arange(len(expected)), n_fitting - 1], 0)
    fitting_share = np.divide(fitting, total, out=np.zeros(len(fitting)), where=total > 0)
    return 1 - fitting_share


def measure_sure_records(
    levels: Iterable[float], probabilities: np.ndarray, hits: np.ndarray
) -> list[dict[str, Any]]:
    """Measure the answers of the labels that fit, for records of at least each expected precision.

    Parameters
    ----------
    levels : iterable of float
        Expected precisions.
    probabilities : float (n, k)
        Of the candidates of each record, by falling value.
    hits : bool (n, k)
        Whether the candidates are true.

    Returns
    -------
    list of dict
        For each level the number and share of records, the number of their labels, and the shares
        of these that are expected to be right and are right: None where there are no labels.
    """
    answers = keep_fitting_probabilities(probabilities)
    quality = estimate_quality(answers, probabilities)
    right = np.count_nonzero(hits & np.isfinite(answers), axis=1)
    rows = []
    for level in levels:
        sure = quality.precision >= level
        n_records = int(sure.sum())
        n_labels = int(quality.labels[sure].sum())
        row = {
            "level": level,
            "records": n_records,
            "instances": n_records / max(len(sure), 1),
            "labels": n_labels,
            "expected": None,
            "right": None,
        }
        if n_labels:
            row["expected"] = float(quality.right[sure].sum()) / n_labels
            row["right"] = int(right[sure].sum()) / n_labels
        rows.append(row)
    return rows
