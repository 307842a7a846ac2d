"""Runs that are trained once more without held-out instances."""

import pytest

from ovaflow.configuration import steps
from ovaflow.configuration.folds import BEST, calibration_files, fold_of, folds
from ovaflow.configuration.resolve import resolve
from ovaflow.console.errors import InputError

DEFAULTS = {"datasets": {"a": {"source": "builtin", "propensity_a": 0.6}}, "runs": {"msi": {}, "other": {}}}


def test_runs_held_out_alike_share_a_fold():
    runs = {"msi": {}, "zero": {"initialization": "zero"}, "more": {"calibrate": 0.25}, "not": {"calibrate": 0}}
    ours = resolve({"predict": {"calibrate": 0.1}, "runs": runs}, DEFAULTS)
    assert folds(ours) == ["a/held-out-0.1", "a/held-out-0.25"]
    assert fold_of(ours, "a", "more") == "a/held-out-0.25"
    assert fold_of(ours, "a", "not") is None
    assert calibration_files(ours)[:2] == ["results/a/msi/calibration.h5", "results/a/msi/calibration.json"]
    assert len(calibration_files(ours)) == 6


def test_a_fold_is_trained_as_its_dataset_and_more_labels_are_kept():
    ours = resolve({"predict": {"calibrate": 0.1, "top_k": 7}, "train": {"weighting": "propensity"}}, DEFAULTS)
    fold = fold_of(ours, "a", "msi")
    assert steps.weighting_options(ours, fold, "msi") == steps.weighting_options(ours, "a", "msi")
    assert steps.predict_options(ours, "a", "msi") == ["--top-k=7"]
    assert steps.predict_options(ours, fold, "msi") == [f"--top-k={BEST}"]


def test_nothing_is_held_out_by_default():
    ours = resolve({}, DEFAULTS)
    assert folds(ours) == calibration_files(ours) == []


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"runs": {"held-out-0.2": {}}}, "is the name of a result file"),
        ({"predict": {"calibrate": 1}}, "predict.calibrate: found 1, expected a number of at least 0 and below 1"),
        ({"runs": {"a": {"calibrate": True}}}, "runs.a.calibrate"),
    ],
)
def test_what_is_wrong(config, said):
    with pytest.raises(InputError, match=said):
        resolve(config, DEFAULTS)
