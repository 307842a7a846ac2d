"""How many labels of an answer are probably right, and how many of a text's it probably has."""

from typing import NamedTuple

import numpy as np

from ovaflow.reranking.answer_length import count_fitting_labels, keep_fitting_probabilities

CHECKED_PRECISIONS = tuple(hundredths / 100 for hundredths in range(50, 100))
"""Expected precisions at which the second stage checks itself."""


class ExpectedQuality(NamedTuple):
    """What the answer to one text promises, or answers to n. Expectations add up even where labels
    depend on others.
    """

    labels: np.ndarray  # of the answer
    right: np.ndarray  # expected number of these that are right
    true: np.ndarray  # expected number of labels that the text should have

    @property
    def precision(self):
        """Expected precision, nan for an answer without labels."""
        with np.errstate(invalid="ignore"):
            return np.divide(self.right, self.labels)

    @property
    def recall(self):
        with np.errstate(invalid="ignore"):
            return np.divide(self.right, self.true)

    @property
    def errors(self):
        """Expected number of labels that are wrong or missing."""
        return self.labels + self.true - 2 * self.right


def estimate_quality(answers, candidates, missed=0.0):
    """What probabilities (n, m) of answers promise; -inf where there is no label.

    A text should have the sum of the probabilities of its ``candidates`` (n, k) by falling value,
    and more that are none of them: ``missed`` times its :func:`share_left_out`.
    """
    labels = np.count_nonzero(np.isfinite(answers), axis=1)
    right = np.maximum(answers, 0).sum(axis=1, dtype=np.float64)
    true_candidates = np.maximum(candidates, 0).sum(axis=1, dtype=np.float64)
    return ExpectedQuality(
        labels, right, true_candidates + missed * compute_unfitting_share(candidates)
    )


def compute_unfitting_share(candidates):
    """Share of the expected labels among candidates (n, k) by falling probability that do not fit:
    float64 (n,).

    Texts miss more labels that are no candidates the more of their candidates they leave out: a
    text whose labels that fit have all that its candidates promise misses hardly any, and one that
    is known nothing of misses the most.
    """
    expected = np.cumsum(np.maximum(candidates, 0), axis=1, dtype=np.float64)
    fit = count_fitting_labels(candidates)
    inside = np.where(fit > 0, expected[np.arange(len(expected)), fit - 1], 0)
    return 1 - np.divide(
        inside, expected[:, -1], out=np.zeros(len(inside)), where=expected[:, -1] > 0
    )


def measure_sure_records(levels, probabilities, hits):
    """Count, for each level, the records of at least this expected precision, and what is right of
    the labels that fit.

    ``probabilities`` and ``hits`` (n, k) say how probable candidates are, and which are true.
    """
    answers = keep_fitting_probabilities(probabilities)
    quality = estimate_quality(answers, probabilities)
    right = np.count_nonzero(hits & np.isfinite(answers), axis=1)
    rows = []
    for level in levels:
        sure = quality.precision >= level
        records = int(sure.sum())
        labels = int(quality.labels[sure].sum())
        row = {
            "level": level,
            "records": records,
            "instances": records / max(len(sure), 1),
            "labels": labels,
            "expected": None,
            "right": None,
        }
        if labels:
            row["expected"] = float(quality.right[sure].sum()) / labels
            row["right"] = int(right[sure].sum()) / labels
        rows.append(row)
    return rows
