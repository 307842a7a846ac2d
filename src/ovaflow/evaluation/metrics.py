"""All metrics of a run as one flat table."""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.evaluation.measured import EvaluatedPredictions, compute_metrics
from ovaflow.evaluation.metric import find_cutoffs, list_order_metrics
from ovaflow.evaluation.ranking import Ranked, precision_of_hits
from ovaflow.evaluation.single_label import has_one_label, single_label_metrics

SUMMED_STATISTICS = ("newton_steps", "cg_steps")
"""Statistics whose sums over labels are metrics, if the method has them."""


def compute_ranking_metrics(ids, Y, inverse, places=None):
    """Every metric of the order of labels at some places, by default 1, 3, 5 and all, by names such
    as ``P@5``.
    """
    ranked = Ranked(ids, Y, inverse)
    return compute_metrics(
        ranked, sorted(list_order_metrics(ranked, places), key=lambda entry: entry[2])
    )


def measure(predictions, dataset, model, propensities):
    """What a model predicted for the test instances, beside their labels."""
    predictions.require(dataset=dataset, model=model)
    inverse = dataset.inverse_propensity(propensities.propensity_a, propensities.propensity_b)
    return EvaluatedPredictions.of(predictions, dataset.test.Y, inverse, model.zero_decides)


def evaluate(measured, predictions, dataset, model, training):
    """Metrics, sizes and times of a run, flat and JSON-able; fractions in [0, 1]."""
    require_matching_training(model, training)
    metrics = _quality(measured, predictions)
    labels_per_instance = measured.order.positives
    if has_one_label(dataset):
        metrics |= single_label_metrics(measured, dataset)
    if dataset.test.twins is not None:
        metrics |= _without_near_twins(measured.order, dataset.test.twins)
    dev = {}
    # without labels its figures would mean nothing
    if dataset.dev is not None and len(dataset.dev.Y.indices):
        dev["dev"] = _on_dev(
            predictions.dev, dataset.dev.Y, measured.order.inverse, model.zero_decides
        )
    return metrics | {
        "intervals": measured.intervals(),
        "train_seconds": training.core_seconds,
        "train_peak_rss_bytes": training.peak_rss_bytes,
        **{
            name: int(training.statistics[name].sum())
            for name in SUMMED_STATISTICS
            if name in training.statistics
        },
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
        **dev,
    }


def _quality(measured, predictions):
    metrics = measured.metrics()
    if predictions.ranking is not None:
        first_ids = predictions.ranking.first_ids[:, : measured.order.most]
        metrics["first_stage"] = compute_ranking_metrics(
            first_ids, measured.order.Y, measured.order.inverse
        )
    return metrics


def _on_dev(predictions, Y, inverse, zero_decides):
    """What is measured on the dev part."""
    measured = EvaluatedPredictions.of(predictions, Y, inverse, zero_decides)
    return _quality(measured, predictions) | {
        "intervals": measured.intervals(),
        "instances": Y.n_rows,
        "instances_without_labels": int(np.count_nonzero(measured.order.positives == 0)),
    }


def prefix_dev_figures(figures):
    """Figures on the dev part, ``dev P@1`` and the like; empty where there are none."""
    return {f"dev {name}": value for name, value in figures.items()}


def _without_near_twins(ranked, twins):
    """P@k of test instances without a near twin in training, and how many have one."""
    hits = ranked.hits[~twins]
    precisions = {f"P@{k}": precision_of_hits(hits, k) for k in find_cutoffs(ranked.most)}
    return {
        "instances_with_near_twin": int(np.count_nonzero(twins)),
        "without_near_twins": precisions,
    }


def require_matching_training(model, training) -> None:
    """Refuse statistics of a training on other data or with other settings."""
    settings = model.parameters.get("train", {})
    differing = [
        name for name, value in training.parameters.items() if settings.get(name, value) != value
    ]
    if differing or training.inputs.get("dataset") not in (None, model.inputs.get("dataset")):
        other = f"with another {differing[0]}" if differing else "on another dataset"
        message = f"the statistics are from a training {other}"
        raise InputError(message, path=model.path, remedy="give the training.h5 next to it")
