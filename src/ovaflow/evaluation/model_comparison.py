"""Figures of models on the same labelled records, and how much of a difference is chance."""

from typing import NamedTuple

import numpy as np

from ovaflow.evaluation import ranking
from ovaflow.evaluation.metrics import places_up_to
from ovaflow.evaluation.resampling import interval, resample
from ovaflow.reranking.answer_length import labels_that_fit

COMPARED = {"P@1": "P@1", "P@5": "P@5", "F1": "F1 of labels that fit"}
"""Figures by which models are compared, by short names."""

ENOUGH = 30
"""Fewest records for which the intervals of a bootstrap are wide enough."""


class Difference(NamedTuple):
    """How much a model's figure exceeds another model's."""

    difference: float
    low: float  # with high: the interval of the bootstrap
    high: float
    better: int  # records in which it is better
    worse: int

    @property
    def verdict(self):
        if self.low <= 0 <= self.high:
            return "may be chance"
        return "better" if self.low > 0 else "worse"

    @property
    def entry(self):
        return self._asdict() | {"verdict": self.verdict}


class Figures(NamedTuple):
    """Figures of a model by name: means over all records with labels, known to it or not."""

    records: dict  # values of the records, float64 (m,)
    samples: dict  # means of the bootstrap's samples of the records, float64 (RESAMPLES,)

    @classmethod
    def of(cls, answers, probabilistic):
        records = _of_records(answers, probabilistic)
        values = np.column_stack([*records.values()])
        samples = resample(values, np.ones_like(values))
        return cls(records, dict(zip(records, samples.T, strict=True)))

    @property
    def means(self):
        return {name: float(values.mean()) for name, values in self.records.items()}

    @property
    def intervals(self):
        return {name: interval(values) for name, values in self.samples.items()}

    def differences_from(self, other):
        """The :class:`Difference` in each figure that both models have."""
        differences = {}
        for name in COMPARED.values():
            if name in self.records and name in other.records:
                gains = self.records[name] - other.records[name]
                # the same samples, so that what both find hard cancels out
                bounds = interval(self.samples[name] - other.samples[name])
                changes = int((gains > 0).sum()), int((gains < 0).sum())
                differences[name] = Difference(float(gains.mean()), *bounds, *changes)
        return differences


def _of_records(answers, probabilistic):
    labelled = answers.n_true > 0
    hits, n_true = ranking.find_hits(answers.ids, answers.Y)[labelled], answers.n_true[labelled]
    figures = {f"P@{k}": hits[:, :k].sum(axis=1) / k for k in places_up_to(answers.Y.n_columns)}
    figures["recall@5 of all labels"] = hits[:, :5].sum(axis=1) / n_true
    if probabilistic:
        fit = ranking.answer_of_each(hits, labels_that_fit(answers.scores[labelled]), n_true)
        for name, value in (("F1", fit["F1"]), ("precision", fit["P"]), ("recall", fit["R"])):
            figures[f"{name} of labels that fit"] = value
    return figures
