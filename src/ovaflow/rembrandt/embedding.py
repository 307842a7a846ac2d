"""The embeddings: Rembrandt's, and those that the paper compares it with."""

from dataclasses import dataclass, field

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.rembrandt.blocks import in_blocks
from ovaflow.rembrandt.least_squares import LeastSquares
from ovaflow.rembrandt.panels import both_ways, from_panels, product, to_panels
from ovaflow.rembrandt.range_finder import OVERSAMPLING, PASSES, top_eigenvectors


@dataclass(frozen=True)
class Embedding:
    """An embedding of the labels, and how instances are brought into it.

    Attributes
    ----------
    vectors : ndarray of float32, shape (l, k)
        R, a row a label; without columns where features alone were embedded.
    eigenvalues : ndarray of float64, shape (k,)
        Of what was decomposed, divided by the number of instances; empty for a random embedding.
    label_covariance : ndarray of float64
        Leading eigenvalues of Y^T Y / n, of the paper's figure 1b.
    projection : ndarray of float32, shape (ceil(k / 64), d, 64)
        W in panels.
    rank : int
        k, after what the data have.
    iterations : int
        Of the last least-squares fit; 0 where it was direct.
    """

    vectors: np.ndarray
    eigenvalues: np.ndarray
    label_covariance: np.ndarray
    projection: np.ndarray
    rank: int
    iterations: int = 0


@dataclass(frozen=True)
class EmbeddingSettings:
    """How an embedding is made.

    Attributes
    ----------
    embedding : str
        A name of :data:`EMBEDDINGS`.
    rank : int
    oversampling, passes : int
        p and q.
    ridge : float
        Of the least-squares fits.
    seed : int
    """

    embedding: str = "rembrandt"
    rank: int = 100
    oversampling: int = OVERSAMPLING
    passes: int = PASSES
    ridge: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class _Problem:
    """Both matrices both ways, and the threads that work on them."""

    X: object
    settings: EmbeddingSettings
    each: object
    fit: LeastSquares
    labels: tuple = field(repr=False)  # Y and its transpose
    progress: Progress = None

    def times_labels(self, Q):
        """Y Q in panels."""
        return product(self.labels[0], to_panels(Q), self.each)

    def times_positives(self, panels, s):
        """Y^T P."""
        return from_panels(product(self.labels[1], panels, self.each), s)

    def decompose(self, multiply, size):
        """Leading eigenvectors of a matrix given by its products."""
        settings = self.settings

        def counted(Q):
            found = multiply(Q)
            self.progress.advance()
            return found

        return top_eigenvectors(counted, size, settings.rank, settings.oversampling, settings.passes, settings.seed)

    def fit_labels(self, vectors):
        """W = argmin |Y R - X W|^2 (Algorithm 3, line 4), in panels."""
        fitted = self.fit.solve(self.times_labels(vectors), self.each)
        self.progress.advance()
        return fitted

    def label_covariance(self):
        """Eigendecomposition of Y^T Y."""
        Y = self.labels[0]
        return self.decompose(lambda Q: self.times_positives(self.times_labels(Q), Q.shape[1]), Y.n_columns)


def _rembrandt(problem):
    def multiply(Q):
        fitted = problem.fit.solve(problem.times_labels(Q), problem.each)
        return problem.times_positives(product(problem.X, fitted, problem.each), Q.shape[1])

    return problem.decompose(multiply, problem.labels[0].n_columns)


def _compressed_sensing(problem):
    size, rank = problem.labels[0].n_columns, problem.settings.rank
    drawn = np.random.default_rng(problem.settings.seed).standard_normal((size, rank))
    return drawn / np.sqrt(rank), np.empty(0)


def _principal_features(problem):
    X, columns = both_ways(problem.X)

    def multiply(Q):
        return from_panels(product(columns, product(X, to_panels(Q), problem.each), problem.each), Q.shape[1])

    return problem.decompose(multiply, X.n_columns)


OF_LABELS = {"rembrandt": _rembrandt, "compressed-sensing": _compressed_sensing, "plst": _Problem.label_covariance}
"""Embeddings of labels, which instances are brought into by least squares."""

PCA = "pca"
"""The embedding of features: instances are projected onto their principal components."""

EMBEDDINGS = (*OF_LABELS, PCA)


def compute_embedding(dataset, settings, threads=1):
    """Embed the labels of a dataset, or its features, and fit the projection into the embedding.

    Parameters
    ----------
    dataset : Dataset
    settings : EmbeddingSettings
    threads : int
        They change no result.

    Returns
    -------
    Embedding

    Raises
    ------
    InputError
        If no instance has a label.
    """
    X, Y = dataset.train.X, dataset.train.Y
    if not len(Y.data):
        raise InputError("no training instance has a label", path=dataset.path)
    decomposed = settings.embedding in ("rembrandt", PCA)
    steps = (1 + decomposed) * (settings.passes + 1) + (settings.embedding != PCA)
    with in_blocks(threads) as each, Progress("embedding", steps, "passes") as progress:
        problem = _Problem(X, settings, each, LeastSquares(X, settings.ridge), (Y, dataset.positives), progress)
        covariance = problem.label_covariance()
        if settings.embedding == PCA:
            found, values = _principal_features(problem)
            vectors, projection = np.empty((Y.n_columns, 0)), to_panels(found)
        else:
            plst = settings.embedding == "plst"
            vectors, values = covariance if plst else OF_LABELS[settings.embedding](problem)
            projection = problem.fit_labels(vectors)
            found = vectors
    n = X.n_rows
    return Embedding(
        vectors.astype(np.float32), values / n, covariance[1] / n, projection, found.shape[1], problem.fit.iterations
    )
