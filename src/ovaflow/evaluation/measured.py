"""What a model ranks beside what is true: every figure about its quality comes from here."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ovaflow.evaluation import resampling
from ovaflow.evaluation.metric import (
    NamedMetric,
    list_answer_metrics,
    list_candidate_metrics,
    list_order_metrics,
)
from ovaflow.evaluation.ranking import Ranked
from ovaflow.prediction.predictions import PredictedLabels, Predictions
from ovaflow.reranking.answer_length import (
    FIRST_LABELS,
    count_fitting_labels,
    mark_predicted_labels,
)
from ovaflow.sparse.csr import CSR


@dataclass(frozen=True)
class EvaluatedPredictions:
    """The labels that a model ranks for n instances of a test set or a file, and the true ones."""

    order: Ranked  # the labels that it predicts
    candidates: Ranked  # all that it ranks, by falling value
    values: (
        np.ndarray
    )  # float32 (n, K) of the candidates: probabilities with a second stage, else scores
    probabilistic: bool
    n_true: (
        np.ndarray
    )  # int64 (n,): labels of each instance, also those that the model does not know
    zero_decides: bool = False  # whether labels of a score above 0 are the answer

    @classmethod
    def of(
        cls,
        predictions: Predictions | PredictedLabels,
        Y: CSR,
        inverse: np.ndarray | None = None,
        zero_decides: bool = False,
    ) -> Self:
        """Predictions of instances, and their labels."""
        order = Ranked(predictions.ids, Y, inverse)
        ranking = predictions.ranking
        if ranking is None:
            return cls(order, order, predictions.scores, False, order.positives, zero_decides)
        candidates = Ranked(ranking.ids, Y, inverse)
        return cls(order, candidates, ranking.probabilities, True, order.positives)

    @property
    def hits(self) -> np.ndarray:
        """Which of the candidates are true: bool (n, K)."""
        return self.candidates.hits

    @cached_property
    def predicted(self) -> np.ndarray:
        """Which candidates count as predicted, wherever right, wrong and missed labels are counted:
        bool (n, K).
        """
        return mark_predicted_labels(self.candidates.ids, self.values, self.probabilistic)

    @property
    def rule(self) -> str:
        """Name of the labels that count as predicted, for people."""
        return describe_predicted_labels(self.probabilistic, self.candidates.ids.shape[1])

    @cached_property
    def answer(self) -> Ranked | None:
        """As many candidates as the model finds right; None where it says nothing of that."""
        if self.probabilistic:
            return replace(self.candidates, amounts=count_fitting_labels(self.values))
        if self.zero_decides:
            return replace(self.candidates, amounts=np.count_nonzero(self.values > 0, axis=1))
        return None

    def _of_answer(self) -> list[NamedMetric]:
        return list_answer_metrics("fit" if self.probabilistic else "above-0")

    def metrics(self) -> dict[str, float]:
        """All metrics by name."""
        at_places = sorted(list_order_metrics(self.order), key=lambda entry: entry[2])
        metrics = compute_metrics(self.order, at_places) | compute_metrics(
            self.candidates, list_candidate_metrics()
        )
        return (
            metrics
            if self.answer is None
            else metrics | compute_metrics(self.answer, self._of_answer())
        )

    def samples(self) -> dict[str, np.ndarray]:
        """Metrics of instances drawn with replacement, (RESAMPLES,) by name; the same draws for all
        models.
        """
        samples = resample_metrics(self.order, list_order_metrics(self.order)) | resample_metrics(
            self.candidates, list_candidate_metrics()
        )
        return (
            samples
            if self.answer is None
            else samples | resample_metrics(self.answer, self._of_answer())
        )

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Intervals of the metrics that have them."""
        return {name: resampling.interval(values) for name, values in self.samples().items()}

    def keep_labelled(self) -> Self:
        """The instances that have labels, known to the model or not."""
        rows = np.flatnonzero(self.n_true > 0)
        return replace(
            self,
            order=self.order.take(rows),
            candidates=self.candidates.take(rows),
            values=self.values[rows],
            n_true=self.n_true[rows],
        )


def compute_metrics(ranked: Ranked, entries: list[NamedMetric]) -> dict[str, float]:
    """Metrics of ranked labels by name."""
    return {name: metric.value(ranked, k) for name, metric, k in entries}


def resample_metrics(ranked: Ranked, entries: list[NamedMetric]) -> dict[str, np.ndarray]:
    """Metrics of ranked labels that have intervals, on samples of the instances, (RESAMPLES,) by
    name.
    """
    sampled = [
        (name, *metric.each(ranked, k)) for name, metric, k in entries if metric.each is not None
    ]
    names, gains, best = zip(*sampled, strict=True)
    samples = resampling.resample(np.stack(gains, axis=1), np.stack(best, axis=1))
    return dict(zip(names, samples.T, strict=True))


def describe_predicted_labels(probabilistic: bool, k: int = FIRST_LABELS) -> str:
    """Name the labels of each record that count as predicted, of k ranked ones."""
    return "the labels that fit" if probabilistic else f"the first {min(FIRST_LABELS, k)} labels"
