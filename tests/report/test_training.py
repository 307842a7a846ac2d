"""The section on training: statistics of the solver, and numbers of logarithmic axes."""

from types import SimpleNamespace

import numpy as np

from ovaflow.model.training_file import Training
from ovaflow.report import training
from ovaflow.report.drawing import format_logarithmic_tick
from ovaflow.solver.problem import Status


def test_training_statistics_are_honest() -> None:
    statistics = {
        "positives": np.array([3, 0, 1, 2]),
        "newton_steps": np.array([4, 0, 6, 8]),
        "cg_steps": np.array([8, 0, 10, 12]),
        "line_search_halvings": np.array([0, 0, 3, 0]),
        "seconds": np.array([0.1, 0.0, 0.1, 0.1]),
        "gradient_norm": np.array([0.5, 0.0, 3.0, np.nan]),
        "gradient_target": np.array([1.0, 0.0, 1.5, 1.0]),
        "status": np.array(
            [
                Status.CONVERGED,
                Status.NO_POSITIVES,
                Status.LINE_SEARCH_FAILED,
                Status.ITERATION_LIMIT,
            ],
            np.int8,
        ),
    }
    ours = training.summarize_training(Training(2.0, 1, 1 << 20, statistics=statistics))
    assert (ours.trained, ours.untrained, ours.reached, ours.above) == (3, 1, 1, 2)
    assert ours.endings == "1 iteration limit, 1 line search failed"
    run = SimpleNamespace(read={training.read_training: ours}.get)
    assert training.steps_getter("newton_steps")(run) == 6
    assert training.steps_getter("cg_steps")(run) == 10
    assert ours.line_search_halvings == 1
    assert np.isnan(ours.worst_ratio)


def test_numbers_of_logarithmic_axes() -> None:
    numbers = {1000.0: "1,000", 1: "1", 0.5: "0.5", 0.001: "0.001", 1e-4: "10⁻⁴", 1e-12: "10⁻¹²"}
    assert {value: format_logarithmic_tick(value) for value in numbers} == numbers
