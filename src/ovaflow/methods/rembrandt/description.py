"""Description of an embedding: spectrum, quality by rank, and nearest labels."""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.evaluation import ranking
from ovaflow.evaluation.metric import CUTOFFS, find_cutoffs
from ovaflow.methods.rembrandt.model_file import predict_embedded
from ovaflow.methods.rembrandt.panels import (
    from_panels,
    make_row_blocks,
    multiply_panels,
    parallel_map,
)
from ovaflow.methods.rembrandt.projection import Projection
from ovaflow.model.ranked_labels import find_hits
from ovaflow.sparse.csr import select_rows

MAX_CURVE_INSTANCES = 5000
"""Test instances that ranks are measured on; a random sample if there are more."""

MEASURED_RANKS = 8
SAMPLED_LABELS = 12
NEIGHBOURS_PER_LABEL = 5
_SHRINKAGE = 1e-6
_SOLVED = 8192
"""Labels whose decoder is solved for at a time, in double precision."""


def describe_embedding(embedding, dataset, threads=1):
    """Spectrum, quality by rank, and nearest labels of an embedding, as a dict for JSON."""
    if not dataset.test.X.n_rows:
        raise InputError(
            "no test instances", path=dataset.path, remedy="give a dataset with test instances"
        )
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    return {
        "eigenvalues": embedding.eigenvalues.tolist(),
        "label_covariance": embedding.label_covariance.tolist(),
        "points": _quality_by_rank(embedding, dataset, counts, threads),
        "neighbours": find_nearest_labels(_scaled(embedding), counts),
    }


def _scaled(embedding):
    """V Sigma, with the inner products of the predicted labels; V if nothing was decomposed."""
    if not len(embedding.eigenvalues) or not embedding.vectors.shape[1]:
        return embedding.vectors
    return embedding.vectors * np.sqrt(np.maximum(embedding.eigenvalues, 0)).astype(np.float32)


def _quality_by_rank(embedding, dataset, counts, threads):
    """P@k of the first dimensions with a least-squares decoder: one embedding shows all ranks."""
    if not embedding.vectors.shape[1] and not len(embedding.eigenvalues):
        return []
    rows = np.arange(dataset.test.X.n_rows)
    if len(rows) > MAX_CURVE_INSTANCES:
        rows = np.sort(np.random.default_rng(0).choice(rows, MAX_CURVE_INSTANCES, replace=False))
    X = select_rows(dataset.test.X, rows)
    Y = select_rows(dataset.test.Y, rows)
    with parallel_map(threads) as each:
        panels = multiply_panels(dataset.train.X, embedding.projection, each)
        sums = multiply_panels(dataset.positives, panels, each)
        Z = from_panels(panels, embedding.rank, np.float32)
        gram = (Z.T @ Z).astype(np.float64)
    points = []
    for rank in sorted({-(-embedding.rank // 2**halvings) for halvings in range(MEASURED_RANKS)}):
        part = gram[:rank, :rank] + _SHRINKAGE * np.trace(gram) / len(gram) * np.eye(rank)
        decoder = np.zeros((dataset.n_labels, rank + 1), np.float32)
        for labels in make_row_blocks(dataset.n_labels, _SOLVED):
            decoder[labels, :rank] = np.linalg.solve(part, from_panels(sums[:, labels], rank).T).T
        first = Projection(embedding.projection[: -(-rank // embedding.projection.shape[2])], rank)
        ids, _ = predict_embedded(first, decoder, counts > 0, X, max(CUTOFFS), threads)
        hits = find_hits(ids, Y)
        points.append(
            {"rank": rank}
            | {f"P@{k}": ranking.precision_of_hits(hits, k) for k in find_cutoffs(Y.n_columns)}
        )
    return points


def find_nearest_labels(vectors, counts):
    """Neighbours by cosine of labels drawn in proportion to the root of their counts."""
    if not vectors.size:
        return []
    lengths = np.sqrt(np.einsum("jk,jk->j", vectors, vectors, dtype=np.float64))
    chances = np.sqrt(counts) * (lengths > 0)
    size = min(SAMPLED_LABELS, int((chances > 0).sum()))
    if not size:
        return []
    drawn = np.random.default_rng(0).choice(
        len(counts), size, replace=False, p=chances / chances.sum()
    )
    entries = []
    for label in drawn[np.argsort(-counts[drawn], kind="stable")].tolist():
        cosines = np.full(len(counts), -np.inf)
        products = np.einsum("jk,k->j", vectors, vectors[label], dtype=np.float64)
        np.divide(products, lengths * lengths[label], cosines, where=chances > 0)
        cosines[label] = -np.inf
        order = np.argsort(-cosines, kind="stable")[:NEIGHBOURS_PER_LABEL].tolist()
        nearest = [[other, float(cosines[other])] for other in order if np.isfinite(cosines[other])]
        entries.append({"label": label, "nearest": nearest})
    return entries
