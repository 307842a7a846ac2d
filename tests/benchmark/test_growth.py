import json

import numpy as np
import pytest
import scipy.sparse as sp
from draw_growth import write_figure
from sklearn.preprocessing import normalize

from ovaflow.benchmark.growth import growth_table, measure_growth, with_frequent_features, with_instances
from ovaflow.benchmark.solver import sample_labels
from ovaflow.cli import main
from ovaflow.settings.models import TrainLabels


@pytest.fixture(scope="module")
def growth(small_dataset):
    return measure_growth(small_dataset, 5, 0, TrainLabels())


def test_each_part_is_measured_with_both_solvers(growth):
    sizes = {
        axis: [p["size"] for p in growth["points"] if p["axis"] == axis and p["solver"] == "fast"] for axis in "nd"
    }
    assert sizes == {"n": [50, 100, 200, 400], "d": [5, 10, 20, 40]}
    assert len(growth["points"]) == 16
    assert len(growth["fits"]) == 4
    assert all(np.isfinite(fit["exponent"]) for fit in growth["fits"])
    table = growth_table(growth)
    assert "5 labels" in table
    assert f"fast: CPU time of a label grows as n^{growth['fits'][0]['exponent']:.2f}\n" in table


def test_the_figure_is_drawn(growth, tmp_path):
    write_figure(growth, tmp_path / "growth.svg")
    assert (tmp_path / "growth.svg").stat().st_size > 1000


def test_the_command_prints_json(small_dataset, capsys):
    assert main(["benchmark", "growth", str(small_dataset.path), "--labels=2", "--json"]) == 0
    assert {fit["axis"] for fit in json.loads(capsys.readouterr().out)["fits"]} == {"n", "d"}


def test_sampled_labels_have_positives_and_follow_the_seed():
    counts = np.array([3, 0, 1, 0, 5, 2])
    assert sample_labels(counts, 10, 0).tolist() == [0, 2, 4, 5]
    chosen = sample_labels(counts, 2, 1)
    assert len(chosen) == 2
    assert chosen.tolist() == sample_labels(counts, 2, 1).tolist()
    assert (counts[chosen] > 0).all()


def test_frequent_features_are_kept_and_rows_have_unit_length(small_dataset):
    X = small_dataset.train.X.to_scipy().toarray()
    frequency = (X[:, :-1] != 0).sum(axis=0)
    ours = with_frequent_features(small_dataset, 10).train.X.to_scipy().toarray()
    kept = np.sort(np.argsort(-frequency, kind="stable")[:10])
    theirs = np.hstack([normalize(X[:, kept]), np.ones((400, 1))])
    assert np.allclose(ours, theirs, atol=1e-6)


def test_instances_keep_their_labels(small_dataset):
    rows = np.array([3, 50, 399])
    part = with_instances(small_dataset, rows)
    for ours, theirs in ((part.train.X, small_dataset.train.X), (part.train.Y, small_dataset.train.Y)):
        assert np.array_equal(ours.to_scipy().toarray(), sp.csr_array(theirs.to_scipy())[rows].toarray())
