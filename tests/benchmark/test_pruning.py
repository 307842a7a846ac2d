"""Models pruned further, against dense weights pruned by hand."""

import naive
import numpy as np
import pruning
import pytest
from click.testing import CliRunner
from commands import ovaflow
from synthetic import train_model_file

from ovaflow.evaluation.metrics import compute_ranking_metrics
from ovaflow.model.one_vs_all import OneVsAll


@pytest.fixture(scope="module")
def model(small_dataset, tmp_path_factory):
    path = tmp_path_factory.mktemp("pruning") / "model.h5"
    return OneVsAll.open(train_model_file(path, small_dataset, prune=0.01))


def test_each_threshold_against_dense_weights(model, small_dataset, tmp_path) -> None:
    X = small_dataset.test.X.to_scipy().toarray()
    Y = small_dataset.test.Y
    rows = pruning.measure(model, small_dataset, [0.3, 0.005, 0.1], threads=1)
    assert [row.threshold for row in rows] == [0.01, 0.1, 0.3]
    for row in rows:
        dense = model.weights.to_scipy().toarray()
        dense[np.abs(dense) < np.float32(row.threshold)] = 0
        ids, _ = naive.top_k(X, dense, model.trained, 5)
        theirs = compute_ranking_metrics(ids, Y, np.ones(12))
        assert row.metrics == pytest.approx({name: theirs[name] for name in pruning.METRICS})
        assert row.deciles.sum() == pytest.approx(row.metrics["P@5"])
        assert row.nonzeros == np.count_nonzero(dense)
        smaller = tmp_path / "smaller.h5"
        ovaflow("prune", model.path, f"--threshold={row.threshold}", f"--output={smaller}")
        assert abs(row.model_bytes - smaller.stat().st_size) <= 2 * 4096


def test_deciles_go_from_rare_to_frequent_labels() -> None:
    counts = np.array([*range(20, 0, -1), 0])
    assert pruning.assign_deciles(counts).tolist() == [*np.repeat(np.arange(9, -1, -1), 2), -1]


def test_the_script_prints_two_tables(model, small_dataset) -> None:
    options = [str(model.path), str(small_dataset.path), "--threshold=0.2"]
    done = CliRunner().invoke(pruning.main, options, catch_exceptions=False)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["pruned", "at", "weights", "bytes", *pruning.METRICS]
    assert [line.split()[0] for line in lines if line.startswith("0.")] == ["0.01", "0.2"] * 2
