"""All metrics of a run as one flat table."""

from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.evaluation import ranking, resampling
from ovaflow.evaluation.single_label import has_one_label, single_label_metrics
from ovaflow.reranking.answer_length import labels_that_fit

PLACES = (1, 3, 5)

SAMPLED = ("P", "nDCG", "PSP", "recall")
"""Families of metrics with intervals."""

STEPS = ("newton_steps", "cg_steps")
"""Statistics whose sums over labels are metrics, if the method has them."""


def evaluate(predictions, dataset, model, training, a, b):
    """Metrics, sizes and times of a run, flat and JSON-able; fractions in [0, 1]."""
    predictions.require(dataset=dataset, model=model)
    require_training_of(model, training)
    inverse = dataset.inverse_propensity(a, b)
    zero_decides = model.zero_decides
    metrics = _quality(predictions, dataset.test.Y, inverse, zero_decides)
    labels_per_instance = np.diff(dataset.test.Y.indptr)
    if has_one_label(dataset):
        metrics |= single_label_metrics(predictions, dataset)
    if dataset.test.twins is not None:
        metrics |= _without_near_twins(predictions.ids, dataset.test)
    dev = {}
    # without labels its figures would mean nothing
    if dataset.dev is not None and len(dataset.dev.Y.indices):
        dev["dev"] = _on_dev(predictions.dev, dataset.dev.Y, inverse, zero_decides)
    return metrics | {
        "intervals": _intervals(predictions, dataset.test.Y, inverse, zero_decides),
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
        "top_k": most_places(predictions.ids, dataset.test.Y),
        "propensity_a": a,
        "propensity_b": b,
        **dev,
    }


def _quality(predictions, Y, inverse, zero_decides):
    metrics = ranking_metrics(predictions.ids, Y, inverse)
    if (answers := _answers_of(predictions, zero_decides)) is not None:
        hits = ranking.find_hits(answers.ids, Y)
        means = ranking.quality_of_answers(hits, answers.amounts, np.diff(Y.indptr))
        metrics |= {f"{name}-{answers.kind}": value for name, value in means.items()}
    if predictions.ranking is not None:
        first_ids = predictions.ranking.first_ids[:, : most_places(predictions.ids, Y)]
        metrics["first_stage"] = ranking_metrics(first_ids, Y, inverse)
    return metrics


def _intervals(predictions, Y, inverse, zero_decides):
    samples = samples_of(predictions, Y, inverse, zero_decides)
    return {name: resampling.interval(values) for name, values in samples.items()}


def _on_dev(predictions, Y, inverse, zero_decides):
    """What is measured on the dev part."""
    return _quality(predictions, Y, inverse, zero_decides) | {
        "intervals": _intervals(predictions, Y, inverse, zero_decides),
        "instances": Y.n_rows,
        "instances_without_labels": int(np.count_nonzero(np.diff(Y.indptr) == 0)),
    }


def named_on_dev(figures):
    """Figures on the dev part, ``dev P@1`` and the like; empty where there are none."""
    return {f"dev {name}": value for name, value in figures.items()}


class _Answers(NamedTuple):
    """Answers of as many labels as a model finds right."""

    kind: str  # ends the names of their metrics
    ids: np.ndarray  # (n, k), by falling value
    amounts: np.ndarray  # int64 (n,): how many of them are the answer


def _answers_of(predictions, zero_decides):
    """Labels that fit with a second stage, otherwise those with scores above 0; None where 0 means nothing."""
    candidates = predictions.ranking
    if candidates is not None:
        return _Answers("fit", candidates.ids, labels_that_fit(candidates.probabilities))
    if zero_decides:
        return _Answers("above-0", predictions.ids, np.count_nonzero(predictions.scores > 0, axis=1))
    return None


def samples_of(predictions, Y, inverse, zero_decides=False):
    """Metrics of test instances drawn with replacement, by name; the same draws for all predictions."""
    samples = samples_of_order(predictions.ids, Y, inverse)
    answers = _answers_of(predictions, zero_decides)
    if answers is None:
        return samples
    hits = ranking.find_hits(answers.ids, Y)
    f1 = ranking.answer_of_each(hits, answers.amounts, np.diff(Y.indptr))["F1"][:, None]
    return samples | {f"F1-{answers.kind}": resampling.resample(f1, np.ones_like(f1))[:, 0]}


def samples_of_order(ids, Y, inverse):
    """Samples of the metrics that depend on the order of labels alone, by name."""
    hits, names = ranking.find_hits(ids, Y), [f"{family}@{k}" for family in SAMPLED for k in _places(ids, Y)]
    sums = [ranking.contributions(name, ids, hits, Y, inverse) for name in names]
    gains, best = (np.stack(columns, axis=1) for columns in zip(*sums, strict=True))
    return dict(zip(names, resampling.resample(gains, best).T, strict=True))


def most_places(ids, Y):
    """How many labels of an instance can be predicted."""
    return min(ids.shape[1], Y.n_columns)


def places_up_to(most):
    """1, 3 and 5, as far as there are so many labels."""
    return [k for k in PLACES if k <= most]


def _places(ids, Y):
    """1, 3, 5 and the number of predicted labels, as far as there are so many, and these are not all labels."""
    most = ids.shape[1]
    return sorted({*places_up_to(min(most, Y.n_columns)), *([most] if most < Y.n_columns else [])})


def _without_near_twins(ids, test):
    """P@k of test instances without a near twin in training, and how many have one."""
    hits = ranking.find_hits(ids, test.Y)[~test.twins]
    places = places_up_to(most_places(ids, test.Y))
    return {
        "instances_with_near_twin": int(np.count_nonzero(test.twins)),
        "without_near_twins": {f"P@{k}": ranking.precision(hits, k) for k in places},
    }


def ranking_metrics(ids, Y, inverse, places=None):
    """Every ranking metric at some places, by default 1, 3, 5 and all, by names such as ``macro-F1@5``."""
    hits, sums = ranking.find_hits(ids, Y), ranking.ratio_of_sums
    metrics = {}
    for k in _places(ids, Y) if places is None else places:
        macro, micro = ranking.f1(ids, hits, Y, k)
        metrics |= {
            f"P@{k}": ranking.precision(hits, k),
            **{f"{name}@{k}": sums(f"{name}@{k}", ids, hits, Y, inverse) for name in ("nDCG", "recall", "PSP")},
            f"PSnDCG@{k}": ranking.propensity_scored_ndcg(ids, hits, Y, inverse, k),
            f"coverage@{k}": ranking.coverage(ids, hits, Y, k),
            f"macro-F1@{k}": macro,
            f"micro-F1@{k}": micro,
        }
    return metrics


def require_training_of(model, training):
    """Refuse statistics of a training on other data or with other settings."""
    settings = model.parameters.get("train", {})
    differing = [name for name, value in training.parameters.items() if settings.get(name, value) != value]
    if differing or training.inputs.get("dataset") not in (None, model.inputs.get("dataset")):
        other = f"with another {differing[0]}" if differing else "on another dataset"
        message = f"the statistics are from a training {other}"
        raise InputError(message, path=model.path, remedy="give the training.h5 next to it")
