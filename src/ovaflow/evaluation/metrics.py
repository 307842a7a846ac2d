"""All metrics of a run as one flat table."""

from dataclasses import dataclass, replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.evaluation import resampling
from ovaflow.evaluation.metric import in_order, of_answer, of_candidates, places_up_to
from ovaflow.evaluation.ranking import Ranked, precision_of_hits
from ovaflow.evaluation.single_label import has_one_label, single_label_metrics
from ovaflow.reranking.answer_length import labels_that_fit

STEPS = ("newton_steps", "cg_steps")
"""Statistics whose sums over labels are metrics, if the method has them."""


@dataclass(frozen=True)
class Measured:
    """What a model ranks for instances, beside the true labels: every metric and interval comes from it."""

    order: Ranked  # the labels that it predicts
    candidates: Ranked  # all that it ranks, by falling value
    answer: Ranked | None = None  # as many as it finds right; None where it says nothing of that
    kind: str = ""  # of answer, see :data:`ovaflow.evaluation.metric.ANSWERS`

    @classmethod
    def of(cls, predictions, Y, inverse, zero_decides=False):
        """Predictions of instances: labels that fit are the answer with a second stage, else those above 0."""
        order, ranking = Ranked(predictions.ids, Y, inverse), predictions.ranking
        if ranking is not None:
            candidates = Ranked(ranking.ids, Y, inverse)
            return cls(order, candidates, replace(candidates, amounts=labels_that_fit(ranking.probabilities)), "fit")
        if zero_decides:
            amounts = np.count_nonzero(predictions.scores > 0, axis=1)
            return cls(order, order, replace(order, amounts=amounts), "above-0")
        return cls(order, order)

    def metrics(self) -> dict[str, float]:
        """All metrics by name."""
        at_places = sorted(in_order(self.order), key=lambda entry: entry[2])
        return _values(self.order, at_places) | _values(self.candidates, of_candidates()) | self._of_answer()

    def _of_answer(self):
        return {} if self.answer is None else _values(self.answer, of_answer(self.kind))

    def samples(self) -> dict[str, np.ndarray]:
        """Metrics of instances drawn with replacement, (RESAMPLES,) by name; the same draws for all models."""
        samples = _resampled(self.order, in_order(self.order)) | _resampled(self.candidates, of_candidates())
        return samples if self.answer is None else samples | _resampled(self.answer, of_answer(self.kind))

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Intervals of the metrics that have them."""
        return {name: resampling.interval(values) for name, values in self.samples().items()}


def _values(ranked, entries):
    return {name: metric.value(ranked, k) for name, metric, k in entries}


def _resampled(ranked, entries):
    sampled = [(name, *metric.each(ranked, k)) for name, metric, k in entries if metric.each is not None]
    names, gains, best = zip(*sampled, strict=True)
    return dict(zip(names, resampling.resample(np.stack(gains, axis=1), np.stack(best, axis=1)).T, strict=True))


def samples_of_order(ids, Y, inverse):
    """Samples of the metrics that depend on the order of labels alone, by name."""
    ranked = Ranked(ids, Y, inverse)
    return _resampled(ranked, in_order(ranked))


def ranking_metrics(ids, Y, inverse, places=None):
    """Every metric of the order of labels at some places, by default 1, 3, 5 and all, by names such as ``P@5``."""
    ranked = Ranked(ids, Y, inverse)
    return _values(ranked, sorted(in_order(ranked, places), key=lambda entry: entry[2]))


def evaluate(predictions, dataset, model, training, a, b):
    """Metrics, sizes and times of a run, flat and JSON-able; fractions in [0, 1]."""
    predictions.require(dataset=dataset, model=model)
    require_training_of(model, training)
    inverse = dataset.inverse_propensity(a, b)
    measured = Measured.of(predictions, dataset.test.Y, inverse, model.zero_decides)
    metrics = _quality(measured, predictions)
    labels_per_instance = measured.order.positives
    if has_one_label(dataset):
        metrics |= single_label_metrics(predictions, dataset)
    if dataset.test.twins is not None:
        metrics |= _without_near_twins(measured.order, dataset.test.twins)
    dev = {}
    # without labels its figures would mean nothing
    if dataset.dev is not None and len(dataset.dev.Y.indices):
        dev["dev"] = _on_dev(predictions.dev, dataset.dev.Y, inverse, model.zero_decides)
    return metrics | {
        "intervals": measured.intervals(),
        "train_seconds": training.core_seconds,
        "train_peak_rss_bytes": training.peak_rss_bytes,
        **{name: int(training.statistics[name].sum()) for name in STEPS if name in training.statistics},
        "predict_seconds": predictions.seconds,
        "predict_threads": predictions.threads,
        "model_bytes": model.path.stat().st_size,
        "nonzeros": model.nonzeros,
        "features": model.n_features,
        "labels": model.n_labels,
        "labels_trained": int(model.trained.sum()),
        "instances": len(labels_per_instance),
        "instances_without_labels": int((labels_per_instance == 0).sum()),
        "top_k": measured.order.most,
        "propensity_a": a,
        "propensity_b": b,
        **dev,
    }


def _quality(measured, predictions):
    metrics = measured.metrics()
    if predictions.ranking is not None:
        first_ids = predictions.ranking.first_ids[:, : measured.order.most]
        metrics["first_stage"] = ranking_metrics(first_ids, measured.order.Y, measured.order.inverse)
    return metrics


def _on_dev(predictions, Y, inverse, zero_decides):
    """What is measured on the dev part."""
    measured = Measured.of(predictions, Y, inverse, zero_decides)
    return _quality(measured, predictions) | {
        "intervals": measured.intervals(),
        "instances": Y.n_rows,
        "instances_without_labels": int(np.count_nonzero(measured.order.positives == 0)),
    }


def named_on_dev(figures):
    """Figures on the dev part, ``dev P@1`` and the like; empty where there are none."""
    return {f"dev {name}": value for name, value in figures.items()}


def _without_near_twins(ranked, twins):
    """P@k of test instances without a near twin in training, and how many have one."""
    hits = ranked.hits[~twins]
    precisions = {f"P@{k}": precision_of_hits(hits, k) for k in places_up_to(ranked.most)}
    return {"instances_with_near_twin": int(np.count_nonzero(twins)), "without_near_twins": precisions}


def require_training_of(model, training):
    """Refuse statistics of a training on other data or with other settings."""
    settings = model.parameters.get("train", {})
    differing = [name for name, value in training.parameters.items() if settings.get(name, value) != value]
    if differing or training.inputs.get("dataset") not in (None, model.inputs.get("dataset")):
        other = f"with another {differing[0]}" if differing else "on another dataset"
        message = f"the statistics are from a training {other}"
        raise InputError(message, path=model.path, remedy="give the training.h5 next to it")
