"""Quality and size of a model as more of its weights are dropped."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.evaluation.metric import CUTOFFS, compute_metric, find_cutoffs
from ovaflow.evaluation.ranking import Ranked
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import prune
from ovaflow.model.top_k import predict_top_k
from ovaflow.sparse.csr import CSR, evenly_spaced_numbers
from ovaflow.sparse.weight_rows import count_weight_bytes

MAX_COMPARED_INSTANCES = 20_000
"""Most test instances that pruned models are compared on: differences between them need no more."""


def sample_test_instances(dataset: Dataset) -> Split:
    """Select at most :data:`MAX_COMPARED_INSTANCES` test instances, evenly spaced."""
    return dataset.test.take(evenly_spaced_numbers(dataset.test.X.n_rows, MAX_COMPARED_INSTANCES))


def measure_pruned(
    model: OneVsAll,
    thresholds: Sequence[float],
    test: Split,
    inverse_propensity: np.ndarray,
    threads: int = 1,
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Measure a model that is pruned at growing thresholds.

    Yields its size and quality, and the best labels of each test instance.
    """
    model.prepare()
    pruned = model
    with Progress("prune", len(thresholds), "thresholds") as progress:
        for threshold in thresholds:
            if threshold > model.parameters["prune"]:
                weights = prune(pruned.weights, threshold)
                pruned = replace(pruned, weights=weights)
            ids = _find_best_labels(pruned, test, threads)
            sizes = _measure_sizes(model, pruned)
            quality = _measure_order(ids, test.Y, inverse_propensity)
            yield {"prune": threshold, **sizes, **quality}, ids
            progress.advance()


def _measure_sizes(model: OneVsAll, pruned: OneVsAll) -> dict[str, int]:
    n_dropped = len(model.weights.data) - len(pruned.weights.data)
    assert model.path is not None
    n_bytes = model.path.stat().st_size - count_weight_bytes(model.weights) * n_dropped
    return {"nonzeros": len(pruned.weights.data), "model_bytes": n_bytes}


def measure_quality(
    model: OneVsAll, dataset: Dataset, a: float, b: float, threads: int = 1
) -> dict[str, float]:
    """Measure P@k and PSP@k on the test instances; a and b are the parameters of propensities."""
    model.require(dataset=dataset)
    ids = _find_best_labels(model, dataset.test, threads)
    return _measure_order(ids, dataset.test.Y, dataset.inverse_propensity(a, b))


def _find_best_labels(model: OneVsAll, test: Split, threads: int) -> np.ndarray:
    ids, _ = predict_top_k(model.weights, model.trained, test.X, max(CUTOFFS), threads)
    return ids


def _measure_order(ids: np.ndarray, Y: CSR, inverse_propensity: np.ndarray) -> dict[str, float]:
    ranked = Ranked(ids, Y, inverse_propensity)
    quality = {}
    for family in ("P", "PSP"):
        for k in find_cutoffs(Y.n_columns):
            name = f"{family}@{k}"
            quality[name] = compute_metric(name, ranked)
    return quality
