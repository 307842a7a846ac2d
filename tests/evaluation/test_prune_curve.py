"""Models pruned further, against dense weights pruned by hand."""

import json

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from synthetic import write_weights

from ovaflow.cli import main
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.evaluation.curves import prune_curve
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.sparse.csr import from_scipy

N, D, L = 80, 300, 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("prune")
    X = sp.random_array((N, D), density=0.2, rng=rng, format="csr")
    Y = sp.csr_array((rng.random((N, L)) < 0.1).astype(np.float32))
    split = Split(from_scipy(X), from_scipy(Y))
    write_dataset(folder / "dataset.h5", split, split, [f"label {j}" for j in range(L)], [], {"bias": 0})
    weights = rng.normal(size=(L, D)).astype(np.float32) * 0.3
    write_pruned(folder / "model.h5", open_dataset(folder / "dataset.h5"), weights, 0.01)
    return folder


def write_pruned(path, dataset, weights, threshold):
    kept = np.where(np.abs(weights) >= np.float32(threshold), weights, 0)
    return write_weights(path, dataset, kept, prune=threshold)


def test_each_point_against_dense_weights(folder, capsys):
    model, dataset = OneVsAll.open(folder / "model.h5"), open_dataset(folder / "dataset.h5")
    output = folder / "prune.json"
    arguments = [str(model.path), f"--dataset={dataset.path}", f"--output={output}"]
    assert main(["prune-curve", *arguments, "--threshold=0.005"]) == 0
    assert json.loads(output.read_text())["points"][1:] == []
    thresholds = [f"--threshold={threshold}" for threshold in (0.3, 0.005, 0.1, 0.3)]
    assert main(["prune-curve", *arguments, *thresholds]) == 0
    assert capsys.readouterr().out.count("P@1") == 1 + 3
    curve = json.loads(output.read_text())
    assert curve["model"] == model.checksum
    assert [point["prune"] for point in curve["points"]] == [0.01, 0.1, 0.3]
    assert curve["instances"] == N
    X, Y = dataset.test.X.to_scipy().toarray(), dataset.test.Y.to_scipy().toarray()
    whole = model.weights.to_scipy().toarray()
    for point in curve["points"]:
        weights = np.where(np.abs(whole) >= np.float32(point["prune"]), whole, 0)
        ids, _ = naive.top_k(X, weights, model.trained, 5)
        for k in (1, 3, 5):
            assert point[f"P@{k}"] == pytest.approx(np.take_along_axis(Y, ids[:, :k], axis=1).mean())
            assert 0 < point[f"PSP@{k}"] <= 1
        assert point["nonzeros"] == np.count_nonzero(weights)
        write_pruned(folder / "smaller.h5", dataset, whole, point["prune"])
        theirs = (folder / "smaller.h5").stat().st_size
        assert abs(point["model_bytes"] - theirs) <= 2 * 4096


def test_a_sample_of_the_instances(folder, monkeypatch):
    monkeypatch.setattr("ovaflow.evaluation.curves.MOST_INSTANCES", 30)
    model, dataset = OneVsAll.open(folder / "model.h5"), open_dataset(folder / "dataset.h5")
    ours = prune_curve(model, dataset, [], 0.55, 1.5)
    rows = np.arange(30) * N // 30
    ids, _ = naive.top_k(
        dataset.test.X.to_scipy().toarray()[rows], model.weights.to_scipy().toarray(), model.trained, 1
    )
    theirs = np.take_along_axis(dataset.test.Y.to_scipy().toarray()[rows], ids, axis=1).mean()
    assert (ours["instances"], ours["points"][0]["P@1"]) == (30, pytest.approx(theirs))
