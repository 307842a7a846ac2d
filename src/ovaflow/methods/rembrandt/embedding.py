"""The embeddings: Rembrandt's, and those that the paper compares it with (Algorithms 1 and 2)."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.methods.rembrandt.least_squares import LeastSquares
from ovaflow.methods.rembrandt.panels import (
    from_panels,
    make_row_blocks,
    multiply_panels,
    parallel_map,
    to_panels,
    with_transpose,
    zero_panels,
)
from ovaflow.sparse.csr import select_rows, transpose
from ovaflow.sparse.panel import PANEL_WIDTH
from ovaflow.storage.artifact import Artifact

PCA = "pca"
"""The embedding of features: instances are projected onto their principal components."""

NO_EMBEDDING = "none"
"""No embedding: the decoder takes the features as they are."""

MAX_IDENTITY_FEATURES = 4096
"""Features of which a decoder can be trained without an embedding: the identity is stored in full.
"""

HELD_OUT_SHARE = 0.1
"""Share of the instances on which the ridge is chosen."""

_BLOCK_ROWS = 8192


def compute_top_eigenvectors(multiply, size, rank, oversampling, passes, seed, each=map):
    """Leading eigenvectors of A >= 0, in panels, and eigenvalues; ``multiply(Q)`` is A Q, which it
    may put into Q.
    """
    Q = _draw_panels(size, min(rank + oversampling, size), seed)
    for _ in range(passes):
        Q, _ = _orthonormal(multiply(Q), rank + oversampling, each)
    return _orthonormal(multiply(Q), rank, each)


def _draw_panels(n, s, seed):
    """Normal random numbers, as many rows at a time as double precision has room for."""
    generator = np.random.default_rng(seed)
    panels = zero_panels(n, s)
    for rows in make_row_blocks(n, _BLOCK_ROWS):
        panels[:, rows] = to_panels(generator.standard_normal((rows.stop - rows.start, s)))
    return panels


def _orthonormal(panels, rank, each):
    """Leading left singular vectors of B, in its place, and singular values."""
    # from B^T B, which squares the condition: in double precision of entries in single precision
    # that loses nothing
    blocks = make_row_blocks(panels.shape[1], _BLOCK_ROWS)
    width = PANEL_WIDTH * len(panels)

    def square(rows):
        part = from_panels(panels[:, rows], width)
        return part.T @ part

    squares, vectors = scipy.linalg.eigh(sum(each(square, blocks)))
    values = np.sqrt(np.maximum(squares[::-1], 0))
    kept = min(rank, int((values > np.finfo(np.float32).eps * values.max(initial=0)).sum()))
    values, rotation = values[:kept], vectors[:, ::-1][:, :kept] / values[:kept]
    n_panels = -(-kept // PANEL_WIDTH)

    def rotate(rows) -> None:
        panels[:n_panels, rows] = to_panels(from_panels(panels[:, rows], width) @ rotation)

    for _ in each(rotate, blocks):
        pass
    panels = panels[:n_panels]
    for panel in panels:
        # eigenvectors have no sign: the largest entry is made positive
        panel *= np.where(-panel.min(axis=0) > panel.max(axis=0), np.float32(-1), np.float32(1))
    return panels, values


@dataclass(frozen=True)
class Embedding(Artifact, kind="embedding", made_from=("dataset",)):
    """An embedding of the labels, and how instances are brought into it."""

    # float32 (l, k), R: one row per label; empty where features alone were embedded
    vectors: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.float32), kw_only=True)
    # float64 (k,); of what was decomposed, divided by the number of instances; empty for a random
    # embedding
    eigenvalues: np.ndarray = field(default_factory=lambda: np.empty(0), kw_only=True)
    # float64; leading eigenvalues of Y^T Y / n, of the paper's figure 1b
    label_covariance: np.ndarray = field(default_factory=lambda: np.empty(0), kw_only=True)
    projection: np.ndarray  # float32 (ceil(k / 64), d, 64), W in panels
    labels: int
    rank: int  # k, after what the data have
    iterations: int = field(
        default=0, kw_only=True
    )  # of the last least-squares fit; 0 where it was direct
    core_seconds: float = field(default=0.0, kw_only=True)  # processor time
    peak_rss_bytes: int = field(default=0, kw_only=True)

    @property
    def ridge(self):
        """The regularisation of the least-squares fits."""
        return self.parameters.get("ridge", 0.0)

    @property
    def held_out_errors(self):
        """Squared error of the predicted labels on held-out instances, as a share of the labels'
        squares, by ridge.

        Empty where there was no choice.
        """
        return {
            float(ridge): error
            for ridge, error in self.parameters.get("held_out_errors", {}).items()
        }


class _Problem:
    """Features, labels and positives, and the threads that multiply by them."""

    def __init__(self, X, Y, positives, settings, each, progress) -> None:
        self.X = X
        self.Y = Y
        self.positives = positives
        self.settings = settings
        self.each = each
        self.progress = progress
        self.fit = LeastSquares(X, settings.ridges[0], each)

    def times_labels(self, panels):
        """Y P."""
        return multiply_panels(self.Y, panels, self.each)

    def times_positives(self, panels, out):
        """Y^T P."""
        return multiply_panels(self.positives, panels, self.each, out)

    def decompose(self, multiply, size, **other):
        """Leading eigenvectors of a matrix given by its products, which whoever waits can count."""

        def counted(Q):
            product = multiply(Q)
            self.progress.advance()
            return product

        settings = self.settings
        how = {"oversampling": settings.oversampling, "passes": settings.passes} | other
        return compute_top_eigenvectors(
            counted, size, settings.rank, seed=settings.seed, each=self.each, **how
        )

    def times_predictions(self, Q):
        """Y^T X Z with Z = argmin |Y Q - X Z|^2 (Algorithm 2, lines 6 and 7)."""
        fitted = self.fit.solve(self.times_labels(Q))
        return self.times_positives(multiply_panels(self.X, fitted, self.each), Q)

    def fit_labels(self, vectors):
        """W = argmin |Y R - X W|^2 (Algorithm 3, line 4)."""
        fitted = self.fit.solve(self.times_labels(vectors))
        self.progress.advance()
        return fitted

    def label_covariance(self):
        """Eigendecomposition of Y^T Y."""
        return self.decompose(
            lambda Q: self.times_positives(self.times_labels(Q), Q), self.Y.n_columns
        )


def _rembrandt(problem):
    return problem.decompose(problem.times_predictions, problem.Y.n_columns)


def _compressed_sensing(problem):
    """Algorithm 2 with p = 0 and q = 0: "a whitened random projection of the labels" (paper, sec.
    2.4).
    """
    return problem.decompose(
        problem.times_predictions, problem.Y.n_columns, oversampling=0, passes=0
    )


def _principal_features(problem):
    X, columns = with_transpose(problem.X)

    def multiply(Q):
        return multiply_panels(columns, multiply_panels(X, Q, problem.each), problem.each, Q)

    return problem.decompose(multiply, X.n_columns)


LABEL_EMBEDDINGS = {
    "rembrandt": _rembrandt,
    "compressed-sensing": _compressed_sensing,
    "plst": _Problem.label_covariance,
}
EMBEDDINGS = (*LABEL_EMBEDDINGS, PCA, NO_EMBEDDING)
"""Embeddings of labels, which instances are brought into by least squares."""


def compute_embedding(dataset, settings, threads=1):
    """Embed labels, or features, and fit the projection into the embedding."""
    dataset.require_equal_weights("rembrandt")
    if not len(dataset.train.Y.data):
        remedy = "give a dataset whose training instances have labels"
        raise InputError("no training instance has a label", path=dataset.path, remedy=remedy)
    if settings.embedding == NO_EMBEDDING:
        return _no_embedding(dataset, settings)
    ridges = settings.ridges if settings.embedding in LABEL_EMBEDDINGS else settings.ridges[:1]
    errors = {}
    with parallel_map(threads) as each, Progress("embedding", 0, "passes") as progress:
        if len(ridges) > 1:
            errors = _errors_by_ridge(dataset, settings, ridges, each, progress)
        best = min(errors, key=errors.get) if errors else ridges[0]
        whole = dataset.train.X, dataset.train.Y, dataset.positives
        problem = _Problem(*whole, settings.model_copy(update={"ridge": best}), each, progress)
        covariance = problem.label_covariance()[1]
        panels, values, projection, rank = _embed(problem)
    n = dataset.train.X.n_rows
    vectors = from_panels(panels, rank if len(panels) else 0, np.float32)
    chosen = (
        {"held_out_errors": {f"{ridge:g}": error for ridge, error in errors.items()}}
        if errors
        else {}
    )
    return Embedding(
        projection,
        dataset.n_labels,
        rank,
        vectors=vectors,
        eigenvalues=values / n,
        label_covariance=covariance / n,
        iterations=problem.fit.iterations,
        parameters=settings.relevant | {"ridge": float(best)} | chosen,
    )


def _no_embedding(dataset, settings):
    """The features, but for the constant one, which decoders have anyway."""
    d = dataset.train.X.n_columns
    rank = d - bool(dataset.parameters["bias"])
    if rank > MAX_IDENTITY_FEATURES:
        message = f"{rank:,} features are too many to decode without an embedding, {MAX_IDENTITY_FEATURES:,} are not"
        same = "is the same for labels that do not exclude each other"
        remedy = f"method: one-vs-all with loss: logistic {same}"
        raise InputError(message, path=dataset.path, remedy=remedy)
    return Embedding(
        to_panels(np.eye(d, rank)), dataset.n_labels, rank, parameters=settings.relevant
    )


def split_held_out(n, share, seed):
    """Instances that are fitted and a share that is held out, both ascending."""
    order = np.random.default_rng(seed).permutation(n)
    size = max(1, round(share * n))
    return np.sort(order[size:]), np.sort(order[:size])


def _embed(problem):
    """Embedding in panels, eigenvalues, projection and rank."""
    kind = problem.settings.embedding
    if kind == PCA:
        features, values = _principal_features(problem)
        return zero_panels(problem.Y.n_columns, 0), values, features, len(values)
    vectors, values = LABEL_EMBEDDINGS[kind](problem)
    # the values of a range that nothing brought near the leading eigenvectors are not eigenvalues
    eigenvalues = values[:0] if kind == "compressed-sensing" else values
    return vectors, eigenvalues, problem.fit_labels(vectors), len(values)


def _errors_by_ridge(dataset, settings, ridges, each, progress):
    """|Y - X W R^T|^2 / |Y|^2 of held-out instances, where R has orthonormal columns."""
    X = dataset.train.X
    Y = dataset.train.Y
    kept, held_out = split_held_out(X.n_rows, HELD_OUT_SHARE, settings.seed)
    fitted = select_rows(X, kept), select_rows(Y, kept)
    held_out_X = select_rows(X, held_out)
    held_out_Y = select_rows(Y, held_out)
    positives = transpose(fitted[1])
    errors = {}
    for ridge in ridges:
        problem = _Problem(
            *fitted, positives, settings.model_copy(update={"ridge": ridge}), each, progress
        )
        vectors, _, projection, rank = _embed(problem)
        predicted = from_panels(multiply_panels(held_out_X, projection, each), rank)
        embedded = from_panels(multiply_panels(held_out_Y, vectors, each), rank)
        squares = (
            len(held_out_Y.data) + np.square(predicted).sum() - 2 * (predicted * embedded).sum()
        )
        errors[ridge] = float(squares / max(len(held_out_Y.data), 1))
    return errors
