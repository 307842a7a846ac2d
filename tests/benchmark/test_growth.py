import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from ovaflow.benchmark.growth import measure_growth, with_frequent_features, with_instances
from ovaflow.benchmark.growth_figure import check_figure_path, write_growth_figure
from ovaflow.benchmark.tables import growth_table
from ovaflow.console.errors import InputError
from ovaflow.training.label_jobs import Training


@pytest.fixture(scope="module")
def growth(small_dataset):
    return measure_growth(small_dataset, 5, 0, Training())


def test_each_part_is_measured_with_both_solvers(growth):
    sizes = {
        axis: [p["size"] for p in growth["points"] if p["axis"] == axis and p["solver"] == "fast"] for axis in "nd"
    }
    assert sizes == {"n": [50, 100, 200, 400], "d": [5, 10, 20, 40]}
    assert len(growth["points"]) == 16
    assert len(growth["fits"]) == 4
    assert all(np.isfinite(fit["exponent"]) for fit in growth["fits"])


def test_the_table_names_the_exponents(growth):
    table = growth_table(growth)
    assert "5 labels" in table
    assert f"fast: CPU time a label grows as n^{growth['fits'][0]['exponent']:.2f}\n" in table


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_figure_is_written(growth, tmp_path, ending):
    path = tmp_path / f"growth.{ending}"
    check_figure_path(path)
    write_growth_figure(path, growth)
    assert path.stat().st_size > 1000


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.svg or \.png"):
        check_figure_path(tmp_path / "growth.pdf")


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
