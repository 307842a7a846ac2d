"""Quality of a model pruned further, of its first trees, and of the first dimensions of an embedding."""

from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.evaluation import ranking
from ovaflow.evaluation.metrics import PLACES
from ovaflow.fastxml.model_file import predict_trees
from ovaflow.model.index import open_index
from ovaflow.model.pruning import prune
from ovaflow.model.top_k import predict_top_k
from ovaflow.rembrandt.model_file import predict_embedded
from ovaflow.rembrandt.panels import from_panels, in_blocks, product
from ovaflow.rembrandt.projection import Projection
from ovaflow.sparse.csr import rows_of

_BYTES_OF_A_WEIGHT = 8

MOST_INSTANCES = 20_000
"""Test instances of a prune curve, evenly spaced: differences between its points need no more."""

MOST_POINTS = 24
"""Points of a tree curve; with fewer trees, every number of trees is one."""

MOST_OF_RANKS = 5000
"""Test instances that ranks are measured on; a random sample if there are more."""

RANKS = 8
LABELS, NEIGHBOURS = 12, 5
_SHRINKAGE = 1e-6


def prune_curve(model, dataset, thresholds, a, b, threads=1):
    """Size and quality at the model's threshold and larger ones, on a sample of the test set."""
    model.require_dataset(dataset)
    smallest = model.parameters["prune"]
    thresholds = sorted({smallest} | {float(each) for each in thresholds if each > smallest})
    n = dataset.test.X.n_rows
    few = min(n, MOST_INSTANCES)
    test, inverse = dataset.test.take(np.arange(few) * n // max(few, 1)), dataset.inverse_propensity(a, b)
    model.prepare()
    points, pruned, panels = [], model, open_index(model)
    with Progress("prune", len(thresholds), "thresholds") as progress:
        for threshold in thresholds:
            if threshold > smallest:
                pruned, panels = replace(pruned, weights=prune(pruned.weights, threshold)), None
            quality = _measure(pruned, test, inverse, threads, panels)
            points.append({"prune": threshold, **_sizes(model, pruned), **quality})
            progress.advance()
    return {"model": model.checksum, "instances": few, "points": points}


def _sizes(model, pruned):
    dropped = len(model.weights.data) - len(pruned.weights.data)
    n_bytes = model.path.stat().st_size - _BYTES_OF_A_WEIGHT * dropped
    return {"nonzeros": len(pruned.weights.data), "model_bytes": n_bytes}


def quality_of(model, dataset, a, b, threads=1):
    """P@k and PSP@k of a one-vs-all model on the test instances."""
    model.require_dataset(dataset)
    return _measure(model, dataset.test, dataset.inverse_propensity(a, b), threads)


def _measure(model, test, inverse, threads, panels=None):
    ids, _ = predict_top_k(model.weights, model.trained, test.X, max(PLACES), threads, panels=panels)
    return _quality(ids, test.Y, inverse)


def tree_curve(model, dataset, a, b, threads=1):
    """Quality of growing numbers of trees, from one pass over the test instances."""
    model.require_dataset(dataset)
    amounts = _amounts(model.forest.n_trees)
    inverse = dataset.inverse_propensity(a, b)
    ids, _ = predict_trees(model.forest, model.instances(dataset.test), max(PLACES), threads, amounts)
    points = []
    for trees, each in zip(amounts, ids, strict=True):
        points.append({"trees": trees, **_quality(each, dataset.test.Y, inverse)})
    return {"model": model.checksum, "points": points}


def _amounts(n_trees):
    """All numbers of trees if there are few, otherwise ever wider steps to the last."""
    steps = range(1, n_trees + 1)
    if n_trees <= MOST_POINTS:
        return list(steps)
    return sorted({round(n_trees ** ((place + 1) / MOST_POINTS)) for place in range(MOST_POINTS)} | {1, n_trees})


def _quality(ids, Y, inverse):
    hits = ranking.find_hits(ids, Y)
    precision = {f"P@{k}": ranking.precision(hits, k) for k in PLACES}
    scored = {f"PSP@{k}": ranking.propensity_scored_precision(ids, hits, Y, inverse, k) for k in PLACES}
    return precision | scored


def describe_embedding(embedding, dataset, threads=1):
    """Spectrum, quality by rank, and nearest labels of an embedding, as a dict for JSON."""
    if not dataset.test.X.n_rows:
        raise InputError("no test instances", path=dataset.path, remedy="give a dataset with test instances")
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    return {
        "eigenvalues": embedding.eigenvalues.tolist(),
        "label_covariance": embedding.label_covariance.tolist(),
        "points": _quality_by_rank(embedding, dataset, counts, threads),
        "neighbours": nearest_labels(_scaled(embedding), counts),
    }


def _scaled(embedding):
    """V Sigma, with the inner products of the predicted labels; V if nothing was decomposed."""
    if not len(embedding.eigenvalues) or not embedding.vectors.shape[1]:
        return embedding.vectors
    return embedding.vectors * np.sqrt(np.maximum(embedding.eigenvalues, 0)).astype(np.float32)


def _quality_by_rank(embedding, dataset, counts, threads):
    """P@k of the first dimensions with a least-squares decoder: one embedding shows all ranks."""
    if not embedding.ordered:
        return []
    rows = np.arange(dataset.test.X.n_rows)
    if len(rows) > MOST_OF_RANKS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_OF_RANKS, replace=False))
    X, Y = rows_of(dataset.test.X, rows), rows_of(dataset.test.Y, rows)
    with in_blocks(threads) as each:
        panels = product(dataset.train.X, embedding.projection, each)
        sums = from_panels(product(dataset.positives, panels, each), embedding.rank)
        Z = from_panels(panels, embedding.rank, np.float32)
        gram = (Z.T @ Z).astype(np.float64)
    points = []
    for rank in sorted({-(-embedding.rank // 2**halvings) for halvings in range(RANKS)}):
        part = gram[:rank, :rank] + _SHRINKAGE * np.trace(gram) / len(gram) * np.eye(rank)
        decoder = np.zeros((dataset.n_labels, rank + 1), np.float32)
        decoder[:, :rank] = np.linalg.solve(part, sums[:, :rank].T).T
        first = Projection(embedding.projection[: -(-rank // embedding.projection.shape[2])], rank)
        ids, _ = predict_embedded(first, decoder, counts > 0, X, max(PLACES), threads)
        hits = ranking.find_hits(ids, Y)
        points.append({"rank": rank} | {f"P@{k}": ranking.precision(hits, k) for k in PLACES})
    return points


def nearest_labels(vectors, counts):
    """Neighbours by cosine of labels drawn in proportion to the root of their counts."""
    chances = np.sqrt(counts) * (np.abs(vectors).max(axis=1, initial=0) > 0)
    size = min(LABELS, int((chances > 0).sum()))
    if not size:
        return []
    drawn = np.random.default_rng(0).choice(len(counts), size, replace=False, p=chances / chances.sum())
    lengths = np.sqrt(np.square(vectors).sum(axis=1))
    units = np.where(chances[:, None] > 0, vectors / np.maximum(lengths, 1e-30)[:, None], 0)
    entries = []
    for label in drawn[np.argsort(-counts[drawn], kind="stable")].tolist():
        cosines = np.where(chances > 0, (units * units[label]).sum(axis=1), -np.inf)
        cosines[label] = -np.inf
        order = np.argsort(-cosines, kind="stable")[:NEIGHBOURS].tolist()
        nearest = [[other, float(cosines[other])] for other in order if np.isfinite(cosines[other])]
        entries.append({"label": label, "nearest": nearest})
    return entries
