"""Decoders against scikit-learn, by commands."""

from pathlib import Path

import naive
import numpy as np
import pytest
from command_training import CommandTraining
from commands import ovaflow
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.methods.rembrandt.decoder import Decoding, train_decoder
from ovaflow.methods.rembrandt.model_file import EmbeddingModel, predict_embedded
from ovaflow.methods.rembrandt.projection import Projected
from ovaflow.model.one_vs_all import OneVsAll


def train_model(
    dataset: Dataset, folder: Path, shards: int = 1, embed: str = "", **options: str
) -> EmbeddingModel:
    """Train by commands, with options of each, and open the model."""
    training = CommandTraining(
        "rembrandt", dataset.path, folder, shards, embed=f"--rank=8 {embed}", **options
    )
    return EmbeddingModel.open(training.train())


@pytest.fixture(scope="module")
def decoded(multilabel, tmp_path_factory) -> EmbeddingModel:
    return train_model(multilabel, tmp_path_factory.mktemp("decoded"))


def test_one_vs_rest_as_scikit_learn_does(multilabel, tmp_path) -> None:
    model = train_model(multilabel, tmp_path, tune="--C=1 --epsilon=0.0001")
    features = model.projection.features(multilabel.train.X)
    Y = multilabel.train.Y.to_scipy().toarray()
    for label in (0, 7, 29):
        solver = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
        theirs = solver.fit(features, Y[:, label]).coef_[0]
        assert_allclose(model.decoder[label], theirs, atol=2e-2)


def test_softmax_where_every_instance_has_one_label(multiclass, tmp_path) -> None:
    model = train_model(multiclass, tmp_path, tune="--held-out=0 --C=1")
    assert model.parameters["train"]["decoder"] == "softmax"
    features = model.projection.features(multiclass.train.X)
    solver = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs = solver.fit(features, multiclass.train.Y.indices).predict_proba(features)
    assert_allclose(softmax(features @ model.decoder.T, axis=1), theirs, atol=0.01)


def test_shards_and_threads_of_softmax_change_no_byte(multiclass, tmp_path) -> None:
    threads = dict.fromkeys(("embed", "project", "tune", "train"), "--threads=2")
    first = train_model(multiclass, tmp_path / "1")
    second = train_model(multiclass, tmp_path / "3", shards=3, **threads)
    assert first.path.read_bytes() == second.path.read_bytes()


@pytest.mark.parametrize("kind", ["rembrandt", "compressed-sensing", "pca", "plst", "none"])
def test_other_embeddings_go_the_same_way(multilabel, tmp_path, kind) -> None:
    random = "--features=laplacian --random-features=40"
    model = train_model(
        multilabel, tmp_path, embed=f"--embedding={kind}", project=random, tune="--C=1"
    )
    assert model.decoder.shape == (30, 41)
    assert model.projection.features(multilabel.test.X).shape == (100, 41)
    described = f"--dataset={multilabel.path}", f"--output={tmp_path}/embedding.json"
    ovaflow("describe-embedding", tmp_path / "embedding.h5", described)


@pytest.mark.parametrize("block", [7, 256])
def test_the_best_labels(multilabel, decoded, monkeypatch, block) -> None:
    monkeypatch.setattr("ovaflow.methods.rembrandt.model_file._LABELS_PER_BLOCK", block)
    trained = decoded.trained.copy()
    trained[3] = False
    ids, best = predict_embedded(
        decoded.projection, decoded.decoder, trained, multilabel.test.X, 5, 2
    )
    features = decoded.projection.features(multilabel.test.X).astype(np.float64)
    their_ids, theirs = naive.top_k(features, decoded.decoder, trained, 5)
    assert_array_equal(ids, their_ids)
    assert_allclose(best, theirs, rtol=1e-4, atol=1e-5)


def test_what_a_decoder_is_not_for(multilabel, decoded, tmp_path) -> None:
    projected = f"--embedding={decoded.path.with_name('embedding.h5')}", f"--output={tmp_path}/p.h5"
    ovaflow("project", multilabel.path, projected, "--decoder=softmax")
    with pytest.raises(InputError, match="one label each; set decoder: auto, or logistic"):
        train_decoder(
            Projected.open(tmp_path / "p.h5"),
            np.arange(30, dtype=np.int32),
            Decoding(1.0, 0.1, None, 0),
        )
    with pytest.raises(InputError, match="rembrandt"):
        OneVsAll.open(decoded.path)


def test_softmax_is_refused_before_labels_are_embedded(multilabel, multiclass, tmp_path) -> None:
    embed = "embed", "--for-softmax", "--rank=3", f"--output={tmp_path}/embedding.h5"
    assert len(ovaflow(embed, multilabel.path, status=2).splitlines()) == 1
    assert not (tmp_path / "embedding.h5").exists()
    ovaflow(embed, multiclass.path)
