"""Quality and size of a model as more of its weights are dropped."""

from dataclasses import replace

from ovaflow.console.progress import Progress
from ovaflow.evaluation.metric import CUTOFFS, compute_metric, find_cutoffs
from ovaflow.evaluation.ranking import Ranked
from ovaflow.model.pruning import prune
from ovaflow.model.top_k import predict_top_k
from ovaflow.sparse.csr import evenly_spaced_numbers
from ovaflow.sparse.weight_rows import count_weight_bytes

MAX_COMPARED_INSTANCES = 20_000
"""Test instances that pruned models are compared on: differences between them need no more."""


def sample_test_instances(dataset):
    """Return at most :data:`MOST_INSTANCES` test instances, evenly spaced."""
    return dataset.test.take(evenly_spaced_numbers(dataset.test.X.n_rows, MAX_COMPARED_INSTANCES))


def measure_pruned(model, thresholds, test, inverse, threads=1):
    """Yield size and quality of a model pruned at growing thresholds, and the best labels of each
    test instance.
    """
    model.prepare()
    pruned = model
    with Progress("prune", len(thresholds), "thresholds") as progress:
        for threshold in thresholds:
            if threshold > model.parameters["prune"]:
                pruned = replace(pruned, weights=prune(pruned.weights, threshold))
            ids = _best_labels(pruned, test, threads)
            yield (
                {
                    "prune": threshold,
                    **_sizes(model, pruned),
                    **_quality_of_top(ids, test.Y, inverse),
                },
                ids,
            )
            progress.advance()


def _sizes(model, pruned):
    dropped = len(model.weights.data) - len(pruned.weights.data)
    n_bytes = model.path.stat().st_size - count_weight_bytes(model.weights) * dropped
    return {"nonzeros": len(pruned.weights.data), "model_bytes": n_bytes}


def measure_quality(model, dataset, a, b, threads=1):
    model.require(dataset=dataset)
    ids = _best_labels(model, dataset.test, threads)
    return _quality_of_top(ids, dataset.test.Y, dataset.inverse_propensity(a, b))


def _best_labels(model, test, threads):
    return predict_top_k(model.weights, model.trained, test.X, max(CUTOFFS), threads)[0]


def _quality_of_top(ids, Y, inverse):
    ranked = Ranked(ids, Y, inverse)
    names = [f"{family}@{k}" for family in ("P", "PSP") for k in find_cutoffs(Y.n_columns)]
    return {name: compute_metric(name, ranked) for name in names}
