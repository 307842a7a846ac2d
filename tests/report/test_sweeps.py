"""The sections on sweeps and choices of settings."""

from types import SimpleNamespace

import numpy as np
import pytest

from ovaflow.console.errors import InputError
from ovaflow.report.gather import gather_results
from ovaflow.report.page import render_page
from ovaflow.report.sweeps import read_sweeps, show_sweeps
from ovaflow.storage.texts import write_json
from ovaflow.tuning.comparison import COMPARED_METRICS, Trial, decide


def test_seeds_are_shown_with_mean_and_standard_deviation(runs) -> None:
    members = {"trees": [run.name for run in runs], "elsewhere": ["other"]}
    (results,) = gather_results(runs, sweeps=members)
    for seed, run in zip((7, 2), results.runs, strict=True):
        vars(run)["settings"] = {"seed": str(seed)}
    (sweep,) = show_sweeps(results)
    theirs = [run.metrics["P@1"] for run in results.runs]
    assert [row.hint for row in sweep["table"].rows[:2]] == [run.name for run in reversed(runs)]
    assert [row.name for row in sweep["table"].rows] == ["2", "7", "mean", "standard deviation"]
    ours = [row.cells[0].value for row in sweep["table"].rows]
    assert ours == pytest.approx([*theirs[::-1], np.mean(theirs), np.std(theirs, ddof=1)])
    for row in sweep["table"].rows:
        assert not any(cell.best for cell in row.cells)


def make_trial(gain: float) -> Trial:
    """Make a trial with two instances, whose metrics are ``gain``."""
    gains = np.array([0.1, 0.2]) + gain
    return Trial(gains, np.ones(2), dict.fromkeys(COMPARED_METRICS, gain), 1.0)


def test_a_choice_is_shown_with_its_check(runs) -> None:
    low = make_trial(0)
    high = make_trial(0.5)
    trials = {1.0: [low], 0.3: [high]}
    with_all = {1.0: low, 0.3: high}
    # in the folder of the dataset, which other tests share
    path = runs[0].parent / "squared-hinge-l2-none-Cauto.json"
    shown = "trained on all training instances"
    for try_on_all, rows in ((with_all.get, ["1", "0.3"]), (None, [])):
        choice = {"instances": 20} | decide("nDCG@5", trials, 0.3, 1.0, try_on_all)
        write_json(path, "C", choice)
        (results,) = gather_results(runs, choices=[path])
        (section,) = results.choices
        assert [row.name for row in section["table"].rows] == ["1", "0.3"]
        assert [row.name for row in section["check"].rows] == rows
        assert [row.hint for row in section["table"].rows] == ["", "chosen"]
        assert (shown in render_page([results])) == bool(rows)
    path.unlink()


@pytest.mark.parametrize(
    ("settings", "key"),
    [([{"C": 1.0}, {}], "C"), ([{"seed": 1}, {"seed": None}], "seed")],
)
def test_a_run_without_the_setting_is_named(settings, key) -> None:
    runs = [
        SimpleNamespace(name=name, settings=each, on_dev=None)
        for name, each in zip(("msi", "trees"), settings, strict=True)
    ]
    message = f"sweep mine: run trees has no {key}; give runs that differ in C or in the seed"
    with pytest.raises(InputError, match=message):
        read_sweeps({"mine": ["msi", "trees"]}, runs)
