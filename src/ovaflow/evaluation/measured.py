"""Ranked labels of a model and the true ones, from which every metric of its quality comes."""

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
    """The labels that a model ranks for n instances of a test set or a file, and the true ones.

    Metrics at a cut-off K are those of ``order``, the labels that the model predicts. With a second
    stage the ``candidates`` are more: all labels that have a probability. Where right, wrong and
    missed labels are counted, the first candidates count as ``predicted``: as many as fit, or
    without probabilities :data:`~ovaflow.reranking.answer_length.FIRST_LABELS`. The ``answer`` has
    those that the model itself takes to be right.
    """

    order: Ranked  # the labels that it predicts
    candidates: Ranked  # all that it ranks, by falling value
    # float32 (n, K) of the candidates: probabilities with a second stage, else scores
    values: np.ndarray
    probabilistic: bool
    # int64 (n,): number of labels assigned to each instance, also of those that the model lacks
    n_assigned: np.ndarray
    zero_decides: bool = False  # whether labels with a score above 0 are the answer

    @classmethod
    def from_predictions(
        cls,
        predictions: Predictions | PredictedLabels,
        Y: CSR,
        inverse_propensity: np.ndarray | None = None,
        *,
        zero_decides: bool = False,
    ) -> Self:
        """Join the predictions of instances and their labels."""
        order = Ranked(predictions.ids, Y, inverse_propensity)
        ranking = predictions.ranking
        if ranking is None:
            return cls(
                order=order,
                candidates=order,
                values=predictions.scores,
                probabilistic=False,
                n_assigned=order.positives,
                zero_decides=zero_decides,
            )
        return cls(
            order=order,
            candidates=Ranked(ranking.ids, Y, inverse_propensity),
            values=ranking.probabilities,
            probabilistic=True,
            n_assigned=order.positives,
        )

    @property
    def hits(self) -> np.ndarray:
        """Candidates that are true: bool (n, K)."""
        return self.candidates.hits

    @cached_property
    def predicted(self) -> np.ndarray:
        """Candidates that count as predicted: bool (n, K).

        They decide wherever right, wrong and missed labels are counted.
        """
        return mark_predicted_labels(
            self.candidates.ids, self.values, probabilistic=self.probabilistic
        )

    @property
    def rule(self) -> str:
        """Name of the labels that count as predicted, for people."""
        return describe_predicted_labels(
            self.candidates.ids.shape[1], probabilistic=self.probabilistic
        )

    @cached_property
    def answer(self) -> Ranked | None:
        """Candidates that the model takes to be right; None where it does not decide that."""
        if self.probabilistic:
            lengths = count_fitting_labels(self.values)
        elif self.zero_decides:
            lengths = np.count_nonzero(self.values > 0, axis=1)
        else:
            return None
        return replace(self.candidates, answer_lengths=lengths)

    def _list_answer_metrics(self) -> list[NamedMetric]:
        return list_answer_metrics("fit" if self.probabilistic else "above-0")

    def metrics(self) -> dict[str, float]:
        """Compute all metrics by name, those of the order by cut-off."""
        by_cutoff = sorted(list_order_metrics(self.order), key=lambda named: named.k)
        metrics = compute_metrics(self.order, by_cutoff)
        metrics |= compute_metrics(self.candidates, list_candidate_metrics())
        if self.answer is not None:
            metrics |= compute_metrics(self.answer, self._list_answer_metrics())
        return metrics

    def samples(self) -> dict[str, np.ndarray]:
        """Compute metrics of instances drawn with replacement: (RESAMPLES,) by name.

        The draws are the same for all models.
        """
        samples = resample_metrics(self.order, list_order_metrics(self.order))
        samples |= resample_metrics(self.candidates, list_candidate_metrics())
        if self.answer is not None:
            samples |= resample_metrics(self.answer, self._list_answer_metrics())
        return samples

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Compute the intervals of the metrics that have them."""
        return {name: resampling.interval(values) for name, values in self.samples().items()}

    def keep_labelled(self) -> Self:
        """Select the instances that have labels, known to the model or not."""
        rows = np.flatnonzero(self.n_assigned > 0)
        return replace(
            self,
            order=self.order.take(rows),
            candidates=self.candidates.take(rows),
            values=self.values[rows],
            n_assigned=self.n_assigned[rows],
        )


def compute_metrics(ranked: Ranked, metrics: list[NamedMetric]) -> dict[str, float]:
    """Compute metrics of ranked labels, by name."""
    return {name: metric.value(ranked, k) for name, metric, k in metrics}


def resample_metrics(ranked: Ranked, metrics: list[NamedMetric]) -> dict[str, np.ndarray]:
    """Compute the metrics that have intervals on samples of the instances: (RESAMPLES,) by name."""
    names = []
    gains = []
    best = []
    for name, metric, k in metrics:
        if metric.per_instance is not None:
            gains_of_instances, best_of_instances = metric.per_instance(ranked, k)
            names.append(name)
            gains.append(gains_of_instances)
            best.append(best_of_instances)
    samples = resampling.resample(np.stack(gains, axis=1), np.stack(best, axis=1))
    return dict(zip(names, samples.T, strict=True))


def describe_predicted_labels(k: int = FIRST_LABELS, *, probabilistic: bool) -> str:
    """Describe the labels of each record that count as predicted, of k ranked ones."""
    if probabilistic:
        return "the labels that fit"
    return f"the first {min(FIRST_LABELS, k)} labels"
