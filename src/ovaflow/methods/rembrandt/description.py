"""Description of an embedding: spectrum, quality by rank, and nearest labels."""

from typing import Any

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.metric import CUTOFFS, find_cutoffs
from ovaflow.evaluation.ranking import precision_of_hits
from ovaflow.methods.rembrandt.embedding import Embedding
from ovaflow.methods.rembrandt.model_file import predict_embedded
from ovaflow.methods.rembrandt.panels import (
    count_panels,
    from_panels,
    make_row_blocks,
    multiply_panels,
    parallel_map,
)
from ovaflow.methods.rembrandt.projection import Projection
from ovaflow.model.ranked_labels import find_hits
from ovaflow.sparse.csr import CSR, select_rows

MAX_CURVE_INSTANCES = 5000
"""Test instances on which ranks are measured; a random sample if there are more."""

MEASURED_RANKS = 8
"""Number of ranks that are measured: that of the embedding, half of it, a quarter and so on."""

SAMPLED_LABELS = 12
"""Labels whose nearest labels are listed."""

NEIGHBOURS_PER_LABEL = 5

_DECODER_RIDGE = 1e-6
"""Ridge of the least-squares decoder, relative to the mean diagonal entry of the Gram matrix."""

_SOLVED_LABELS = 8192
"""Labels whose decoder is solved at a time, in double precision."""


def describe_embedding(embedding: Embedding, dataset: Dataset, threads: int = 1) -> dict[str, Any]:
    """Compute spectrum, quality by rank and nearest labels of an embedding, for JSON."""
    if not dataset.test.X.n_rows:
        raise InputError(
            "no test instances", path=dataset.path, remedy="give a dataset with test instances"
        )
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    return {
        "eigenvalues": embedding.eigenvalues.tolist(),
        "label_covariance": embedding.label_covariance.tolist(),
        "points": _measure_ranks(embedding, dataset, counts, threads),
        "neighbours": find_nearest_labels(_scale_vectors(embedding), counts),
    }


def _scale_vectors(embedding: Embedding) -> np.ndarray:
    """Return V Sigma, with the inner products of the predicted labels; V without eigenvalues."""
    if not len(embedding.eigenvalues) or not embedding.vectors.shape[1]:
        return embedding.vectors
    return embedding.vectors * np.sqrt(np.maximum(embedding.eigenvalues, 0)).astype(np.float32)


def _measure_ranks(
    embedding: Embedding, dataset: Dataset, counts: np.ndarray, threads: int
) -> list[dict[str, float]]:
    """Compute P@k of the first dimensions with a least-squares decoder, for some ranks.

    One embedding shows all ranks, since its dimensions are ordered.
    """
    if not embedding.vectors.shape[1] and not len(embedding.eigenvalues):
        return []
    X, Y = _sample_test_instances(dataset)
    with parallel_map(threads) as parallel:
        panels = multiply_panels(dataset.train.X, embedding.projection, parallel)
        sums = multiply_panels(dataset.positives, panels, parallel)
        Z = from_panels(panels, embedding.rank, np.float32)
        gram = (Z.T @ Z).astype(np.float64)
    ridge = _DECODER_RIDGE * np.trace(gram) / len(gram)
    points = []
    for rank in _list_ranks(embedding.rank):
        part = gram[:rank, :rank] + ridge * np.eye(rank)
        decoder = np.zeros((dataset.n_labels, rank + 1), np.float32)
        for labels in make_row_blocks(dataset.n_labels, _SOLVED_LABELS):
            moments = from_panels(sums[:, labels], rank)
            decoder[labels, :rank] = np.linalg.solve(part, moments.T).T
        projection = Projection(embedding.projection[: count_panels(rank)], rank)
        ids, _ = predict_embedded(projection, decoder, counts > 0, X, max(CUTOFFS), threads)
        hits = find_hits(ids, Y)
        point: dict[str, float] = {"rank": rank}
        for k in find_cutoffs(Y.n_columns):
            point[f"P@{k}"] = precision_of_hits(hits, k)
        points.append(point)
    return points


def _sample_test_instances(dataset: Dataset) -> tuple[CSR, CSR]:
    """Return features and labels of the test instances, or of a random sample of them."""
    rows = np.arange(dataset.test.X.n_rows)
    if len(rows) > MAX_CURVE_INSTANCES:
        generator = np.random.default_rng(0)
        rows = np.sort(generator.choice(rows, MAX_CURVE_INSTANCES, replace=False))
    return select_rows(dataset.test.X, rows), select_rows(dataset.test.Y, rows)


def _list_ranks(rank: int) -> list[int]:
    """List a rank, its half, its quarter and so on, rounded up, in ascending order."""
    return sorted({-(-rank // 2**halvings) for halvings in range(MEASURED_RANKS)})


def find_nearest_labels(vectors: np.ndarray, counts: np.ndarray) -> list[dict[str, Any]]:
    """Find neighbours by cosine of some labels.

    Labels are drawn in proportion to the square root of their counts.

    Parameters
    ----------
    vectors : ndarray of float32, shape (l, k)
        Embedded labels.
    counts : ndarray of int, shape (l,)
        Number of positives of each label.

    Returns
    -------
    list of dict
        ``label``, and ``nearest``: pairs of a label and its cosine, the largest first.
    """
    if not vectors.size:
        return []
    lengths = np.sqrt(np.einsum("jk,jk->j", vectors, vectors, dtype=np.float64))
    chances = np.sqrt(counts) * (lengths > 0)
    size = min(SAMPLED_LABELS, int((chances > 0).sum()))
    if not size:
        return []
    generator = np.random.default_rng(0)
    drawn = generator.choice(len(counts), size, replace=False, p=chances / chances.sum())
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
