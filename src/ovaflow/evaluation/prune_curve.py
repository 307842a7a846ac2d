"""Quality and size of a model pruned further and further (DiSMEC, fig. 5)."""

from dataclasses import replace

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.data.propensity import inverse_propensity
from ovaflow.evaluation import ranking
from ovaflow.evaluation.metrics import PLACES
from ovaflow.model.pruning import prune
from ovaflow.prediction.top_k import load_kernels, predict_top_k

_BYTES_OF_A_WEIGHT = 8


def prune_curve(model, dataset, thresholds, a, b, threads=1):
    """Size and quality at each threshold above the model's own, ascending (DiSMEC, fig. 5)."""
    _check(model, dataset)
    wanted = sorted({float(threshold) for threshold in thresholds if threshold > model.parameters["prune"]})
    inverse = inverse_propensity(model.counts, dataset.train.X.n_rows, a, b)
    load_kernels()
    curve, pruned = [], model
    with Progress("prune", len(wanted), "thresholds") as progress:
        for threshold in wanted:
            pruned = replace(pruned, weights=prune(pruned.weights, threshold))
            curve.append({"prune": threshold, **_sizes(model, pruned), **_quality(pruned, dataset, inverse, threads)})
            progress.advance()
    return {"model": model.checksum, "points": curve}


def _sizes(model, pruned):
    dropped = len(model.weights.data) - len(pruned.weights.data)
    n_bytes = model.path.stat().st_size - _BYTES_OF_A_WEIGHT * dropped
    return {"nonzeros": len(pruned.weights.data), "model_bytes": n_bytes}


def quality_of(model, dataset, a, b, threads=1):
    """P@k and PSP@k on the test instances."""
    _check(model, dataset)
    return _quality(model, dataset, inverse_propensity(model.counts, dataset.train.X.n_rows, a, b), threads)


def _check(model, dataset):
    if model.inputs.get("dataset") != dataset.checksum:
        raise InputError(f"was not trained on {dataset.path}", path=model.path, remedy="train again")


def _quality(pruned, dataset, inverse, threads):
    ids, _ = predict_top_k(pruned.weights, pruned.trained, dataset.test.X, max(PLACES), threads)
    hits = ranking.find_hits(ids, dataset.test.Y)
    places = [k for k in PLACES if k <= ids.shape[1]]
    scored = {f"PSP@{k}": ranking.propensity_scored_precision(ids, hits, dataset.test.Y, inverse, k) for k in places}
    return {f"P@{k}": ranking.precision(hits, k) for k in places} | scored
