"""Choices on held-out instances against the same, made by hand."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.methods.rembrandt import tuning
from ovaflow.methods.rembrandt.decoder import Decoding
from ovaflow.methods.rembrandt.embedding import Embedding, compute_embedding
from ovaflow.methods.rembrandt.projection import project_instances
from ovaflow.methods.rembrandt.settings import Embed, ProjectInstances, TuneDecoder
from ovaflow.methods.rembrandt.tuning import TunedDecoder, default_C, tune_decoder
from ovaflow.sparse.csr import from_scipy


def make_embedding(dataset: Dataset) -> Embedding:
    """Embed the labels of a dataset in eight dimensions."""
    return compute_embedding(dataset, Embed(rank=8))


def tune_from(dataset: Dataset, settings: TuneDecoder) -> TunedDecoder:
    """Embed labels, project instances, and tune a decoder."""
    embedding = make_embedding(dataset)
    projected = project_instances(dataset, embedding, ProjectInstances())
    return tune_decoder(projected, dataset, embedding, settings)


def project_by_hand(
    dataset: Dataset,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Project instances by a ridge regression that has not seen the held-out ones.

    Returns features, labels, and the rows of held-out and of other instances.
    """
    embedding = make_embedding(dataset)
    X = dataset.train.X.to_scipy().toarray()
    Y = dataset.train.Y.to_scipy().toarray()
    held_out, kept = np.split(np.random.default_rng(0).permutation(400), [80])
    targets = Y[kept] @ embedding.vectors
    Z = X @ np.linalg.solve(X[kept].T @ X[kept] + np.eye(X.shape[1]), X[kept].T @ targets)
    Z /= np.sqrt(8 * np.square(Z[kept]).mean(axis=0))
    return np.hstack([Z, np.ones((400, 1))]), Y, held_out, kept


def test_the_logistic_decoders_loss(multilabel) -> None:
    X, Y, held_out, kept = project_by_hand(multilabel)
    settings = TuneDecoder(decoder_C=[0.01, 1.0, 1000.0], decoder_epsilon=1e-4, held_out=0.2)
    ours = tune_from(multilabel, settings)
    for C, loss in ours.losses.items():
        theirs = 0.0
        for label in range(30):
            solver = LogisticRegression(C=C, fit_intercept=False, tol=1e-8, max_iter=1000)
            found = solver.fit(X[kept], Y[kept, label]).predict_proba(X[held_out])[:, 1]
            theirs += 80 * log_loss(Y[held_out, label], found, labels=[0, 1])
        assert loss == pytest.approx(theirs / Y[held_out].sum(), rel=1e-3)
    assert ours.decoding == Decoding(min(ours.losses, key=ours.losses.get), 1e-4, None, 0)


def test_losses_of_a_sample_of_labels_are_about_the_same(multilabel, monkeypatch) -> None:
    settings = TuneDecoder(decoder_C=[0.01, 1.0], held_out=0.2)
    theirs = tune_from(multilabel, settings).losses
    monkeypatch.setattr(tuning, "MAX_TUNING_LABELS", 20)
    ours = tune_from(multilabel, settings).losses
    assert list(ours.values()) == pytest.approx(list(theirs.values()), rel=0.1)


def test_the_softmax_decoders_loss_and_iterations(multiclass) -> None:
    ours = tune_from(multiclass, TuneDecoder(decoder_C=[1e-3, 1.0], held_out=0.2))
    X, Y, held_out, kept = project_by_hand(multiclass)
    y = Y.argmax(axis=1)
    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=1000).fit(
        X[kept], y[kept]
    )
    assert ours.decoding.C == 1.0
    assert ours.decoding.iterations > 0
    assert ours.losses[1.0] == pytest.approx(
        log_loss(y[held_out], theirs.predict_proba(X[held_out])), rel=0.03
    )


def test_random_labels_are_predicted_worse_than_by_chance(multilabel) -> None:
    """Held-out instances that the projection had seen would be decoded better than by chance."""
    generator = np.random.default_rng(3)
    X = scipy.sparse.random_array((400, 350), density=0.3, rng=generator)
    train = Split(from_scipy(X), from_scipy(generator.random((400, 30)) < 0.1))
    noise = replace(multilabel, train=train)
    losses = tune_from(noise, TuneDecoder(decoder_C=[1.0, 100.0], held_out=0.2)).losses
    share = train.Y.to_scipy().mean()
    by_chance = -np.log(share) - (1 - share) / share * np.log(1 - share)
    assert by_chance < losses[1.0] < losses[100.0]


def test_settings_are_kept_where_there_is_no_choice(multilabel, multiclass) -> None:
    logistic = tune_from(multilabel, TuneDecoder(decoder_C=[2.0]))
    assert logistic.decoding == Decoding(2.0, 0.1, None, 0)
    softmax = tune_from(multiclass, TuneDecoder(held_out=0.0))
    assert softmax.decoding == Decoding(500.0, 0.1, None, 0)
    assert default_C("logistic", random=True) == 30.0
