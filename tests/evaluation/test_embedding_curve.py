"""Nearest labels of an embedding against those of the least-squares predictions."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.methods.rembrandt.description import describe_embedding
from ovaflow.methods.rembrandt.embedding import compute_embedding
from ovaflow.methods.rembrandt.settings import Embed
from ovaflow.sparse.csr import from_scipy


@pytest.fixture
def dataset() -> Dataset:
    generator = np.random.default_rng(0)
    X = scipy.sparse.random_array((400, 40), density=0.3, rng=generator)
    Y = X @ generator.standard_normal((40, 12)) > 0.7
    split = Split(from_scipy(X), from_scipy(Y.astype(float)))
    return Dataset("memory", split, split, "", {"bias": 0.0})


def test_labels_are_near_that_are_predicted_together(dataset) -> None:
    X = dataset.train.X.to_scipy().toarray()
    Y = dataset.train.Y.to_scipy().toarray()
    predictions = X @ np.linalg.lstsq(X, Y, rcond=None)[0]
    units = predictions / np.linalg.norm(predictions, axis=0)
    cosines = units.T @ units
    embedding = compute_embedding(dataset, Embed(rank=12, ridge=0.0))
    ours = describe_embedding(embedding, dataset)["neighbours"]
    assert len(ours) == 12
    for label in ours:
        theirs = np.argsort(-cosines[label["label"]])[1:6]
        np.testing.assert_array_equal([other for other, _ in label["nearest"]], theirs)
        np.testing.assert_allclose(
            [cosine for _, cosine in label["nearest"]], cosines[label["label"], theirs], atol=1e-4
        )


def test_without_an_embedding_there_is_nothing_to_see(dataset) -> None:
    described = describe_embedding(compute_embedding(dataset, Embed(embedding="none")), dataset)
    assert described == {"eigenvalues": [], "label_covariance": [], "points": [], "neighbours": []}


def test_memory_is_a_few_times_that_of_the_embedding() -> None:
    X, Y = (scipy.sparse.random_array((3000, n), density=3 / n, rng=n) for n in (100, 30_000))
    split = Split(from_scipy(X), from_scipy(Y))
    dataset = Dataset("memory", split, split, "", {"bias": 0.0})
    embedding = compute_embedding(dataset, Embed(rank=64))
    tracemalloc.start()
    describe_embedding(embedding, dataset)
    assert tracemalloc.get_traced_memory()[1] < 4 * embedding.vectors.nbytes
    tracemalloc.stop()
