"""What each step depends on, and the options that its command is given."""

import re
from pathlib import Path

import pytest

from ovaflow.methods import all_steps, find_method
from ovaflow.settings import inputs, paths
from ovaflow.settings.config import resolve
from ovaflow.settings.predict import CANDIDATES

ROOT = Path(__file__).parents[2]
MINE = {"mine": {"format": "csv", "train": "a b'c;d.csv.gz", "propensity_a": 0.6}}


def settings(datasets=MINE, runs=None, **sections):
    return resolve({"datasets": datasets, "runs": runs or {"msi": {}}, **sections}, {})


def options(step, run=None, dataset="mine", **sections):
    config = settings(runs={"a": run or {}}, **sections)
    return inputs.as_options(inputs.parameters_of(step, config, dataset, "a"))


PROBLEM = ["--C=1.0", "--loss=squared-hinge", "--regularization=l2", "--weighting=none", "--epsilon=auto"]
WEIGHTED = [*PROBLEM[:3], "--weighting=propensity", PROBLEM[4]]
LOGISTIC = ["--C=1.0", "--loss=logistic", *PROBLEM[2:]]
READ = [
    "--text-column=text", "--labels-column=labels", "--label-separator=,", "--labels-are=auto", "--first-label=0",
    "--missing=auto", "--encoding=utf-8", "--quotes=auto", "--no-html", "--repeated=keep",
]  # fmt: skip
PREPARE = [
    *READ, "--features=words", "--features=prefixes=6", "--label-names", "--tfidf=true", "--min-df=2",
    "--max-df=0.5", "--sublinear", "--normalize", "--bias=1.0",
    "--test-fraction=0.2", "--seed=0", "--split=together", "--unlabelled=keep", "--format=csv",
]  # fmt: skip
MSI = ["--s=1.0", "--t=-2.0"]
LAST = "--stored-threshold=0.01"
FEATURES = {"mine": {"format": "xmc-text", "train": "a", "test": "b", "normalize": False}}
TESTED = {"mine": {"format": "csv", "train": "a", "test": "b"}}
FASTXML, REMBRANDT = {"method": "fastxml"}, {"method": "rembrandt"}
OLD = {"initialization": "pretrained", "pretrained": "model.h5"}


def start(name):
    return f"--initialization={name}"


@pytest.mark.parametrize(
    ("step", "run", "sections", "expected"),
    [
        ("prepare", {}, {}, PREPARE),
        ("prepare", {}, {"datasets": FEATURES}, [
            "--first-label=0", "--tfidf=false", "--no-normalize", "--bias=1.0", "--unlabelled=keep",
            "--format=xmc-text",
        ]),
        ("prepare", {}, {"prepare": {"split": "last", "split_column": "year"}},
         [*PREPARE[:20], "--split=last", "--split-column=year", *PREPARE[22:]]),
        ("prepare", {}, {"prepare": {"split_column": "part"}}, [*PREPARE[:19], "--split-column=part", *PREPARE[22:]]),
        ("prepare", {}, {"prepare": {"split": "random"}, "datasets": TESTED},
         [*PREPARE[:19], "--split=random", *PREPARE[22:]]),
        ("prepare", {}, {"prepare": {"split": "last", "group_column": "series"}, "datasets": TESTED},
         [*PREPARE[:19], "--group-column=series", *PREPARE[22:]]),
        ("choose-features", {}, {"tune": {"candidates": {"features": [["words", {"stems": ["german", "english"]}]]}}}, [
            *READ, *PREPARE[12:], "--metric=nDCG@5", "--held-out=0.1",
            "--candidates=words+stems=german,english",
        ]),
        ("choose-c", {"C": "auto"}, {"tune": {"metric": "PSP@5", "instances": 500, "candidates": {"C": 3}}}, [
            "--loss=squared-hinge", "--regularization=l2", "--weighting=none", "--epsilon=auto",
            "--stored-threshold=0.01", "--metric=PSP@5", "--instances=500", "--held-out=0.1",
            "--candidates=3.0",
        ]),
        ("merge", {"prune": 0.1}, {"train": {"threads": 3}}, ["--prune=0.1"]),
        ("train-shard", {}, {}, [*PROBLEM, *MSI, start("mean-separating"), LAST]),
        ("train-shard", {"t": -2}, {"train": {"bias_lambda": 9}}, [*PROBLEM, *MSI, start("mean-separating"), LAST]),
        ("train-shard", {"loss": "logistic"}, {}, [*LOGISTIC, "--s=1.0", "--t=-3.0", start("mean-separating"), LAST]),
        ("train-shard", {"initialization": "zero"}, {}, [*PROBLEM, start("zero"), LAST]),
        ("train-shard", {"initialization": "bias"}, {}, [*PROBLEM, "--bias-lambda=2.0", start("bias"), LAST]),
        ("train-shard", {"initialization": "all-negative"}, {},
         [*PROBLEM, "--root-epsilon=0.01", start("all-negative"), LAST]),
        ("train-shard", {"initialization": "label-tree"}, {},
         [*PROBLEM, "--root-epsilon=0.01", start("label-tree"), LAST]),
        ("train-shard", OLD | {"retrain": "new"}, {}, [*PROBLEM, *MSI, "--retrain=new", start("pretrained"), LAST]),
        ("train-shard", {"weighting": "propensity"}, {},
         [*WEIGHTED, *MSI, "--propensity-a=0.6", "--propensity-b=1.5", start("mean-separating"), LAST]),
        ("train-shard", {"prune": 0.001}, {},
         [*PROBLEM, *MSI, start("mean-separating"), "--stored-threshold=0.001"]),
        ("root", {"initialization": "label-tree"}, {}, ["--C=1.0", "--loss=squared-hinge", "--root-epsilon=0.01"]),
        ("train-shard", FASTXML | {"trees": 7, "balanced": False}, {"fastxml": {"trees": 9, "max_leaf": 4}}, [
            "--trees=7", "--max-leaf=4", "--leaf-labels=20", "--C-delta=1.0", "--C-r=1.0", "--no-balanced",
            "--objective=nDCG", "--updates=1", "--outer-iterations=10", "--inner-iterations=10", "--seed=0",
            "--weighting=none",
        ]),
        ("embed", REMBRANDT | {"rank": 7, "ridge": [0, 2.5]}, {"rembrandt": {"rank": 9}}, [
            "--rank=7", "--embedding=rembrandt", "--oversampling=20", "--passes=1", "--ridge=0.0", "--ridge=2.5",
            "--seed=0",
        ]),
        ("embed", REMBRANDT | {"embedding": "none", "rank": 7}, {}, ["--embedding=none"]),
        ("project", REMBRANDT, {}, ["--decoder=auto", "--features=linear"]),
        ("project", REMBRANDT | {"features": "laplacian", "bandwidth": 2}, {}, [
            "--decoder=auto", "--features=laplacian", "--random-features=4000", "--bandwidth=2.0", "--seed=0",
        ]),
        ("tune-decoder", REMBRANDT | {"decoder_C": [1, 10]}, {},
         ["--C=1.0", "--C=10.0", "--epsilon=0.1", "--held-out=0.1", "--seed=0"]),
        ("predict", {"threads": 9}, {"predict": {"top_k": 7}}, ["--top-k=7"]),
        ("evaluate", {}, {"evaluate": {"propensity_b": 2.6}}, ["--propensity-a=0.6", "--propensity-b=2.6"]),
        ("report", {}, {"report": {"licence": "MIT"}}, ["--examples=10", "--licence=MIT"]),
    ],
)  # fmt: skip
def test_settings_that_a_step_depends_on(step, run, sections, expected):
    assert options(step, run, **sections) == expected


def test_what_an_estimate_is_made_with():
    config = settings(runs={"a": {"initialization": "zero", "prune": 0.001}, "b": FASTXML | {"trees": 7}})
    assert find_method("one-vs-all").estimate_options(config, "mine", "a") == [
        *PROBLEM,
        "--prune=0.001",
        "--labels=200",
    ]
    assert "--trees=7" in find_method("fastxml").estimate_options(config, "mine", "b")


def test_features_are_chosen_for_texts_alone_and_C_where_it_is_auto():
    config = settings({"texts": MINE["mine"], "counts": FEATURES["mine"]}, prepare={"features": "auto"})
    assert inputs.chosen_features(config, "texts") == {"chosen_features": "results/texts/features.json"}
    assert inputs.chosen_features(config, "counts") == {}
    assert not any(
        "features" in option for option in inputs.as_options(inputs.parameters_of("prepare", config, "counts"))
    )
    config = settings(runs={"a": {"C": "auto"}, "b": {}})
    chosen = "results/mine/C/squared-hinge-l2-none-Cauto-epsilonauto-stored0.01.json"
    assert inputs.start_files(config, "mine", "a")["chosen_C"] == chosen
    assert inputs.start_files(config, "mine/held-out-0.2", "a")["chosen_C"] == chosen
    assert "chosen_C" not in inputs.start_files(config, "mine", "b")


@pytest.mark.parametrize(("format_", "separates"), [("text-tsv", True), ("jsonl", True), ("annif", False)])
def test_texts_whose_labels_are_separated(format_, separates):
    config = settings({"mine": {"format": format_, "train": "a"}})
    assert ("label_separator" in inputs.parameters_of("prepare", config, "mine")) == separates


def test_stop_words_in_a_file_are_a_file_of_the_dataset():
    for source, options, files in (("german", ["--stop-words=german"], {}), ("./x.txt", [], {"stop_words": "./x.txt"})):
        config = settings(prepare={"stop_words": source})
        parameters = inputs.as_options(inputs.parameters_of("prepare", config, "mine"))
        assert [option for option in parameters if "stop" in option] == options
        assert {name: path for name, path in paths.raw_files(config, "mine").items() if name != "train"} == files


def test_new_names_of_labels_are_a_file_of_the_dataset():
    config = settings(prepare={"label_map": "map.csv"})
    assert "label_map" not in inputs.parameters_of("prepare", config, "mine")
    assert paths.raw_files(config, "mine")["label_map"] == "map.csv"


def test_a_fold_is_trained_as_its_dataset_and_more_labels_are_kept():
    config = settings(runs={"a": {"weighting": "propensity"}}, predict={"rerank": 0.1})
    fold = paths.fold_of(config, "mine", "a")
    assert inputs.parameters_of("train-shard", config, fold, "a") == inputs.parameters_of(
        "train-shard", config, "mine", "a"
    )
    assert inputs.parameters_of("predict", config, fold, "a") == {"top_k": CANDIDATES}


def test_kernels_of_all_runs():
    runs = {"a": {}, "b": {"loss": "logistic", "regularization": "l1"}, "c": FASTXML, "d": REMBRANDT}
    expected = ["--problem=logistic/l1", "--problem=squared-hinge/l2", "--fastxml", "--rembrandt"]
    assert inputs.warm_up_options(settings(runs=runs, predict={"rerank": 0})) == expected
    assert inputs.warm_up_options(settings(runs=runs | {"b": {}})) == [
        "--problem=squared-hinge/l2",
        *expected[2:],
        "--rerank",
    ]


def test_a_sweep_has_the_problem_of_its_first_run_and_a_fold_that_of_its_dataset():
    config = settings(runs={"a": {"sweep": {"C": [0.3, 1, 3]}}, "b": {"C": 0.3}})
    found = {
        inputs.estimate_key(config, dataset, run) for run in config.runs for dataset in ("mine", "mine/held-out-0.2")
    }
    assert found == {"squared-hinge-l2-none-C0.3-epsilonauto-stored0.01"}
    assert "propensity-0.6-1.5" in inputs.estimate_key(settings(runs={"a": {"weighting": "propensity"}}), "mine", "a")


def test_rules_of_the_table_are_those_of_the_workflow():
    files = (ROOT / "workflow" / "rules").glob("*.smk")
    written = {rule for file in files for rule in re.findall(r"^rule (\w+):", file.read_text(), re.MULTILINE)}
    ours = {step.rule for step in all_steps().values() if step.rule}
    assert written - ours == {"download_dataset", "download_file"}
    assert ours <= written


def test_empty_lists_are_options_where_they_are_no_default():
    assert "--missing=[]" in options("prepare", prepare={"missing": []})
    assert "--include=[]" not in options("prepare", prepare={"include": []})
