"""What a model ranks beside what is true: every figure about its quality comes from here."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ovaflow.evaluation import resampling
from ovaflow.evaluation.metric import Entry, in_order, of_answer, of_candidates
from ovaflow.evaluation.ranking import Ranked
from ovaflow.model.ranked_labels import find_hits
from ovaflow.prediction.predictions import PredictedLabels, Predictions
from ovaflow.reranking.answer_length import FIRST, count_as_predicted, labels_that_fit
from ovaflow.sparse.csr import CSR


@dataclass(frozen=True)
class Measured:
    """The labels that a model ranks for n instances of a test set or a file, and the true ones."""

    order: Ranked  # the labels that it predicts
    candidates: Ranked  # all that it ranks, by falling value
    values: np.ndarray  # float32 (n, K) of the candidates: probabilities with a second stage, else scores
    probabilistic: bool
    n_true: np.ndarray  # int64 (n,): labels of each instance, also those that the model does not know
    zero_decides: bool = False  # whether labels of a score above 0 are the answer

    @classmethod
    def of(
        cls, predictions: Predictions | PredictedLabels, Y: CSR, inverse: np.ndarray, zero_decides: bool = False
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
        """Which candidates count as predicted, wherever right, wrong and missed labels are counted: bool (n, K)."""
        return count_as_predicted(self.candidates.ids, self.values, self.probabilistic)

    @property
    def rule(self) -> str:
        """Name of the labels that count as predicted, for people."""
        return rule_in_words(self.probabilistic, self.candidates.ids.shape[1])

    @cached_property
    def answer(self) -> Ranked | None:
        """As many candidates as the model finds right; None where it says nothing of that."""
        if self.probabilistic:
            return replace(self.candidates, amounts=labels_that_fit(self.values))
        if self.zero_decides:
            return replace(self.candidates, amounts=np.count_nonzero(self.values > 0, axis=1))
        return None

    def _of_answer(self) -> list[Entry]:
        return of_answer("fit" if self.probabilistic else "above-0")

    def metrics(self) -> dict[str, float]:
        """All metrics by name."""
        at_places = sorted(in_order(self.order), key=lambda entry: entry[2])
        metrics = values_of(self.order, at_places) | values_of(self.candidates, of_candidates())
        return metrics if self.answer is None else metrics | values_of(self.answer, self._of_answer())

    def samples(self) -> dict[str, np.ndarray]:
        """Metrics of instances drawn with replacement, (RESAMPLES,) by name; the same draws for all models."""
        samples = samples_of(self.order, in_order(self.order)) | samples_of(self.candidates, of_candidates())
        return samples if self.answer is None else samples | samples_of(self.answer, self._of_answer())

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Intervals of the metrics that have them."""
        return {name: resampling.interval(values) for name, values in self.samples().items()}

    def with_labels(self) -> Self:
        """The instances that have labels, known to the model or not."""
        rows = np.flatnonzero(self.n_true > 0)
        return replace(
            self,
            order=self.order.take(rows),
            candidates=self.candidates.take(rows),
            values=self.values[rows],
            n_true=self.n_true[rows],
        )

    def tallies(self, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How often each label is true, counted among the candidates, bool (n, K), and both: int64 (l,)."""
        return tallies(self.candidates, counted)


def tallies(ranked: Ranked, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each label is true, counted among the ranked ones, bool (n, K), and both: int64 (l,)."""
    found = counted & (ranked.ids >= 0)
    n_labels = ranked.Y.n_columns
    return (
        np.bincount(ranked.Y.indices, minlength=n_labels),
        np.bincount(ranked.ids[found], minlength=n_labels),
        np.bincount(ranked.ids[found & ranked.hits], minlength=n_labels),
    )
