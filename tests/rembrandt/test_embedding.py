"""Embeddings against exact decompositions."""

import numpy as np
import pytest
import scipy.linalg

from ovaflow.console.errors import InputError
from ovaflow.rembrandt.embedding import EMBEDDINGS, EmbeddingSettings, compute_embedding
from ovaflow.rembrandt.embedding_file import read_embedding, write_embedding
from ovaflow.rembrandt.panels import from_panels

EXACT = {"passes": 6, "ridge": 0.0}


def dense(dataset):
    return dataset.train.X.to_scipy().toarray(), dataset.train.Y.to_scipy().toarray()


def degrees(ours, theirs):
    return np.degrees(scipy.linalg.subspace_angles(ours, theirs)).max()


def test_rembrandt_is_the_svd_of_the_least_squares_predictions(multilabel):
    X, Y = dense(multilabel)
    predictions = X @ np.linalg.lstsq(X, Y, rcond=None)[0]
    _, values, right = np.linalg.svd(predictions, full_matrices=False)
    ours = compute_embedding(multilabel, EmbeddingSettings(rank=6, **EXACT))
    assert degrees(ours.vectors, right[:6].T) < 0.1
    np.testing.assert_allclose(ours.eigenvalues, values[:6] ** 2 / len(X), rtol=1e-3)


def test_the_papers_two_passes_come_close(multilabel):
    X, Y = dense(multilabel)
    right = np.linalg.svd(X @ np.linalg.lstsq(X, Y, rcond=None)[0], full_matrices=False)[2]
    ours = compute_embedding(multilabel, EmbeddingSettings(rank=6, oversampling=10, ridge=0.0))
    assert degrees(ours.vectors, right[:6].T) < 10


def test_ridge_takes_the_place_of_the_projection(multilabel):
    X, Y = dense(multilabel)
    matrix = Y.T @ X @ np.linalg.solve(X.T @ X + 2 * np.eye(X.shape[1]), X.T @ Y)
    theirs = np.linalg.eigh(matrix)[1][:, -5:]
    ours = compute_embedding(multilabel, EmbeddingSettings(rank=5, passes=6, ridge=2.0))
    assert degrees(ours.vectors, theirs) < 0.2


def test_plst_is_the_svd_of_the_labels(multilabel):
    _, Y = dense(multilabel)
    ours = compute_embedding(multilabel, EmbeddingSettings("plst", rank=5, **EXACT))
    assert degrees(ours.vectors, np.linalg.svd(Y)[2][:5].T) < 0.1
    np.testing.assert_array_equal(ours.eigenvalues, ours.label_covariance)


def test_pca_projects_onto_the_principal_features(multilabel):
    X, _ = dense(multilabel)
    ours = compute_embedding(multilabel, EmbeddingSettings("pca", rank=5, passes=60))
    assert degrees(from_panels(ours.projection, 5), np.linalg.svd(X)[2][:5].T) < 0.1
    assert ours.vectors.shape == (30, 0)


def test_compressed_sensing_is_random(multilabel):
    X, Y = dense(multilabel)
    ours = compute_embedding(multilabel, EmbeddingSettings("compressed-sensing", rank=8, ridge=0.0))
    assert abs(ours.vectors.std() - 1 / np.sqrt(8)) < 0.05
    theirs = np.linalg.lstsq(X, Y @ ours.vectors, rcond=None)[0]
    np.testing.assert_allclose(from_panels(ours.projection, 8), theirs, atol=1e-3)


@pytest.mark.parametrize("embedding", ["rembrandt", "pca", "plst", "compressed-sensing"])
def test_threads_change_no_bit(multilabel, embedding, monkeypatch):
    monkeypatch.setattr("ovaflow.rembrandt.least_squares.DIRECT", 0)
    settings = EmbeddingSettings(embedding, rank=9)
    first, second = (compute_embedding(multilabel, settings, threads) for threads in (1, 3))
    np.testing.assert_array_equal(first.projection, second.projection)
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_no_more_dimensions_than_labels(multiclass):
    assert compute_embedding(multiclass, EmbeddingSettings(rank=100)).rank <= 12


@pytest.mark.parametrize("kind", EMBEDDINGS)
def test_the_file_and_its_dataset(multilabel, multiclass, tmp_path, kind):
    path, settings = tmp_path / "embedding.h5", EmbeddingSettings(kind, rank=5)
    embedding = compute_embedding(multilabel, settings)
    write_embedding(path, embedding, settings, multilabel.checksum, 1.0, 1)
    read = read_embedding(path, multilabel.checksum).embedding
    np.testing.assert_array_equal(read.projection, embedding.projection)
    np.testing.assert_array_equal(read.vectors, embedding.vectors)
    np.testing.assert_array_equal(read.eigenvalues, embedding.eigenvalues)
    with pytest.raises(InputError, match="another dataset"):
        read_embedding(path, multiclass.checksum)
