"""Folds of a config: their number, their folders, and settings that exclude them."""

import pytest
from config_factory import MINE_DATASET, find_config_error, make_config

from ovaflow.settings import inputs, paths

FIVE = {"evaluate": {"folds": 5}}
OLD = {"initialization": "pretrained", "pretrained": "old.h5", "retrain": "new"}


@pytest.mark.parametrize("folds", [0, None, 2, 100])
def test_folds_are_datasets_with_parts_of_their_own(folds) -> None:
    ours = make_config({"msi": {"rerank": 0.1}, "not": {"rerank": 0}}, evaluate={"folds": folds})
    named = [f"mine/fold-{fold}-of-{folds}" for fold in range(1, (folds or 0) + 1)]
    assert paths.name_fold_datasets(ours, "mine") == named
    held_out = [f"{name}/held-out-0.1" for name in ("mine", *named)]
    assert paths.name_derived_datasets(ours) == sorted(named + held_out)
    assert len(paths.find_cross_validation_files(ours)) == 2 * bool(folds)


def test_a_dataset_may_have_other_folds() -> None:
    datasets = {"mine": MINE_DATASET | {"folds": 0}, "yours": MINE_DATASET}
    assert paths.find_cross_validation_files(make_config(datasets=datasets, **FIVE)) == [
        "results/yours/a/folds.json"
    ]


@pytest.mark.parametrize("step", ["train-shard", "predict", "evaluate", "estimate"])
def test_steps_of_a_fold_read_what_those_of_its_dataset_do(step) -> None:
    run = {"weighting": "propensity", "top_k": 7, "rerank": 0.1}
    with_folds = make_config({"a": run}, **FIVE)
    without_folds = make_config({"a": run})
    whole = inputs.make_step_parameters(step, with_folds, "mine", "a")
    fold = inputs.make_step_parameters(step, with_folds, "mine/fold-2-of-5", "a")
    assert fold == whole == inputs.make_step_parameters(step, without_folds, "mine", "a")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"evaluate": {"folds": 1}},
            "evaluate.folds: found 1, expected a whole number of at least 2",
        ),
        (
            {"runs": {"fold-1-of-5": {}}},
            "fold-1-of-5 is the name of a result file; choose another name",
        ),
        (
            {"runs": {"b": OLD}} | FIVE,
            "runs.b: evaluate.folds needs retrain: all; kept weights may have seen",
        ),
        (
            {"runs": {"b": {"rerank_with": ["x/mllm.csv"]}}} | FIVE,
            (
                "runs.b.rerank_with: the program that made x/mllm.csv may have seen the test records of folds; leave this "
                "file out"
            ),
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(config, expected) -> None:
    assert expected in find_config_error(config)


def test_names_like_those_of_folds_and_their_advice() -> None:
    make_config({"fold-1": {}, "a": OLD | {"retrain": "all"}, "b": {}}, **FIVE)
    make_config({"b": {"rerank_with": ["x/mllm.csv"]}}, evaluate={"folds": 0})
