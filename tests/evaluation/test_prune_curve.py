"""Models pruned further, against dense weights pruned by hand."""

import json

import naive
import numpy as np
import pytest
from commands import ovaflow

from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.curves import prune_curve
from ovaflow.model.one_vs_all import OneVsAll


@pytest.fixture(scope="module")
def opened(finished):
    return OneVsAll.open(finished["model"]), open_dataset(finished["dataset"])


def figures(model, dataset, threshold, rows):
    """P@1, P@3 and P@5 of the weights of at least a threshold, and how many these are."""
    X, Y, dense = (part.to_scipy().toarray() for part in (dataset.test.X, dataset.test.Y, model.weights))
    weights = np.where(np.abs(dense) >= np.float32(threshold), dense, 0)
    ids, _ = naive.top_k(X[rows], weights, model.trained, 5)
    hits = np.take_along_axis(Y[rows], ids, axis=1)
    return {f"P@{k}": hits[:, :k].mean() for k in (1, 3, 5)} | {"nonzeros": np.count_nonzero(weights)}


def test_each_point_against_dense_weights(opened, tmp_path):
    model, dataset = opened
    output, own = tmp_path / "prune.json", model.parameters["prune"]
    thresholds = (f"--threshold={threshold:.6f}" for threshold in (0.3, own / 2, 0.1, 0.3))
    said = ovaflow("prune-curve", model.path, f"--dataset={dataset.path}", f"--output={output}", *thresholds)
    assert said.count("P@1") == 3
    curve = json.loads(output.read_text())
    assert (curve["model"], curve["instances"]) == (model.checksum, dataset.test.X.n_rows)
    assert [point["prune"] for point in curve["points"]] == [own, 0.1, 0.3]
    for point in curve["points"]:
        theirs = figures(model, dataset, point["prune"], slice(None))
        assert {name: point[name] for name in theirs} == pytest.approx(theirs)
        assert 0 < point["PSP@5"] <= 1
        ovaflow("prune", model.path, f"--threshold={point['prune']}", f"--output={tmp_path}/smaller.h5")
        assert abs(point["model_bytes"] - (tmp_path / "smaller.h5").stat().st_size) <= 2 * 4096


def test_a_sample_of_the_instances(opened, monkeypatch):
    monkeypatch.setattr("ovaflow.evaluation.curves.MOST_INSTANCES", 30)
    model, dataset = opened
    (point,) = prune_curve(model, dataset, [], 0.55, 1.5)["points"]
    theirs = figures(model, dataset, 0, np.arange(30) * dataset.test.X.n_rows // 30)
    assert {name: point[name] for name in theirs} == pytest.approx(theirs)
