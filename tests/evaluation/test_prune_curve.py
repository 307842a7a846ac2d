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


def precisions(model, dataset, threshold, rows):
    """P@1, P@3 and P@5 of the weights of at least a threshold."""
    dense = model.weights.to_scipy().toarray()
    X, Y = (part.to_scipy().toarray()[rows] for part in (dataset.test.X, dataset.test.Y))
    weights = np.where(np.abs(dense) >= np.float32(threshold), dense, 0)
    ids, _ = naive.top_k(X, weights, model.trained, 5)
    return [np.take_along_axis(Y, ids[:, :k], axis=1).mean() for k in (1, 3, 5)], np.count_nonzero(weights)


def test_each_point_against_dense_weights(opened, tmp_path):
    model, dataset = opened
    output, own = tmp_path / "prune.json", model.parameters["prune"]
    thresholds = (f"--threshold={threshold:.6f}" for threshold in (0.3, own / 2, 0.1, 0.3))
    said = ovaflow("prune-curve", model.path, f"--dataset={dataset.path}", f"--output={output}", *thresholds)
    assert said.count("P@1") == 3
    curve = json.loads(output.read_text())
    assert curve["model"] == model.checksum
    assert [point["prune"] for point in curve["points"]] == [own, 0.1, 0.3]
    assert curve["instances"] == dataset.test.X.n_rows
    for point in curve["points"]:
        theirs, nonzeros = precisions(model, dataset, point["prune"], slice(None))
        assert [point[f"P@{k}"] for k in (1, 3, 5)] == pytest.approx(theirs)
        assert 0 < point["PSP@5"] <= 1
        assert point["nonzeros"] == nonzeros
        ovaflow("prune", model.path, f"--threshold={point['prune']}", f"--output={tmp_path}/smaller.h5")
        assert abs(point["model_bytes"] - (tmp_path / "smaller.h5").stat().st_size) <= 2 * 4096


def test_a_sample_of_the_instances(opened, monkeypatch):
    monkeypatch.setattr("ovaflow.evaluation.curves.MOST_INSTANCES", 30)
    model, dataset = opened
    (point,) = prune_curve(model, dataset, [], 0.55, 1.5)["points"]
    theirs, _ = precisions(model, dataset, 0, np.arange(30) * dataset.test.X.n_rows // 30)
    assert [point[f"P@{k}"] for k in (1, 3, 5)] == pytest.approx(theirs)
