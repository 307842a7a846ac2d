"""Choices on held-out instances against the same, made by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from ovaflow.console.errors import InputError
from ovaflow.rembrandt import tuning
from ovaflow.rembrandt.embedding import EmbeddingSettings
from ovaflow.rembrandt.in_memory import projected_in_memory
from ovaflow.rembrandt.settings import Decoding, Projecting, Tuning
from ovaflow.rembrandt.tuning import read_tuned, tune, write_tuned


def projected(dataset):
    return projected_in_memory(dataset, EmbeddingSettings(rank=8), Projecting())


def divided(made):
    X = made.dataset.train.X.data.reshape(400, -1)
    order = np.random.default_rng(0).permutation(400)
    return X, order[:80], order[80:]


def test_the_logistic_decoders_loss(multilabel):
    made = projected(multilabel)
    X, held_out, kept = divided(made)
    Y = multilabel.train.Y.to_scipy().toarray()
    ours = tune(made, Tuning(C=(0.01, 1.0, 1000.0), epsilon=1e-4, held_out=0.2))
    for C, loss in ours.losses.items():
        theirs = 0.0
        for label in range(30):
            solver = LogisticRegression(C=C, fit_intercept=False, tol=1e-8, max_iter=1000)
            found = solver.fit(X[kept], Y[kept, label]).predict_proba(X[held_out])[:, 1]
            theirs += 80 * log_loss(Y[held_out, label], found, labels=[0, 1])
        assert loss == pytest.approx(theirs / Y[held_out].sum(), rel=1e-3)
    assert ours.decoding == Decoding(min(ours.losses, key=ours.losses.get), 1e-4)


def test_a_sample_of_labels_tells_as_much(multilabel, monkeypatch):
    made, settings = projected(multilabel), Tuning(C=(0.01, 1.0), held_out=0.2)
    theirs = tune(made, settings).losses
    monkeypatch.setattr(tuning, "MOST_LABELS", 20)
    ours = tune(made, settings).losses
    assert list(ours.values()) == pytest.approx(list(theirs.values()), rel=0.1)


def test_the_softmax_decoders_loss_and_iterations(multiclass):
    made = projected(multiclass)
    ours = tune(made, Tuning(C=(1e-3, 1.0), held_out=0.2))
    X, held_out, kept = divided(made)
    y = multiclass.train.Y.indices
    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=1000).fit(X[kept], y[kept])
    assert ours.decoding.C == 1.0
    assert ours.decoding.iterations > 0
    assert ours.losses[1.0] == pytest.approx(log_loss(y[held_out], theirs.predict_proba(X[held_out])), rel=0.03)


def test_nothing_to_choose(multilabel, multiclass):
    assert tune(projected(multilabel), Tuning(C=(2.0,))).decoding == Decoding(2.0)
    assert tune(projected(multiclass), Tuning(held_out=0.0)).decoding == Decoding(500.0)
    with pytest.raises(InputError, match="none are held out"):
        tune(projected(multilabel), Tuning(C=(1.0, 2.0), held_out=0.0))


def test_the_file_and_its_instances(multilabel, tmp_path):
    made, path = projected(multilabel), tmp_path / "decoder.json"
    made = replace(made, dataset=replace(made.dataset, checksum="a"))
    ours = tune(made, Tuning(C=(0.1, 1.0)))
    write_tuned(path, ours, made)
    assert read_tuned(path, made) == ours
    with pytest.raises(InputError, match="other projected instances"):
        read_tuned(path, replace(made, dataset=replace(made.dataset, checksum="b")))
    path.write_text(json.dumps({"projected": "a"}))
    with pytest.raises(InputError, match="run tune-decoder"):
        read_tuned(path, made)
