import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import ndcg_score
from sklearn.svm import LinearSVC

from ovaflow.cli import main
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.model.training_file import STATISTICS, Shard, typed_statistics
from ovaflow.sparse.csr import from_scipy

N_LABELS = 6
UNTRAINED = 4
TWINS = np.arange(50) % 5 == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    X, Y = make_multilabel_classification(150, 15, n_classes=N_LABELS, random_state=0)
    X[:, -1] = 10
    Y[:100, UNTRAINED] = 0
    X, Y = from_scipy(X / 10), from_scipy(Y)
    parts = [
        Split(from_scipy(X.to_scipy()[rows]), from_scipy(Y.to_scipy()[rows])) for rows in (slice(100), slice(100, 150))
    ]
    parts[1] = replace(parts[1], twins=TWINS)
    write_dataset(folder / "dataset.h5", *parts, [f"label {j}" for j in range(N_LABELS)], [], {"bias": 1.0})
    return folder


@pytest.fixture(scope="module")
def dense_weights(folder):
    train = open_dataset(folder / "dataset.h5").train
    weights = np.zeros((N_LABELS, train.X.n_columns), np.float32)
    for label, y in enumerate(train.Y.to_scipy().toarray().T):
        if y.any():
            weights[label] = LinearSVC(fit_intercept=False).fit(train.X.to_scipy().toarray(), y).coef_[0]
    return weights


def _run(name, *arguments):
    assert main([name, *map(str, arguments)]) == 0


def test_from_shards_to_metrics(folder, dense_weights, capsys):
    dataset = open_dataset(folder / "dataset.h5")
    for number, labels in enumerate(([0, 2, 4], [1, 3, 5])):
        shard = Shard(
            np.int32(labels),
            np.array(labels) != UNTRAINED,
            from_scipy(dense_weights[labels]),
            typed_statistics(dict.fromkeys(STATISTICS, (1, 1, 1))),
            core_seconds=2.0,
            peak_rss_bytes=1,
            parameters={"stored_threshold": 0.0},
        )
        shard.write(folder / f"{number}.h5", dataset=dataset)
    model, training, predictions = folder / "model.h5", folder / "training.h5", folder / "predictions.h5"
    data = f"--dataset={dataset.path}"
    shards = folder / "0.h5", folder / "1.h5"
    _run("merge", *shards, data, "--prune=0", f"--output={model}", f"--statistics={training}")
    _run("predict", model, data, "--threads=2", f"--output={predictions}")
    outputs = f"--output={folder / 'metrics.json'}", f"--groups={folder / 'groups.json'}"
    _run("evaluate", predictions, data, f"--model={model}", f"--training={training}", "--metrics=annif", *outputs)

    ours = json.loads((folder / "metrics.json").read_text())
    said = capsys.readouterr().out
    assert f"Precision@1                    {ours['P@1']:.4f}\n" in said
    scores = dataset.test.X.to_scipy() @ dense_weights.T
    scores[:, UNTRAINED] = -np.inf
    Y = dataset.test.Y.to_scipy().toarray()
    first = np.argsort(-scores, axis=1)[:, :3]
    assert ours["P@3"] == pytest.approx(np.take_along_axis(Y, first, axis=1).mean())
    others = np.take_along_axis(Y, first, axis=1)[~TWINS]
    assert ours["without_near_twins"]["P@3"] == pytest.approx(others.mean())
    assert ours["instances_with_near_twin"] == 10
    some = Y.any(axis=1)
    assert ours["nDCG@5"] == pytest.approx(ndcg_score(Y[some], np.maximum(scores, -1e9)[some], k=5))
    assert ours["instances_without_labels"] == (~some).sum()
    assert (ours["labels_trained"], ours["train_seconds"], ours["newton_steps"]) == (5, 4.0, 6)
    assert ours["nonzeros"] == np.count_nonzero(dense_weights)
    assert sum(g["precision"] for g in json.loads((folder / "groups.json").read_text())["groups"]) == pytest.approx(
        ours["P@5"]
    )
    assert f"P@1/3/5 {100 * ours['P@1']:.1f}/{100 * ours['P@3']:.1f}" in said
