import json

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from compare import (
    Comparison,
    Runs,
    compare,
    compute_objectives,
    main,
    peers_table,
    sample_precision,
    summarize,
)
from peers.registry import OWN, Method, find_method
from tables import NOT_INSTALLED

from ovaflow.sparse.csr import from_scipy

ABSENT = Method(
    name="absent",
    package="absent",
    requires="no_such_module",
    file="absent",
    kind="Absent",
    remark="",
)
BROKEN = Method(
    name="broken", package="broken", requires="json", file="no_such_file", kind="Broken", remark=""
)


@pytest.fixture(scope="module")
def runs(small_dataset) -> list[Runs]:
    """The runs of ovaflow, of scikit-learn, and of a package that is not installed."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    methods = [OWN, find_method("scikit-learn primal"), ABSENT]
    return compare(Comparison(small_dataset, n_labels=6, repeats=2), methods)


def test_every_method_runs_in_each_round_on_the_same_labels(runs) -> None:
    ours, theirs, absent = runs
    assert [len(one.figures) for one in runs] == [2, 2, 0]
    assert ours.quality["labels"] == theirs.quality["labels"] == 6
    assert ours.objectives == pytest.approx(theirs.objectives, rel=5e-3)
    assert absent.failure == "not installed"


def test_summary_and_table(runs) -> None:
    ours, theirs, absent = summarize(runs)
    assert ours["ratio_to_ovaflow"] == 1.0
    assert ours["objective_difference"] == 0.0
    assert abs(theirs["objective_difference"]) < 5e-3
    low, high = theirs["ratio_to_ovaflow_range"]
    assert low <= theirs["ratio_to_ovaflow"] <= high
    assert absent["failure"] == "not installed"
    lines = peers_table([ours, theirs, absent]).split("\n")
    assert lines[1].startswith("ovaflow ")
    assert lines[3] == f"absent               {NOT_INSTALLED}"


def test_a_method_that_fails_says_why_and_stops_nothing(small_dataset, monkeypatch) -> None:
    broken, ours = compare(Comparison(small_dataset, n_labels=3, objectives=False), [BROKEN, OWN])
    assert broken.failure.startswith("failed with status 1")
    assert ours.figures
    assert "failed with status 1" in peers_table(summarize([broken, ours]))


def test_trees_train_on_the_sample_or_on_all_labels(small_dataset) -> None:
    tree = find_method("omikuji parabel")
    sample = Comparison(small_dataset, n_labels=4)
    assert len(sample.select_labels(tree)) == 4
    trees_on_all = Comparison(small_dataset, n_labels=4, trees_on_all=True)
    assert trees_on_all.select_labels(tree).tolist() == list(range(11))
    assert len(trees_on_all.select_labels(OWN)) == 4
    all_labels = Comparison(small_dataset, n_labels=None)
    assert len(all_labels.select_labels(OWN)) == 11


def test_precision_counts_sampled_labels_and_their_instances_only() -> None:
    Y = from_scipy(np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]]))
    ids = np.array([[0, 1, -1, -1, -1], [0, 1, -1, -1, -1], [0, 1, -1, -1, -1]])
    ours = sample_precision(ids, Y, np.array([2, 3]))
    assert ours == {
        "P@1": 0.5,
        "P@3": pytest.approx(2 / 6),
        "P@5": pytest.approx(0.2),
        "instances": 2,
    }


def test_objectives_equal_the_naive_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 7))
    W = rng.normal(size=(40, 7))
    Y = rng.random((40, 30)) < 0.3
    positives = from_scipy(sp.csr_array(Y.astype(float)))
    ours = compute_objectives(from_scipy(X), positives, from_scipy(W), C=0.7)
    X = np.float32(X).astype(float)
    W = np.float32(W).astype(float)
    theirs = []
    for is_positive, w in zip(Y, W, strict=True):
        theirs.append(naive.objective(X, np.where(is_positive, 1.0, -1.0), w, C=0.7))
    assert ours == pytest.approx(theirs)


def test_the_script(small_dataset, runs, monkeypatch) -> None:
    calls = []

    def record_call(comparison, methods) -> list[Runs]:
        calls.append((comparison, methods))
        return runs

    monkeypatch.setattr("compare.compare", record_call)
    path = str(small_dataset.path)
    options = ["--labels=3", "--peers=scikit-learn", "--no-objectives", "--json"]
    done = CliRunner().invoke(main, [path, *options], catch_exceptions=False)
    assert [row.get("labels") for row in json.loads(done.stdout)] == [6, 6, None]
    [(comparison, methods)] = calls
    assert (comparison.n_labels, comparison.objectives) == (3, False)
    assert {method.package for method in methods} == {"ovaflow", "scikit-learn"}
    refused = CliRunner().invoke(main, [path, "--peers=liblinear,tensorflow"])
    assert "tensorflow; known: blas, liblinear" in refused.output
