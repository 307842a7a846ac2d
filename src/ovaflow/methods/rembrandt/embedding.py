"""The embeddings: Rembrandt's, and those that the paper compares it with (Algorithms 1 and 2)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Dataset
from ovaflow.methods.rembrandt.least_squares import LeastSquares
from ovaflow.methods.rembrandt.panels import (
    Map,
    count_panels,
    from_panels,
    make_row_blocks,
    multiply_panels,
    parallel_map,
    run_blocks,
    to_panels,
    with_transpose,
    zero_panels,
)
from ovaflow.methods.rembrandt.settings import Embed
from ovaflow.sparse.csr import CSR, select_rows, transpose
from ovaflow.sparse.panel import PANEL_WIDTH
from ovaflow.storage.artifact import Artifact

PCA = "pca"
"""The embedding of features: instances are projected onto their principal components."""

NO_EMBEDDING = "none"
"""No embedding: the decoder takes the features as they are."""

MAX_IDENTITY_FEATURES = 4096
"""Features up to which a decoder can be trained without an embedding: the identity is stored in
full.
"""

HELD_OUT_SHARE = 0.1
"""Share of the instances on which the ridge is chosen."""

_BLOCK_ROWS = 8192

Multiply = Callable[[np.ndarray], np.ndarray]
"""Multiplies a symmetric matrix A by Q in panels; the product may overwrite Q."""


def compute_top_eigenvectors(
    multiply: Multiply,
    size: int,
    rank: int,
    *,
    oversampling: int,
    passes: int,
    seed: int,
    parallel: Map = map,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute leading eigenvectors of A >= 0 by randomized subspace iteration.

    Parameters
    ----------
    multiply : callable
        Multiplies A by panels.
    size : int
        Number of rows of A.
    rank : int
        Number of eigenvectors.
    oversampling : int
        Extra dimensions of the subspace.
    passes : int
        Number of iterations before the last product.
    seed : int
        Seed of the first subspace.
    parallel : callable, default=map
        By :func:`parallel_map`.

    Returns
    -------
    vectors : ndarray of float32, shape (ceil(k / 64), size, 64)
        Eigenvectors in panels; k is ``rank``, or less where A has a lower rank.
    values : ndarray of float64, shape (k,)
        Eigenvalues.
    """
    Q = _draw_panels(size, min(rank + oversampling, size), seed)
    for _ in range(passes):
        Q, _ = _orthonormalize(multiply(Q), rank + oversampling, parallel)
    return _orthonormalize(multiply(Q), rank, parallel)


def _draw_panels(n: int, s: int, seed: int) -> np.ndarray:
    """Draw normal random numbers, in blocks of rows since they are in double precision."""
    generator = np.random.default_rng(seed)
    panels = zero_panels(n, s)
    for rows in make_row_blocks(n, _BLOCK_ROWS):
        panels[:, rows] = to_panels(generator.standard_normal((rows.stop - rows.start, s)))
    return panels


def _orthonormalize(panels: np.ndarray, rank: int, parallel: Map) -> tuple[np.ndarray, np.ndarray]:
    """Replace B by its leading left singular vectors; return these and the singular values.

    They are computed from B^T B. That squares the condition, but loses nothing in double precision
    for entries in single precision.
    """
    blocks = make_row_blocks(panels.shape[1], _BLOCK_ROWS)
    width = PANEL_WIDTH * len(panels)

    def compute_gram(rows: slice) -> np.ndarray:
        part = from_panels(panels[:, rows], width)
        return part.T @ part

    squares, vectors = scipy.linalg.eigh(sum(parallel(compute_gram, blocks)))
    values = np.sqrt(np.maximum(squares[::-1], 0))
    is_nonzero = values > np.finfo(np.float32).eps * values.max(initial=0)
    kept = min(rank, int(is_nonzero.sum()))
    values = values[:kept]
    rotation = vectors[:, ::-1][:, :kept] / values
    n_panels = count_panels(kept)

    def rotate(rows: slice) -> None:
        panels[:n_panels, rows] = to_panels(from_panels(panels[:, rows], width) @ rotation)

    run_blocks(parallel, rotate, blocks)
    panels = panels[:n_panels]
    for panel in panels:
        # the sign of an eigenvector is arbitrary: the largest entry is made positive
        panel *= np.where(-panel.min(axis=0) > panel.max(axis=0), np.float32(-1), np.float32(1))
    return panels, values


def _no_vectors() -> np.ndarray:
    return np.empty((0, 0), np.float32)


def _no_values() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True)
class Embedding(Artifact, kind="embedding", made_from=("dataset",)):
    """An embedding of the labels, and the projection of instances into it."""

    # float32 (l, k), R: one row per label; empty where features alone were embedded
    vectors: np.ndarray = field(default_factory=_no_vectors, kw_only=True)
    # float64 (k,); of the decomposed matrix, divided by the number of instances; empty for a random
    # embedding
    eigenvalues: np.ndarray = field(default_factory=_no_values, kw_only=True)
    # float64; leading eigenvalues of Y^T Y / n, of the paper's figure 1b
    label_covariance: np.ndarray = field(default_factory=_no_values, kw_only=True)
    projection: np.ndarray  # float32 (ceil(k / 64), d, 64), W in panels
    labels: int  # l
    rank: int  # k, at most the rank of the data
    # of the last least-squares fit; 0 where it was direct
    iterations: int = field(default=0, kw_only=True)
    core_seconds: float = field(default=0.0, kw_only=True)  # processor time
    peak_rss_bytes: int = field(default=0, kw_only=True)

    @property
    def ridge(self) -> float:
        """The regularization of the least-squares fits."""
        return self.parameters.get("ridge", 0.0)

    @property
    def held_out_errors(self) -> dict[float, float]:
        """Squared errors on held-out instances by ridge; empty if only one ridge was given.

        They are errors of the predicted labels, divided by the sum of the labels' squares.
        """
        errors = self.parameters.get("held_out_errors", {})
        return {float(ridge): error for ridge, error in errors.items()}


class _EmbeddingProblem:
    """Features, labels and positives, and the threads that multiply by them."""

    def __init__(
        self,
        X: CSR,
        Y: CSR,
        positives: CSR,
        settings: Embed,
        parallel: Map,
        progress: Progress,
    ) -> None:
        self.X = X
        self.Y = Y
        self.positives = positives
        self.settings = settings
        self.parallel = parallel
        self.progress = progress
        self.fit = LeastSquares(X, settings.ridges[0], parallel)

    def multiply_labels(self, panels: np.ndarray) -> np.ndarray:
        """Compute Y P."""
        return multiply_panels(self.Y, panels, self.parallel)

    def multiply_positives(self, panels: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Compute Y^T P."""
        return multiply_panels(self.positives, panels, self.parallel, out)

    def multiply_covariance(self, Q: np.ndarray) -> np.ndarray:
        """Compute Y^T Y Q."""
        return self.multiply_positives(self.multiply_labels(Q), Q)

    def multiply_predictions(self, Q: np.ndarray) -> np.ndarray:
        """Compute Y^T X Z with Z = argmin |Y Q - X Z|^2 (Algorithm 2, lines 6 and 7)."""
        fitted = self.fit.solve(self.multiply_labels(Q))
        return self.multiply_positives(multiply_panels(self.X, fitted, self.parallel), Q)

    def fit_labels(self, vectors: np.ndarray) -> np.ndarray:
        """Compute W = argmin |Y R - X W|^2 (Algorithm 3, line 4)."""
        fitted = self.fit.solve(self.multiply_labels(vectors))
        self.progress.advance()
        return fitted

    def decompose(
        self,
        multiply: Multiply,
        size: int,
        oversampling: int | None = None,
        passes: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute leading eigenvectors of a matrix given by its products, which are counted.

        ``oversampling`` and ``passes`` are by default those of the settings.
        """

        def multiply_and_count(Q: np.ndarray) -> np.ndarray:
            product = multiply(Q)
            self.progress.advance()
            return product

        settings = self.settings
        if oversampling is None:
            oversampling = settings.oversampling
        if passes is None:
            passes = settings.passes
        return compute_top_eigenvectors(
            multiply_and_count,
            size,
            settings.rank,
            oversampling=oversampling,
            passes=passes,
            seed=settings.seed,
            parallel=self.parallel,
        )


def _embed_by_predictions(problem: _EmbeddingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Compute Rembrandt's embedding (Algorithm 2)."""
    return problem.decompose(problem.multiply_predictions, problem.Y.n_columns)


def _embed_randomly(problem: _EmbeddingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Compute "a whitened random projection of the labels" (paper, sec. 2.4).

    That is Algorithm 2 with p = 0 and q = 0.
    """
    return problem.decompose(
        problem.multiply_predictions, problem.Y.n_columns, oversampling=0, passes=0
    )


def _embed_by_covariance(problem: _EmbeddingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Compute eigenvectors and eigenvalues of Y^T Y."""
    return problem.decompose(problem.multiply_covariance, problem.Y.n_columns)


def _compute_principal_features(problem: _EmbeddingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Compute eigenvectors and eigenvalues of X^T X."""
    X, columns = with_transpose(problem.X)

    def multiply(Q: np.ndarray) -> np.ndarray:
        product = multiply_panels(X, Q, problem.parallel)
        return multiply_panels(columns, product, problem.parallel, Q)

    return problem.decompose(multiply, X.n_columns)


LABEL_EMBEDDINGS = {
    "rembrandt": _embed_by_predictions,
    "compressed-sensing": _embed_randomly,
    "plst": _embed_by_covariance,
}
"""Embeddings of labels, into which instances are projected by least squares."""

EMBEDDINGS = (*LABEL_EMBEDDINGS, PCA, NO_EMBEDDING)
"""Values of the setting ``embedding``."""


class _FittedEmbedding(NamedTuple):
    vectors: np.ndarray  # R in panels
    eigenvalues: np.ndarray  # empty for a random embedding
    projection: np.ndarray  # W in panels
    rank: int


def compute_embedding(dataset: Dataset, settings: Embed, threads: int = 1) -> Embedding:
    """Embed labels, or features, and fit the projection into the embedding.

    Parameters
    ----------
    dataset : Dataset
    settings : Embed
    threads : int, default=1
        Number of threads, which changes no result.

    Returns
    -------
    Embedding

    Raises
    ------
    InputError
        If no training instance has a label, if instances have weights, or if there are too many
        features to go without an embedding.
    """
    dataset.require_equal_weights("rembrandt")
    if not len(dataset.train.Y.data):
        remedy = "give a dataset whose training instances have labels"
        raise InputError("no training instance has a label", path=dataset.path, remedy=remedy)
    if settings.embedding == NO_EMBEDDING:
        return _make_identity(dataset, settings)
    ridges = settings.ridges
    if settings.embedding not in LABEL_EMBEDDINGS:
        ridges = ridges[:1]
    errors: dict[float, float] = {}
    ridge = ridges[0]
    with parallel_map(threads) as parallel, Progress("embedding", 0, "passes") as progress:
        if len(ridges) > 1:
            errors = _measure_ridges(dataset, settings, ridges, parallel, progress)
            ridge = min(errors, key=errors.__getitem__)
        problem = _EmbeddingProblem(
            dataset.train.X,
            dataset.train.Y,
            dataset.positives,
            settings.model_copy(update={"ridge": ridge}),
            parallel,
            progress,
        )
        _, covariance = _embed_by_covariance(problem)
        fitted = _embed(problem)
    n = dataset.train.X.n_rows
    n_columns = fitted.rank if len(fitted.vectors) else 0
    parameters = settings.relevant | {"ridge": float(ridge)}
    if errors:
        parameters["held_out_errors"] = {f"{each:g}": error for each, error in errors.items()}
    return Embedding(
        fitted.projection,
        dataset.n_labels,
        fitted.rank,
        vectors=from_panels(fitted.vectors, n_columns, np.float32),
        eigenvalues=fitted.eigenvalues / n,
        label_covariance=covariance / n,
        iterations=problem.fit.iterations,
        parameters=parameters,
    )


def _make_identity(dataset: Dataset, settings: Embed) -> Embedding:
    """Make the projection that keeps all features but the constant one, which decoders add."""
    d = dataset.train.X.n_columns
    rank = d
    if dataset.parameters["bias"]:
        rank -= 1
    if rank > MAX_IDENTITY_FEATURES:
        message = (
            f"{rank:,} features are too many to decode without an embedding,"
            f" at most {MAX_IDENTITY_FEATURES:,} are possible"
        )
        remedy = (
            "method: one-vs-all with loss: logistic is the same for labels that do not exclude"
            " each other"
        )
        raise InputError(message, path=dataset.path, remedy=remedy)
    return Embedding(
        to_panels(np.eye(d, rank)), dataset.n_labels, rank, parameters=settings.relevant
    )


def split_held_out(n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide n instances into fitted ones and a share of held-out ones, both ascending."""
    order = np.random.default_rng(seed).permutation(n)
    size = max(1, round(share * n))
    return np.sort(order[size:]), np.sort(order[:size])


def _embed(problem: _EmbeddingProblem) -> _FittedEmbedding:
    """Compute the embedding of the settings, and its projection."""
    kind = problem.settings.embedding
    if kind == PCA:
        features, values = _compute_principal_features(problem)
        return _FittedEmbedding(zero_panels(problem.Y.n_columns, 0), values, features, len(values))
    vectors, values = LABEL_EMBEDDINGS[kind](problem)
    eigenvalues = values
    if kind == "compressed-sensing":
        # no subspace iteration: the values are far from the eigenvalues
        eigenvalues = values[:0]
    return _FittedEmbedding(vectors, eigenvalues, problem.fit_labels(vectors), len(values))


def _measure_ridges(
    dataset: Dataset,
    settings: Embed,
    ridges: tuple[float, ...],
    parallel: Map,
    progress: Progress,
) -> dict[float, float]:
    """Compute |Y - X W R^T|^2 / |Y|^2 of held-out instances by ridge; R has orthonormal columns."""
    kept, held_out = split_held_out(dataset.train.X.n_rows, HELD_OUT_SHARE, settings.seed)
    X = select_rows(dataset.train.X, kept)
    Y = select_rows(dataset.train.Y, kept)
    positives = transpose(Y)
    held_out_X = select_rows(dataset.train.X, held_out)
    held_out_Y = select_rows(dataset.train.Y, held_out)
    n_positives = len(held_out_Y.data)
    errors = {}
    for ridge in ridges:
        chosen = settings.model_copy(update={"ridge": ridge})
        problem = _EmbeddingProblem(X, Y, positives, chosen, parallel, progress)
        fitted = _embed(problem)
        predicted = from_panels(
            multiply_panels(held_out_X, fitted.projection, parallel), fitted.rank
        )
        embedded = from_panels(multiply_panels(held_out_Y, fitted.vectors, parallel), fitted.rank)
        squares = n_positives + np.square(predicted).sum() - 2 * (predicted * embedded).sum()
        errors[ridge] = float(squares / max(n_positives, 1))
    return errors
