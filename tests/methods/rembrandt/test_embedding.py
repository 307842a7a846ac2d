"""Embeddings against exact decompositions."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.methods.rembrandt.embedding import (
    Embedding,
    compute_embedding,
    compute_top_eigenvectors,
)
from ovaflow.methods.rembrandt.panels import from_panels, to_panels
from ovaflow.methods.rembrandt.settings import Embed

EXACT = {"passes": 6, "ridge": 0.0}


def to_dense(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of the training instances as dense matrices."""
    return dataset.train.X.to_scipy().toarray(), dataset.train.Y.to_scipy().toarray()


def compute_angle(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Compute the largest angle between two subspaces, in degrees."""
    return np.degrees(scipy.linalg.subspace_angles(ours, theirs)).max()


def test_rembrandt_is_the_svd_of_the_least_squares_predictions(multilabel) -> None:
    X, Y = to_dense(multilabel)
    predictions = X @ np.linalg.lstsq(X, Y, rcond=None)[0]
    _, values, right = np.linalg.svd(predictions, full_matrices=False)
    ours = compute_embedding(multilabel, Embed(rank=6, **EXACT))
    assert compute_angle(ours.vectors, right[:6].T) < 0.1
    as_the_paper = compute_embedding(multilabel, Embed(rank=6, oversampling=10, ridge=0.0))
    assert compute_angle(as_the_paper.vectors, right[:6].T) < 10
    assert_allclose(ours.eigenvalues, values[:6] ** 2 / len(X), rtol=1e-3)


def test_ridge_takes_the_place_of_the_projection(multilabel) -> None:
    X, Y = to_dense(multilabel)
    matrix = Y.T @ X @ np.linalg.solve(X.T @ X + 2 * np.eye(X.shape[1]), X.T @ Y)
    theirs = np.linalg.eigh(matrix)[1][:, -5:]
    ours = compute_embedding(multilabel, Embed(rank=5, passes=6, ridge=2.0))
    assert compute_angle(ours.vectors, theirs) < 0.2


def test_plst_is_the_svd_of_the_labels(multilabel) -> None:
    _, Y = to_dense(multilabel)
    ours = compute_embedding(multilabel, Embed(embedding="plst", rank=5, **EXACT))
    assert compute_angle(ours.vectors, np.linalg.svd(Y)[2][:5].T) < 0.1
    assert_array_equal(ours.eigenvalues, ours.label_covariance)


def test_pca_projects_onto_the_principal_features(multilabel) -> None:
    X, _ = to_dense(multilabel)
    ours = compute_embedding(multilabel, Embed(embedding="pca", rank=5, passes=60))
    assert compute_angle(from_panels(ours.projection, 5), np.linalg.svd(X)[2][:5].T) < 0.1
    assert not ours.vectors.size


def test_compressed_sensing_is_a_random_projection_of_the_predictions(multilabel) -> None:
    X, Y = to_dense(multilabel)
    ours = compute_embedding(multilabel, Embed(embedding="compressed-sensing", rank=8, ridge=0.0))
    Q = np.random.default_rng(0).standard_normal((30, 8))
    theirs = Y.T @ X @ np.linalg.lstsq(X, Y @ Q, rcond=None)[0]
    assert compute_angle(ours.vectors, theirs) < 0.1
    assert_allclose(ours.vectors.T @ ours.vectors, np.eye(8), atol=1e-5)
    theirs = np.linalg.lstsq(X, Y @ ours.vectors, rcond=None)[0]
    assert_allclose(from_panels(ours.projection, 8), theirs, atol=1e-3)
    assert not len(ours.eigenvalues)


def test_without_an_embedding_features_stay_as_they_are(multilabel, monkeypatch) -> None:
    X, _ = to_dense(multilabel)
    ours = compute_embedding(multilabel, Embed(embedding="none"))
    assert_array_equal(X @ from_panels(ours.projection, ours.rank), X[:, :-1])
    monkeypatch.setattr("ovaflow.methods.rembrandt.embedding.MAX_IDENTITY_FEATURES", 50)
    with pytest.raises(InputError, match="59 features are too many"):
        compute_embedding(multilabel, Embed(embedding="none"))


@pytest.mark.parametrize("kind", ["rembrandt", "plst", "compressed-sensing"])
def test_the_ridge_that_predicts_held_out_labels_best(multilabel, tmp_path, kind) -> None:
    ridges = (0.01, 10.0, 1e4)
    settings = Embed(embedding=kind, rank=5, ridge=ridges)
    ours = compute_embedding(multilabel, settings)
    X, Y = to_dense(multilabel)
    held_out, kept = np.split(np.random.default_rng(0).permutation(400), [40])
    part = replace(multilabel, train=multilabel.train.take(kept))
    for ridge in ridges:
        fitted = compute_embedding(part, settings.model_copy(update={"ridge": ridge}))
        predicted = X[held_out] @ from_panels(fitted.projection, 5) @ fitted.vectors.T
        theirs = np.square(Y[held_out] - predicted).sum() / np.square(Y[held_out]).sum()
        # instances are in another order here, and so rounded otherwise
        assert ours.held_out_errors[ridge] == pytest.approx(theirs, rel=0.02)
    assert ours.ridge == min(ours.held_out_errors, key=ours.held_out_errors.get)
    alone = compute_embedding(multilabel, settings.model_copy(update={"ridge": ours.ridge}))
    assert_array_equal(ours.projection, alone.projection)
    ours.write(tmp_path / "embedding.h5", dataset=multilabel)
    written = Embedding.open(tmp_path / "embedding.h5").parameters
    assert written["ridge"] == ours.ridge
    assert set(written["held_out_errors"]) == {"0.01", "10", "10000"}


@pytest.mark.parametrize("embedding", ["rembrandt", "pca", "plst", "compressed-sensing"])
def test_threads_change_no_bit(multilabel, embedding, monkeypatch) -> None:
    monkeypatch.setattr("ovaflow.methods.rembrandt.least_squares.MAX_DIRECT_FEATURES", 0)
    settings = Embed(embedding=embedding, rank=9)
    first = compute_embedding(multilabel, settings, threads=1)
    second = compute_embedding(multilabel, settings, threads=3)
    assert_array_equal(first.projection, second.projection)
    assert_array_equal(first.vectors, second.vectors)


def make_matrix(size: int, decay: float) -> tuple[np.ndarray, np.ndarray]:
    """Make a symmetric matrix with eigenvalues 1, decay, decay^2, ..., and its eigenvectors."""
    basis = scipy.linalg.qr(np.random.default_rng(3).standard_normal((size, size)))[0]
    return basis @ np.diag(decay ** np.arange(size)) @ basis.T, basis


def compute_eigenvectors(
    A: np.ndarray, rank: int, oversampling: int, passes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the leading eigenvectors and eigenvalues of a dense matrix."""

    def multiply(Q: np.ndarray) -> np.ndarray:
        return to_panels(A @ from_panels(Q, 64 * len(Q)))

    panels, values = compute_top_eigenvectors(
        multiply, len(A), rank, oversampling=oversampling, passes=passes, seed=0
    )
    return from_panels(panels, len(values)), values


def test_more_passes_find_the_leading_space_better() -> None:
    A, basis = make_matrix(80, 0.95)
    once, _ = compute_eigenvectors(A, 10, 5, passes=1)
    often, _ = compute_eigenvectors(A, 10, 5, passes=4)
    assert compute_angle(often, basis[:, :10]) < compute_angle(once, basis[:, :10]) / 3


def test_more_columns_and_rows_than_a_panel_and_a_block(monkeypatch) -> None:
    monkeypatch.setattr("ovaflow.methods.rembrandt.embedding._BLOCK_ROWS", 37)
    A, basis = make_matrix(400, 0.97)
    vectors, values = compute_eigenvectors(A, 90, 30, 4)
    assert_allclose(values, 0.97 ** np.arange(90), rtol=1e-3)
    assert compute_angle(vectors, basis[:, :90]) < 1
    assert_allclose(vectors.T @ vectors, np.eye(90), atol=1e-5)


def test_no_more_vectors_than_there_are(multiclass) -> None:
    low = np.random.default_rng(0).standard_normal((40, 3))
    vectors, values = compute_eigenvectors(low @ low.T, 10, 20, 1)
    assert vectors.shape == (40, 3)
    assert_allclose(np.sort(values), np.sort(np.linalg.eigvalsh(low.T @ low)), rtol=1e-6)
    assert compute_embedding(multiclass, Embed(rank=100)).rank <= 12
