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
    """Prune a model at larger and larger thresholds and predict the test set each time.

    Parameters
    ----------
    model : ovaflow.model.model_file.Model
    dataset : ovaflow.data.dataset.Dataset
        The one that the model was trained on.
    thresholds : sequence of float
        Those that are not above the model's own leave nothing to prune and are
        passed over.
    threads : int
    a, b : float
        Constants of the propensities.

    Returns
    -------
    dict
        ``model``, its checksum, and ``points``, one a threshold, ascending:
        ``prune``, ``nonzeros``, ``model_bytes`` and
        P@1, P@3, P@5, PSP@1, PSP@3, PSP@5. At the model's own threshold the
        run's metrics say the same.

    Raises
    ------
    InputError
        If the model was trained on another dataset.
    """
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
    """Quality of a model on the test instances.

    Parameters
    ----------
    model : ovaflow.model.model_file.Model
    dataset : ovaflow.data.dataset.Dataset
        The one that the model was trained on.
    threads : int

    Returns
    -------
    dict of str to float
        P@1, P@3, P@5, PSP@1, PSP@3, PSP@5.

    Raises
    ------
    InputError
        If the model was trained on another dataset.
    """
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
