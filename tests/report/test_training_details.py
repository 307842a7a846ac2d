"""Bands, traces, weights and prune curves, as the page shows them."""

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
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import StartInputs
from ovaflow.model.model_file import open_model
from ovaflow.model.trace_file import Trace, read_trace, write_trace
from ovaflow.report import bands, galleries
from ovaflow.report.details import read_details
from ovaflow.report.drawing import draw, logarithmic, plain_logarithm
from ovaflow.report.gather import gather
from ovaflow.report.page import render
from ovaflow.report.traces import SMALLEST_GAP, curves_of
from ovaflow.report.weight_figures import distinct
from ovaflow.settings.models import TrainLabels
from ovaflow.storage.texts import write_json
from ovaflow.training.tracing import trace_labels


@given(st.lists(st.tuples(st.integers(1, 10_000), st.floats(0, 100)), min_size=1, max_size=200))
def test_bands_hold_the_quantiles_of_each_group(labels):
    positives, values = (np.array(column) for column in zip(*labels, strict=True))
    ours = bands.by_positives(positives, values)
    groups = {}
    for count, value in labels:
        groups.setdefault(int(np.floor(5 * np.log10(count) + 1e-9)), []).append(value)
    theirs = [np.quantile(groups[key], [0.05, 0.5, 0.95]) for key in sorted(groups) if len(groups[key]) >= bands.FEWEST]
    drawn = np.array([ours.low, ours.middle, ours.high]).T
    assert drawn == pytest.approx(np.reshape(theirs, (-1, 3)))
    assert (np.diff(ours.x) > 0).all()


def hand_made_trace():
    """Three labels of 1, 2 and 2 iterations, 100 instances."""
    return Trace(
        {
            "labels": np.array([0, 1, 2]),
            "positives": np.array([1, 1, 1]),
            "target": np.ones(3),
            "optimum": np.array([1.0, 2.0, 4.0]),
            "status": np.zeros(3),
        },
        np.array([0, 2, 5, 8]),
        {
            "objective": np.array([2.0, 1.0, 6.0, 3.0, 2.02, 40.0, 8.0, 4.4]),
            "gradient_norm": np.ones(8),
            "active": np.array([100, 10, 50, 5, 4, 0, 20, 30]),
            "step_length": np.array([0, 1.0, 0, 0.5, 1.0, 0, 0.25, 1.0]),
            "cg_steps": np.ones(8),
            "seconds": np.array([1, 2, 1, 4, 6, 1, 3, 8]) / 1000,
        },
        np.array([-1.0, 0.0, 1.0]),
        np.array([3, 1]),
        100,
        {},
        {},
    )


def test_curves_of_a_trace_made_by_hand():
    ours = curves_of(hand_made_trace())
    assert (ours.n_labels, ours.iterations) == (3, 2)
    # gaps 1, 2, 9, then 1e-6 (solved), 0.5, 1, then 1e-6 (carried on), 0.01, 0.1
    assert ours.gap.middle == pytest.approx([2, 0.5, 0.01])
    assert ours.gap.x.tolist() == [0, 1, 2]
    assert ours.gap.low[2] >= SMALLEST_GAP
    # two labels are too few for the second iteration
    assert ours.multiplier.middle == pytest.approx([(1 + 0.5 + 0.25) / 3])
    assert ours.active.middle == pytest.approx([0.5])
    assert ours.active.low[0] > 0
    assert ours.milliseconds.middle == pytest.approx([3])
    assert ours.newton_by_positives.middle == pytest.approx([5 / 3])
    assert ours.milliseconds_by_positives.middle == pytest.approx([11])


def test_too_few_labels_have_no_curves():
    trace = hand_made_trace()
    two = replace(trace, starts=trace.starts[:3])
    assert curves_of(two) is None


@pytest.fixture(scope="module")
def traced(tmp_path_factory, runs):
    """A copy of the fixture's msi run with a prune curve and a trace of its settings."""
    folder = tmp_path_factory.mktemp("traced") / "mine"
    shutil.copytree(runs[0].parent, folder)
    dataset = open_dataset(folder / "dataset.h5")
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    labels = np.flatnonzero(inputs.means.counts)
    for run in ("msi", "dismec"):
        model = open_model(folder / run / "model.h5")
        start = model.parameters["train"]["initialization"]
        trace = trace_labels(
            dataset, inputs, labels, TrainLabels(initialization=start, C=model.parameters["train"]["C"])
        )
        write_trace(folder / run / "trace.h5", replace(trace, parameters=model.parameters["train"]))
        arguments = [f"--dataset={folder / 'dataset.h5'}", f"--output={folder / run / 'prune.json'}"]
        assert (
            main(["prune-curve", str(folder / run / "model.h5"), *arguments, "--threshold=0.1", "--threshold=1"]) == 0
        )
    return folder


def test_page_with_all_figures(traced):
    page = render(gather([traced / "msi", traced / "dismec"]))
    assert page.count("<svg") == 12 + 6 + 3
    assert "Iteration by iteration" in page
    assert "Weights and pruning" in page
    assert page == render(gather([traced / "msi", traced / "dismec"]))
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


def test_weights_after_pruning_are_the_models(traced):
    model, trace = open_model(traced / "msi" / "model.h5"), read_trace(traced / "msi" / "trace.h5")
    ours = read_details(traced / "msi", {}).weights
    assert ours.before.sum() == pytest.approx(1)
    assert ours.kept == pytest.approx(len(model.weights.data) / trace.weight_counts.sum())
    middle = np.argmin(np.abs(ours.edges[:-1] + ours.edges[1:]))
    assert ours.after[middle] == 0
    assert (ours.after[:middle].sum() + ours.after[middle + 1 :].sum()) == pytest.approx(ours.kept)


def test_own_threshold_is_that_of_the_metrics(traced):
    metrics = json.loads((traced / "msi" / "metrics.json").read_text())
    own, *further = read_details(traced / "msi", metrics).pruning
    assert (own["prune"], own["P@1"], own["nonzeros"]) == (0.01, metrics["P@1"], metrics["nonzeros"])
    assert [point["prune"] for point in further] == [0.1, 1.0]


def test_files_of_another_model_are_passed_over(traced, tmp_path):
    shutil.copytree(traced / "msi", tmp_path / "msi")
    write_json(tmp_path / "msi" / "prune.json", "prune-curve", {"model": "another", "points": [{"prune": 1}]})
    trace = read_trace(tmp_path / "msi" / "trace.h5")
    write_trace(tmp_path / "msi" / "trace.h5", replace(trace, parameters=trace.parameters | {"C": 7.0}))
    found = read_details(tmp_path / "msi", {"model_bytes": 1})
    assert (found.curves, found.weights, found.pruning) == (None, None, [])


@pytest.mark.parametrize("curve", [{"model": 1}, {"model": 1, "points": [1]}])
def test_damaged_prune_curve_is_named(traced, tmp_path, curve):
    shutil.copytree(traced / "msi", tmp_path / "msi")
    write_json(tmp_path / "msi" / "prune.json", "prune-curve", curve)
    with pytest.raises(InputError, match="no prune curve"):
        read_details(tmp_path / "msi", {})


def test_runs_with_the_same_weights_are_drawn_once(traced):
    runs = gather([traced / "msi", traced / "dismec"])[0].runs
    assert [run.name for run in distinct([runs[0], replace(runs[0], name="again"), runs[1]])] == ["msi", "dismec"]


@pytest.mark.parametrize(
    ("value", "text"), [(1000.0, "1,000"), (1, "1"), (0.5, "0.5"), (0.001, "0.001"), (1e-4, "10⁻⁴"), (1e-12, "10⁻¹²")]
)
def test_numbers_of_logarithmic_axes(value, text):
    assert plain_logarithm(value) == text


def test_an_empty_figure_of_logarithms_is_drawn():
    def paint(axes):
        axes.plot([], [])
        axes.plot([1, 2], [0, 0])
        axes.set(yscale="log", ylabel="never positive")
        logarithmic(axes.yaxis)

    assert "<svg" in draw("empty", "Empty", paint).svg


def test_labels_that_their_start_solves_can_be_drawn():
    trace = hand_made_trace()
    at_start = [0, 2, 5]
    iterations = {name: values[at_start] for name, values in trace.iterations.items()}
    solved = curves_of(replace(trace, starts=np.arange(4), iterations=iterations))
    run = SimpleNamespace(name="solved", series=0, details=SimpleNamespace(curves=solved))
    for figure, _ in galleries.BY_ITERATION:
        assert "<svg" in figure("solved", [run]).svg
