"""Training statistics, bands, traces, weights and prune curves, as the page shows them."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.artifacts.means import compute_means
from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import StartInputs
from ovaflow.model.model_file import open_model
from ovaflow.model.trace_file import Trace, read_trace, write_trace
from ovaflow.model.training_file import Training
from ovaflow.report import traces, training
from ovaflow.report.drawing import FEWEST, by_positives, draw, logarithmic, plain_logarithm
from ovaflow.report.gather import gather
from ovaflow.report.page import render
from ovaflow.report.traces import distinct
from ovaflow.settings.models import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.training.tracing import trace_labels


def test_training_statistics_are_honest():
    statistics = {
        "positives": np.array([3, 0, 1, 2]),
        "newton_steps": np.array([4, 0, 6, 8]),
        "cg_steps": np.array([8, 0, 10, 12]),
        "line_search_halvings": np.array([0, 0, 3, 0]),
        "seconds": np.array([0.1, 0.0, 0.1, 0.1]),
        "gradient_norm": np.array([0.5, 0.0, 3.0, np.nan]),
        "gradient_target": np.array([1.0, 0.0, 1.5, 1.0]),
        "status": np.array([Status.CONVERGED, Status.NO_POSITIVES, Status.LINE_SEARCH_FAILED, 77], np.int8),
    }
    ours = training.summarise(Training(statistics, 2.0, 1, 1 << 20))
    assert (ours.trained, ours.untrained, ours.reached, ours.above) == (3, 1, 1, 2)
    assert ours.endings == {"line search failed": 1, "status 77": 1}
    run = SimpleNamespace(training=ours)
    assert (training.newton_per_label(run), training.cg_per_label(run), ours.halvings_per_label) == (6, 10, 1)
    assert np.isnan(ours.worst_ratio)
    assert training.histogram(ours.newton_steps, 7)[[4, 6, 7]] == pytest.approx([1 / 3] * 3)


@given(st.lists(st.tuples(st.integers(1, 10_000), st.floats(0, 100)), min_size=1, max_size=200))
def test_bands_hold_the_quantiles_of_each_group(labels):
    positives, values = (np.array(column) for column in zip(*labels, strict=True))
    ours = by_positives(positives, values)
    groups = {}
    for count, value in labels:
        groups.setdefault(int(np.floor(5 * np.log10(count) + 1e-9)), []).append(value)
    large = [groups[key] for key in sorted(groups) if len(groups[key]) >= FEWEST]
    theirs = np.reshape([np.quantile(group, [0.05, 0.5, 0.95]) for group in large], (-1, 3))
    drawn = np.array([ours.low, ours.middle, ours.high]).T
    assert drawn == pytest.approx(theirs)
    assert (np.diff(ours.x) > 0).all()


def hand_made_trace():
    """Three labels of 1, 2 and 2 iterations, 100 instances."""
    of_labels = {"labels": np.arange(3), "positives": np.ones(3, int), "optimum": np.array([1.0, 2.0, 4.0])}
    iterations = {
        "objective": np.array([2.0, 1.0, 6.0, 3.0, 2.02, 40.0, 8.0, 4.4]),
        "active": np.array([100, 10, 50, 5, 4, 0, 20, 30]),
        "step_length": np.array([0, 1.0, 0, 0.5, 1.0, 0, 0.25, 1.0]),
        "seconds": np.array([1, 2, 1, 4, 6, 1, 3, 8]) / 1000,
    }
    weights = np.array([-1.0, 0.0, 1.0]), np.array([3, 1])
    return Trace(of_labels, np.array([0, 2, 5, 8]), iterations, *weights, 100, {}, {})


def test_curves_of_a_trace_made_by_hand():
    trace = hand_made_trace()
    ours = traces.curves_of(trace)
    assert (ours["n_labels"], ours["iterations"]) == (3, 2)
    # gaps 1, 2, 9, then 1e-6 (solved), 0.5, 1, then 1e-6 (carried on), 0.01, 0.1
    assert ours["gap"].middle == pytest.approx([2, 0.5, 0.01])
    assert ours["gap"].x.tolist() == [0, 1, 2]
    assert ours["gap"].low[2] >= traces.SMALLEST_GAP
    # two labels are too few for the second iteration
    assert ours["multiplier"].middle == pytest.approx([(1 + 0.5 + 0.25) / 3])
    assert ours["active"].middle == pytest.approx([0.5])
    assert ours["active"].low[0] > 0
    assert ours["milliseconds"].middle == pytest.approx([3])
    assert ours["newton_by_positives"].middle == pytest.approx([5 / 3])
    assert ours["milliseconds_by_positives"].middle == pytest.approx([11])
    assert traces.curves_of(replace(trace, starts=trace.starts[:3])) is None


def test_labels_that_their_start_solves_can_be_drawn():
    trace = hand_made_trace()
    iterations = {name: values[[0, 2, 5]] for name, values in trace.iterations.items()}
    curves = traces.curves_of(replace(trace, starts=np.arange(4), iterations=iterations))
    run = SimpleNamespace(name="solved", series=0, curves=curves)
    drawn = traces.show_iterations("mine", SimpleNamespace(shown=[run]))["figures"]
    assert all("<svg" in drawing.svg for drawing in drawn)
    # labels of one frequency are no curve
    assert len(drawn) == len(traces.BY_ITERATION)
    spread = curves | {"newton_by_positives": traces.band([1, 9], [np.arange(3.0)] * 2)}
    run = SimpleNamespace(name="solved", series=0, curves=spread)
    drawn = traces.show_iterations("mine", SimpleNamespace(shown=[run]))["figures"]
    assert len(drawn) == len(traces.BY_ITERATION) + len(traces.BY_POSITIVES)


@pytest.fixture(scope="module")
def traced(tmp_path_factory, runs):
    """The runs with prune curves, and traces of their settings."""
    folder = tmp_path_factory.mktemp("traced") / "mine"
    shutil.copytree(runs[0].parent, folder)
    dataset = open_dataset(folder / "dataset.h5")
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    labels = np.flatnonzero(inputs.means.counts)
    for run in ("msi", "dismec"):
        settings = open_model(folder / run / "model.h5").parameters["train"]
        train = TrainLabels(initialization=settings["initialization"], C=settings["C"])
        trace = trace_labels(dataset, inputs, labels, train)
        write_trace(folder / run / "trace.h5", replace(trace, parameters=settings))
        options = [f"--dataset={dataset.path}", f"--output={folder / run / 'prune.json'}", "--threshold=0.1"]
        assert main(["prune-curve", str(folder / run / "model.h5"), *options, "--threshold=1"]) == 0
    return [folder / "msi", folder / "dismec"]


@pytest.fixture(scope="module")
def gathered(traced):
    return gather(traced)


def test_weights_and_thresholds_are_the_models(traced, gathered):
    model, trace = open_model(traced[0] / "model.h5"), read_trace(traced[0] / "trace.h5")
    run, ours = gathered[0].runs[0], gathered[0].runs[0].weights
    assert ours["before"].sum() == pytest.approx(1)
    assert ours["after"].sum() == pytest.approx(len(model.weights.data) / trace.weight_counts.sum())
    middle = np.argmin(np.abs(ours["edges"][:-1] + ours["edges"][1:]))
    assert ours["after"][middle] == 0
    metrics = json.loads((traced[0] / "metrics.json").read_text())
    own, *further = run.pruning
    assert (own["prune"], own["P@1"], own["nonzeros"]) == (0.01, metrics["P@1"], metrics["nonzeros"])
    assert [point["prune"] for point in further] == [0.1, 1.0]


def test_page_with_all_figures_and_the_same_weights_once(gathered):
    page = render(gathered)
    assert page.count("<svg") == 12 + 6 + 3
    assert all(title in page for title in ("Iteration by iteration", "Weights and pruning"))
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    first, second = gathered[0].runs
    assert [run.name for run in distinct([first, replace(first, name="again"), second])] == ["msi", "dismec"]


def test_a_trace_of_other_settings_is_passed_over(traced, tmp_path):
    shutil.copytree(traced[0].parent, tmp_path / "mine")
    folder = tmp_path / "mine" / "msi"
    trace = read_trace(folder / "trace.h5")
    write_trace(folder / "trace.h5", replace(trace, parameters=trace.parameters | {"C": 7.0}))
    (run,) = gather([folder])[0].runs
    assert (run.curves, run.weights) == (None, None)


def test_numbers_of_logarithmic_axes():
    numbers = {1000.0: "1,000", 1: "1", 0.5: "0.5", 0.001: "0.001", 1e-4: "10⁻⁴", 1e-12: "10⁻¹²"}
    assert {value: plain_logarithm(value) for value in numbers} == numbers


def test_an_empty_figure_of_logarithms_is_drawn():
    def paint(axes):
        axes.plot([], [])
        axes.plot([1, 2], [0, 0])
        axes.set(yscale="log", ylabel="never positive")
        logarithmic(axes.yaxis)

    assert "<svg" in draw("empty", "Empty", "", paint).svg
