"""Traces of sampled labels against the training of the same labels."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from solving import in_memory, posed

from ovaflow.artifacts.means import write_means
from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset, write_dataset
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.model.trace_file import read_trace, write_trace
from ovaflow.settings.models import TrainLabels
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import Status
from ovaflow.training.shard_job import train_labels
from ovaflow.training.tracing import refined_objective, solve_recorded, trace_labels, traced_labels


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    rng = np.random.default_rng(0)
    n, n_labels = 150, 20
    X = sp.hstack([sp.random_array((n, 50), density=0.2, rng=rng, format="csr"), np.ones((n, 1))])
    Y = (rng.random((n, n_labels)) < np.geomspace(0.4, 0.01, n_labels)).astype(np.float32)
    Y[:, 3] = 0
    split, path = in_memory(X, sp.csr_array(Y)).train, tmp_path_factory.mktemp("trace") / "dataset.h5"
    write_dataset(path, split, split, [f"label {j}" for j in range(n_labels)], [], {"bias": 1.0})
    return open_dataset(path)


@pytest.fixture(scope="module")
def inputs(dataset):
    return compute_start_inputs(dataset, TrainLabels(initialization="label-tree"))


@pytest.mark.parametrize("start", ["zero", "mean-separating", "label-tree"])
def test_trace_ends_where_training_ends(dataset, inputs, start):
    training = TrainLabels(initialization=start)
    labels = np.flatnonzero(inputs.means.counts)
    ours = trace_labels(dataset, inputs, labels, training)
    plain = training.model_copy(update={"reference": True, "stored_threshold": 0})
    theirs = train_labels(dataset, inputs, labels, plain)
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
    assert trace.of_labels["labels"].tolist() == traced_labels(inputs.means.counts, 6, seed=0).tolist()
    assert (np.diff(trace.of_labels["labels"]) > 0).all()
    assert trace.parameters["C"] == 2
    assert trace.inputs == {"dataset": dataset.checksum}
    assert trace.n_instances == dataset.train.X.n_rows


def test_damaged_file(dataset, inputs, tmp_path):
    trace = trace_labels(dataset, inputs, np.array([0, 1]), TrainLabels())
    trace.iterations["seconds"] = trace.iterations["seconds"][:-1]
    write_trace(tmp_path / "trace.h5", trace)
    with pytest.raises(InputError, match="damaged"):
        read_trace(tmp_path / "trace.h5")


@pytest.fixture(scope="module")
def labelled(dataset):
    """Features, and signs of six labels of falling frequency."""
    Y = dataset.train.Y.to_scipy().toarray()
    return dataset.train.X, [np.where(Y[:, label] > 0, 1.0, -1.0) for label in (0, 2, 5, 8, 12, 15)]


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_recorded_as_the_plain_solver_solves_it(labelled, loss):
    X, labels = labelled
    for y in labels:
        plain, recorded = posed(X, y, loss=loss), posed(X, y, loss=loss)
        theirs = solve_label(*plain)
        ours, records = solve_recorded(*recorded)
        assert recorded[3].weights == pytest.approx(plain[3].weights, rel=1e-5, abs=1e-6)
        assert ours._asdict() == pytest.approx(theirs._asdict(), rel=1e-5)
        assert records[0].step_length == 0
        assert (np.diff([record.objective for record in records]) < 0).all()
        halvings = np.log2([record.step_length for record in records[1:]])
        assert (halvings == np.round(halvings)).all()


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_every_record_against_the_naive_objective_of_a_solver_stopped_there(labelled, loss):
    X, labels = labelled
    dense, y = X.to_scipy().astype(float).toarray(), labels[2]
    _, records = solve_recorded(*posed(X, y, loss=loss))
    for step, record in enumerate(records):
        stopped = posed(X, y, loss=loss, max_newton=step)
        solve_label(*stopped)
        weights = stopped[3].weights.astype(float)
        assert record.objective == pytest.approx(naive.objective(dense, y, weights, loss), rel=1e-5)
        curved = int((y * (dense @ weights) < 1).sum()) if loss == "squared-hinge" else len(y)
        assert abs(record.active - curved) <= 1
        assert record.seconds > 0


def test_step_limit_and_refinement(labelled):
    X, labels = labelled
    outcome, records = solve_recorded(*posed(X, labels[0], epsilon=1e-5, max_newton=2))
    assert (outcome.status, len(records)) == (Status.ITERATION_LIMIT, 3)
    recorded, exact = posed(X, labels[0]), posed(X, labels[0], epsilon=1e-6)
    ours = solve_recorded(*recorded)[0].objective
    best = refined_objective(*recorded)
    solve_label(*exact)
    theirs = naive.objective(X.to_scipy().astype(float).toarray(), labels[0], exact[3].weights.astype(float))
    assert best == pytest.approx(theirs, rel=1e-6)
    assert best <= ours
