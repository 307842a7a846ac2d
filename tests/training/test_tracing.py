"""Traces of sampled labels against the training of the same labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.artifacts.means import write_means
from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.initialization.starts import COLD, compute_start_inputs
from ovaflow.model.trace_file import read_trace, write_trace
from ovaflow.settings.models import TrainLabels
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.shard_job import train_labels
from ovaflow.training.tracing import trace_labels, traced_labels


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    rng = np.random.default_rng(0)
    n, n_labels = 150, 20
    X = sp.hstack([sp.random_array((n, 50), density=0.2, rng=rng, format="csr"), np.ones((n, 1))])
    Y = (rng.random((n, n_labels)) < np.geomspace(0.4, 0.01, n_labels)).astype(np.float32)
    Y[:, 3] = 0
    split = Split(from_scipy(X), from_scipy(sp.csr_array(Y)))
    path = tmp_path_factory.mktemp("trace") / "dataset.h5"
    write_dataset(path, split, split, [f"label {j}" for j in range(n_labels)], [], {"bias": 1.0})
    return open_dataset(path)


@pytest.fixture(scope="module")
def inputs(dataset):
    return compute_start_inputs(dataset, TrainLabels(initialization="label-tree"))


@pytest.mark.parametrize("start", COLD)
def test_trace_ends_where_training_ends(dataset, inputs, start):
    training = TrainLabels(initialization=start)
    labels = np.flatnonzero(inputs.means.counts)
    ours = trace_labels(dataset, inputs, labels, training)
    theirs = train_labels(
        dataset, inputs, labels, TrainLabels(initialization=start, reference=True, stored_threshold=0)
    )
    last = ours.starts[1:] - 1
    for name, statistic in (("objective", "objective"), ("gradient_norm", "gradient_norm"), ("active", "active_end")):
        assert ours.iterations[name][last] == pytest.approx(theirs.statistics[statistic], rel=1e-4)
    assert (np.diff(ours.starts) - 1).tolist() == theirs.statistics["newton_steps"].tolist()
    assert ours.iterations["active"][ours.starts[:-1]].tolist() == theirs.statistics["active_start"].tolist()
    assert ours.of_labels["target"] == pytest.approx(theirs.statistics["gradient_target"])
    assert ours.of_labels["positives"].tolist() == theirs.statistics["positives"].tolist()
    gap = ours.iterations["objective"][last] / ours.of_labels["optimum"] - 1
    assert (gap >= 0).all()
    assert (gap < 1e-2).all()
    weights = theirs.weights.to_scipy().toarray().ravel()
    assert ours.weight_counts.sum() == len(weights)
    expected = np.histogram(weights, ours.weight_edges)[0]
    assert np.abs(ours.weight_counts - expected).sum() <= 0.01 * len(weights)


def test_sample_is_spread_over_frequencies_and_the_same_for_all_runs():
    counts = np.bincount(np.random.default_rng(0).zipf(1.5, 20000).clip(max=500))
    counts[:7] = 0
    ours = traced_labels(counts, 30, seed=0)
    assert ours.tolist() == traced_labels(counts, 30, seed=0).tolist()
    assert ours.tolist() != traced_labels(counts, 30, seed=1).tolist()
    assert (np.diff(ours) > 0).all()
    assert (counts[ours] > 0).all()
    strata = np.unique(np.log2(counts[counts > 0]).astype(int))
    assert np.unique(np.log2(counts[ours]).astype(int)).tolist() == strata.tolist()


@pytest.mark.parametrize("counts", [[], [0, 0], [3], [0, 2, 5]])
def test_few_labels(counts):
    assert traced_labels(np.array(counts, np.int64), 10, 0).tolist() == np.flatnonzero(counts).tolist()


def test_no_label_at_all(dataset, inputs, tmp_path):
    empty = trace_labels(dataset, inputs, np.empty(0, np.int64), TrainLabels())
    write_trace(tmp_path / "trace.h5", empty)
    assert read_trace(tmp_path / "trace.h5").starts.tolist() == [0]


def test_command_line(dataset, inputs, tmp_path, capsys):
    write_means(tmp_path / "means.h5", inputs.means, dataset.checksum)
    output = tmp_path / "trace.h5"
    arguments = ["trace", str(dataset.path), f"--means={tmp_path / 'means.h5'}", "--labels=6", "--C=2"]
    assert main([*arguments, f"--output={output}"]) == 0
    assert "Newton steps" in capsys.readouterr().out
    trace = read_trace(output)
    assert trace.parameters["C"] == 2
    assert trace.inputs == {"dataset": dataset.checksum}
    assert trace.n_instances == dataset.train.X.n_rows


def test_damaged_file(dataset, inputs, tmp_path):
    trace = trace_labels(dataset, inputs, np.array([0, 1]), TrainLabels())
    trace.iterations["seconds"] = trace.iterations["seconds"][:-1]
    write_trace(tmp_path / "trace.h5", trace)
    with pytest.raises(InputError, match="damaged"):
        read_trace(tmp_path / "trace.h5")
