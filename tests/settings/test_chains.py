"""Runs that depend on others: sweeps, earlier models, and sources of suggestions."""

import re
from pathlib import Path

import pytest
import yaml
from config_factory import MINE_DATASET, find_config_error, make_config
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.settings import inputs
from ovaflow.settings.chains import find_earlier_model, group_swept_runs, name_swept_run
from ovaflow.settings.config import require_files
from ovaflow.settings.predict import Predict
from ovaflow.settings.section import NAME_PATTERN
from ovaflow.settings.suggestion_sources import find_sources, name_source

SWEEP = {"initialization": "zero", "sweep": {"C": [1, 0.1, 10]}, "top_k": 7}


def test_a_sweep_becomes_one_run_per_value() -> None:
    swept = make_config({"first": {}, "dismec": SWEEP, "last": {}})
    names = ["dismec.C-0.1", "dismec.C-1", "dismec.C-10"]
    assert list(swept.runs) == ["first", *names, "last"]
    assert group_swept_runs(swept) == {"dismec": names}
    assert [swept.train_settings(name).C for name in names] == [0.1, 1.0, 10.0]
    assert [swept.section("predict", run=name) for name in names] == [Predict(top_k=7)] * 3
    assert [swept.runs[name].initialization for name in names] == [
        "zero",
        "pretrained",
        "pretrained",
    ]
    earlier = [find_earlier_model(swept, "mine", name) for name in names]
    assert earlier == [
        None,
        "results/mine/dismec.C-0.1/model.h5",
        "results/mine/dismec.C-1/model.h5",
    ]
    assert f"--sweep=dismec={','.join(names)}" in inputs.make_sweep_options(swept)


def test_a_start_at_the_neighbour_is_solved_more_exactly() -> None:
    own = make_config({"a": {"sweep": {"C": [1, 2, 3]}, "epsilon": 0.1}})
    assert [own.train_settings(name).epsilon for name in own.runs] == [0.1, 0.01, 0.01]
    for epsilon, later in ((0.03, 0.003), ("auto", 0.001)):
        common = make_config({"a": {"sweep": {"C": [1, 2]}}}, train={"epsilon": epsilon})
        assert [common.train_settings(name).epsilon for name in common.runs] == [epsilon, later]


def test_another_value_leaves_the_runs_below_it_as_they_are() -> None:
    few = make_config({"a": {"sweep": {"C": [0.1, 1, 3]}}})
    many = make_config({"a": {"sweep": {"C": [0.1, 1, 2, 3]}}})
    for name in ("a.C-0.1", "a.C-1"):
        assert few.runs[name] == many.runs[name]
        ours = inputs.make_step_parameters("train-shard", few, "mine", name)
        theirs = inputs.make_step_parameters("train-shard", many, "mine", name)
        assert ours == theirs
    assert find_earlier_model(few, "mine", "a.C-3") != find_earlier_model(many, "mine", "a.C-3")


def test_seeds_become_runs_that_know_nothing_of_each_other() -> None:
    swept = make_config({"trees": {"method": "fastxml", "sweep": {"seed": [3, 1]}}})
    assert group_swept_runs(swept) == {"trees": ["trees.seed-1", "trees.seed-3"]}
    assert [
        inputs.make_step_parameters("train-shard", swept, "mine", run)["seed"] for run in swept.runs
    ] == [1, 3]
    assert [run.pretrained for run in swept.runs.values()] == [None, None]


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_names_of_swept_runs_are_safe_and_say_the_number(C) -> None:
    name = name_swept_run("a", "C", C)
    assert re.fullmatch(NAME_PATTERN, name)
    assert float(name.removeprefix("a.C-")) == C


def make_later_run(name) -> dict[str, str]:
    """Make a run that starts from another one, or from a file."""
    return {"initialization": "pretrained", "pretrained": name}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.C-1", "results/mine/a.C-1/model.h5"),
        ("old/../model.h5", "old/../model.h5"),
        ("results/mine/a/model.h5", "results/mine/a/model.h5"),
    ],
)
def test_a_run_starts_from_a_run_of_a_sweep_or_from_a_file(name, expected) -> None:
    chained = make_config({"a": SWEEP, "b": make_later_run(name)})
    assert find_earlier_model(chained, "mine", "b") == expected
    assert inputs.find_start_files(chained, "mine", "b") == {"earlier": expected}
    parameters = inputs.make_step_parameters("train-shard", chained, "mine", "b")
    assert (parameters["initialization"], parameters["t"]) == ("pretrained", -2)


NEEDS = "rerank_with needs rerank, the share of instances that is held out"


@pytest.mark.parametrize(
    ("runs", "expected"),
    {
        "a: {sweep: {epsilon: [0.1]}}": "runs.a.sweep.epsilon: unknown key; legal here: C, seed",
        "a: {sweep: {}}": "runs.a.sweep: sweep needs either C or seed",
        "a: {sweep: {C: [1], seed: [1, 2]}}": "a.sweep: sweep needs either C or seed",
        "a: {sweep: {seed: [1, 2]}}": "runs.a: method: one-vs-all has no seed to sweep",
        "a: {method: fastxml, sweep: {C: [1, 2]}}": "runs.a: method: fastxml has no C to sweep",
        "a: {method: fastxml, seed: 1, sweep: {seed: [1, 2]}}": (
            "runs.a: seed and sweep.seed exclude each other"
        ),
        "a: {sweep: {C: [1, -1]}}": "runs.a.sweep.C: found -1, expected a number above 0",
        "a: {sweep: {C: [1, 3, 1.0]}}": "runs.a.sweep: C: 1 appears twice",
        "a: {method: fastxml, sweep: {seed: [4]}}": (
            "runs.a.sweep.seed: found [4], expected a list of at least 2, each entry a whole number"
        ),
        "a: {sweep: [1, 2]}": "runs.a.sweep: found [1, 2], expected a mapping of keys to values",
        "a: {C: 2, sweep: {C: [1]}}": "runs.a: C and sweep.C exclude each other",
        "{a.C-1: {}, a: {sweep: {C: [1]}}}": "runs.a.sweep: the name of its run a.C-1 is taken",
        "a: {initialization: pretrained}": (
            "runs.a: initialization: pretrained and pretrained: (a run"
        ),
        "{a: {sweep: {C: [1, 3]}}, b: {initialization: pretrained, pretrained: a}}": (
            "runs.b.pretrained: a is a sweep; name one of a.C-1, a.C-3"
        ),
        (
            "{a: {initialization: pretrained, pretrained: b}, b: {initialization: pretrained, "
            "pretrained: a}}"
        ): ("runs.a.pretrained: runs start in a circle: a from b from a"),
        "a: {sweep: {C: [1]}, retrain: new}": (
            "runs.a: retrain keeps weights of one C, sweep changes it"
        ),
        "{a: {}, b: {initialization: pretrained, pretrained: a, retrain: changed, rerank: 0.2}}": (
            "runs.b: rerank needs retrain: all; kept weights may have seen held-out instances"
        ),
        "a: {rerank: 0, rerank_with: [b.csv]}": f"runs.a: {NEEDS}",
        "a: {rerank: 0, optimise: macro-F1}": (
            "runs.a: optimise needs rerank, which gives probabilities"
        ),
        "a: {rerank_with: [x/b.csv, y/b.csv]}": (
            "runs.a.rerank_with: two sources are called b; rename all files but one"
        ),
    }.items(),
)
def test_what_is_wrong_is_said_in_one_line(runs, expected) -> None:
    assert expected in find_config_error({"runs": yaml.safe_load(runs)})


def test_suggestions_of_all_runs_need_a_second_stage() -> None:
    assert f"predict: {NEEDS}" in find_config_error(
        {"predict": {"rerank": 0, "rerank_with": ["b.csv"]}}
    )


@pytest.mark.parametrize(
    ("run", "make", "expected"),
    [
        (make_later_run("mis"), Path.touch, "pretrained: no run and no file mis; "),
        (
            {"rerank": 0.2, "rerank_with": ["mis"]},
            Path.mkdir,
            (
                "rerank_with: no such file: mis; "
                "runs of the config cannot be named any more, files can; "
            ),
        ),
    ],
)
def test_earlier_models_and_sources_must_be_there(
    tmp_path, monkeypatch, run, make, expected
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / MINE_DATASET["train"]).touch()
    require_files(make_config({"msi": {}, "b": make_later_run("msi")}))
    require_files(make_config({"msi": {}, "b": make_later_run("results/mine/msi/model.h5")}))
    missing = make_config({"msi": {}, "b": run})
    with pytest.raises(InputError, match=f"runs.b.{expected}paths are relative"):
        require_files(missing)
    make(tmp_path / "mis")
    require_files(missing)


def test_files_of_all_runs_and_of_one() -> None:
    runs = {"msi": {}, "none": {"rerank": 0}, "mine": {"rerank_with": ["b.csv", "a.csv"]}}
    config = make_config(runs, predict={"rerank": 0.2, "rerank_with": ["b/mllm.csv.gz"]})
    expected = [{"mllm": "b/mllm.csv.gz"}, {}, {"a": "a.csv", "b": "b.csv"}]
    assert [find_sources(config, "mine", run) for run in runs] == expected


@pytest.mark.parametrize(
    ("path", "name"),
    [("mllm.csv", "mllm"), ("a/b.c.csv.gz", "b"), ("folder/", "folder"), ("a=b.csv", "a-b")],
)
def test_a_file_gives_a_source_its_name(path, name) -> None:
    assert name_source(path) == name
