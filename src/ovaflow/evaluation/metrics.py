"""All metrics of a run as one flat table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions, compute_metrics
from ovaflow.evaluation.metric import find_cutoffs, list_order_metrics
from ovaflow.evaluation.ranking import Ranked, precision_of_hits
from ovaflow.evaluation.single_label import has_one_label, single_label_metrics
from ovaflow.model.model_file import Model
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import PredictedLabels, Predictions
from ovaflow.settings.train import Propensities
from ovaflow.sparse.csr import CSR

SUMMED_STATISTICS = ("newton_steps", "cg_steps")
"""Statistics whose sums over labels are metrics, if the method has them."""


def compute_ranking_metrics(
    ids: np.ndarray,
    Y: CSR,
    inverse_propensity: np.ndarray,
    cutoffs: Iterable[int] | None = None,
) -> dict[str, float]:
    """Compute every metric of the order of labels, by names such as ``P@5``.

    Parameters
    ----------
    ids : int (n, K)
        Ranked labels, the best first; -1 where there is none.
    Y : CSR
        True labels (n, l).
    inverse_propensity : float64 (l,)
    cutoffs : iterable of int, optional
        By default 1, 3, 5 and K.
    """
    ranked = Ranked(ids, Y, inverse_propensity)
    by_cutoff = sorted(list_order_metrics(ranked, cutoffs), key=lambda named: named.k)
    return compute_metrics(ranked, by_cutoff)


def measure(
    predictions: Predictions, dataset: Dataset, model: Model, propensities: Propensities
) -> EvaluatedPredictions:
    """Join the predictions of a model for the test instances and their labels."""
    predictions.require(dataset=dataset, model=model)
    inverse_propensity = dataset.inverse_propensity(
        propensities.propensity_a, propensities.propensity_b
    )
    return EvaluatedPredictions.from_predictions(
        predictions, dataset.test.Y, inverse_propensity, zero_decides=model.zero_decides
    )


def evaluate(
    measured: EvaluatedPredictions,
    predictions: Predictions,
    dataset: Dataset,
    model: Model,
    training: Training,
) -> dict[str, Any]:
    """Compute metrics, sizes and times of a run as one table for JSON; fractions are in [0, 1]."""
    require_matching_training(model, training)
    table: dict[str, Any] = _measure_quality(measured, predictions)
    if has_one_label(dataset):
        table |= single_label_metrics(measured, dataset)
    if dataset.test.twins is not None:
        table |= _measure_without_near_twins(measured.order, dataset.test.twins)
    table["intervals"] = measured.intervals()
    table |= _measure_cost(predictions, model, training)
    positives = measured.order.positives
    table |= {
        "features": model.n_features,
        "labels": model.n_labels,
        "labels_trained": int(model.trained.sum()),
        "instances": len(positives),
        "instances_without_labels": int((positives == 0).sum()),
        "top_k": measured.order.max_predicted,
    }
    # without labels the metrics of the dev part would mean nothing
    if dataset.dev is not None and len(dataset.dev.Y.indices):
        assert predictions.dev is not None
        on_dev = EvaluatedPredictions.from_predictions(
            predictions.dev,
            dataset.dev.Y,
            measured.order.inverse_propensity,
            zero_decides=model.zero_decides,
        )
        table["dev"] = _measure_dev(on_dev, predictions.dev)
    return table


def _measure_quality(
    measured: EvaluatedPredictions, predictions: Predictions | PredictedLabels
) -> dict[str, Any]:
    """Compute all metrics, and those of the first stage if there is a second one."""
    metrics: dict[str, Any] = {**measured.metrics()}
    if predictions.ranking is not None:
        order = measured.order
        first_ids = predictions.ranking.first_ids[:, : order.max_predicted]
        metrics["first_stage"] = compute_ranking_metrics(first_ids, order.Y, order.label_gains)
    return metrics


def _measure_cost(predictions: Predictions, model: Model, training: Training) -> dict[str, Any]:
    """Collect times of training and prediction, and the size of the model."""
    sums = {}
    for name in SUMMED_STATISTICS:
        if name in training.statistics:
            sums[name] = int(training.statistics[name].sum())
    assert model.path is not None
    return {
        "train_seconds": training.core_seconds,
        "train_peak_rss_bytes": training.peak_rss_bytes,
        **sums,
        "predict_seconds": predictions.seconds,
        "predict_threads": predictions.threads,
        "model_bytes": model.path.stat().st_size,
        "nonzeros": model.nonzeros,
    }


def _measure_dev(measured: EvaluatedPredictions, predictions: PredictedLabels) -> dict[str, Any]:
    """Compute the metrics of the dev part."""
    positives = measured.order.positives
    return _measure_quality(measured, predictions) | {
        "intervals": measured.intervals(),
        "instances": len(positives),
        "instances_without_labels": int(np.count_nonzero(positives == 0)),
    }


def prefix_dev_metrics(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Name metrics of the dev part ``dev P@1`` and the like."""
    return {f"dev {name}": value for name, value in metrics.items()}


def _measure_without_near_twins(ranked: Ranked, twins: np.ndarray) -> dict[str, Any]:
    """Compute P@k of test instances without a near twin in training, and count the others."""
    hits = ranked.hits[~twins]
    precisions = {}
    for k in find_cutoffs(ranked.max_predicted):
        precisions[f"P@{k}"] = precision_of_hits(hits, k)
    return {
        "instances_with_near_twin": int(np.count_nonzero(twins)),
        "without_near_twins": precisions,
    }


def require_matching_training(model: Model, training: Training) -> None:
    """Refuse statistics of a training on other data or with other settings."""
    settings = model.parameters.get("train", {})
    differing = []
    for name, value in training.parameters.items():
        if settings.get(name, value) != value:
            differing.append(name)
    if differing or training.inputs.get("dataset") not in (None, model.inputs.get("dataset")):
        other = f"with another {differing[0]}" if differing else "on another dataset"
        message = f"the statistics are from a training {other}"
        raise InputError(message, path=model.path, remedy="give the training.h5 next to it")
