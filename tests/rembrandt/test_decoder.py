"""Projection, decoder, model and prediction, by the command line."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.model.model_file import open_model
from ovaflow.rembrandt import model_file
from ovaflow.rembrandt.decoder import Decoding, train_decoder
from ovaflow.rembrandt.model_file import predict_embedded
from ovaflow.rembrandt.projection import open_projected


def run(dataset, folder, shards=1, threads=1, options=(), tune=(), kind="rembrandt"):
    """All steps of a run; its model."""
    folder.mkdir(exist_ok=True)
    names = ("embedding", "projected", "model", "training")
    embedding, projected, model, training = (str(folder / f"{name}.h5") for name in names)
    data, threads = str(dataset.path), f"--threads={threads}"
    assert main(["embed", data, "--rank=8", f"--embedding={kind}", threads, f"--output={embedding}"]) == 0
    assert main(["project", data, f"--embedding={embedding}", *options, threads, f"--output={projected}"]) == 0
    tuned = f"--tuned={folder / 'decoder.json'}"
    assert (
        main(
            [
                "tune-decoder",
                projected,
                f"--dataset={data}",
                f"--embedding={embedding}",
                *tune,
                threads,
                f"--output={folder / 'decoder.json'}",
            ]
        )
        == 0
    )
    parts = [str(folder / f"{shard}.h5") for shard in range(shards)]
    for shard, part in enumerate(parts):
        numbers = [f"--shard={shard}", f"--shards={shards}"]
        assert main(["train-decoder", projected, tuned, *numbers, threads, f"--output={part}"]) == 0
    files = [f"--projected={projected}", tuned, f"--dataset={data}", f"--output={model}", f"--statistics={training}"]
    assert main(["join-decoder", *parts, *files]) == 0
    return model_file.open_model(model)


def test_one_vs_rest_as_scikit_learn_does(multilabel, tmp_path):
    model = run(multilabel, tmp_path / "run", tune=["--C=1", "--epsilon=0.0001"])
    features = model.projection.features(multilabel.train.X)
    Y = multilabel.train.Y.to_scipy().toarray()
    for label in (0, 7, 29):
        solver = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
        theirs = solver.fit(features, Y[:, label]).coef_[0]
        np.testing.assert_allclose(model.decoder[label], theirs, atol=2e-2)


def test_softmax_where_every_instance_has_one_label(multiclass, tmp_path):
    model = run(multiclass, tmp_path / "run", tune=["--held-out=0", "--C=1"])
    assert model.parameters["train"]["decoder"] == "softmax"
    features = model.projection.features(multiclass.train.X)
    solver = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
    theirs = solver.fit(features, multiclass.train.Y.indices).predict_proba(features)
    scores = features @ model.decoder.T
    ours = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(ours, theirs, atol=0.01)


@pytest.mark.parametrize("name", ["multilabel", "multiclass"])
def test_shards_and_threads_change_no_byte(name, tmp_path, request):
    dataset = request.getfixturevalue(name)
    models = [run(dataset, tmp_path / str(shards), shards, threads) for shards, threads in ((1, 1), (3, 2))]
    assert models[0].path.read_bytes() == models[1].path.read_bytes()


@pytest.mark.parametrize("kind", ["compressed-sensing", "pca", "plst", "none"])
def test_other_embeddings_go_the_same_way(multilabel, tmp_path, kind):
    model = run(
        multilabel,
        tmp_path / "run",
        kind=kind,
        options=["--features=laplacian", "--random-features=40"],
        tune=["--C=1"],
    )
    assert model.decoder.shape == (30, 41)
    described, data = str(tmp_path / "embedding.json"), str(multilabel.path)
    embedding = str(tmp_path / "run" / "embedding.h5")
    assert main(["describe-embedding", embedding, f"--dataset={data}", f"--output={described}"]) == 0


def test_random_features_of_a_run(multilabel, tmp_path):
    model = run(multilabel, tmp_path / "run", options=["--features=gaussian", "--random-features=50"])
    assert model.decoder.shape == (30, 51)
    assert model.projection.features(multilabel.test.X).shape == (100, 51)


@pytest.mark.parametrize("block", [7, 256])
def test_the_best_labels(multilabel, tmp_path, monkeypatch, block):
    monkeypatch.setattr("ovaflow.rembrandt.model_file._LABELS", block)
    model = run(multilabel, tmp_path / "run")
    trained = model.trained.copy()
    trained[3] = False
    ids, best = predict_embedded(model.projection, model.decoder, trained, multilabel.test.X, 5, 2)
    scores = model.projection.features(multilabel.test.X).astype(np.float64) @ model.decoder.T
    scores[:, 3] = -np.inf
    theirs = np.argsort(-scores, axis=1)[:, :5]
    np.testing.assert_array_equal(ids, theirs)
    np.testing.assert_allclose(best, np.take_along_axis(scores, theirs, axis=1), rtol=1e-4, atol=1e-5)


def test_softmax_of_several_labels_is_refused(multilabel, tmp_path):
    run(multilabel, tmp_path / "run")
    assert main(
        ["project", str(multilabel.path), f"--embedding={tmp_path / 'run/embedding.h5'}", "--decoder=softmax",
         f"--output={tmp_path / 'p.h5'}"]
    ) == 0  # fmt: skip
    with pytest.raises(InputError, match="one label each"):
        train_decoder(open_projected(tmp_path / "p.h5"), np.arange(30, dtype=np.int32), Decoding(1.0, 0.1, None, 0))


def test_it_is_no_model_of_label_weights(multilabel, tmp_path):
    with pytest.raises(InputError, match="rembrandt"):
        open_model(run(multilabel, tmp_path / "run").path)
