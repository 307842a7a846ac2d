"""Settings that each step depends on, and the options of its command."""

import re
from pathlib import Path

import pytest
import yaml
from config_factory import MINE_DATASET, make_config

from ovaflow.registry import all_steps, find_method
from ovaflow.settings import inputs, paths
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.settings.train import Propensities
from ovaflow.steps import PROBLEM_SETTINGS

ROOT = Path(__file__).parents[2]


def make_options(step, run=None, mine=MINE_DATASET, dataset="mine", **sections) -> str:
    """Return the options of a step's command, without dashes."""
    config = make_config({"a": run or {}}, mine, **sections)
    given = inputs.format_options(inputs.make_step_parameters(step, config, dataset, "a"))
    assert all(option.startswith("--") for option in given)
    return " ".join(option[2:] for option in given)


SOLVE = "C=1.0 loss={} regularization=l2 weighting=none epsilon=auto"
PROBLEM = SOLVE.format("squared-hinge")
MSI = "s=1.0 t=-2.0"
LAST = "stored-threshold=0.01"
READ = (
    "text-column=text labels-column=labels label-separator=auto label-enclosure=auto "
    "labels-are=auto not-judged=negative first-label=0 missing=auto encoding=utf-8 quotes=auto no-html repeated=keep"
)
TERMS = "label-names tfidf=true min-df=2 max-df=0.5 sublinear normalize bias=1.0"
WORDS = f"{READ} features=words features=prefixes=6 features=names=vocabulary {TERMS}"
SPLIT = "test-fraction=0.2 seed=0 split=together"
END = "unlabelled=keep format=csv"
FEATURES = {"format": "xmc-text", "train": "a", "test": "b", "normalize": False}
TESTED = {"format": "csv", "train": "a", "test": "b"}
FASTXML = {"method": "fastxml"}
REMBRANDT = {"method": "rembrandt"}


@pytest.mark.parametrize(
    ("step", "config", "expected"),
    [
        ("prepare", "", f"{WORDS} {SPLIT} {END}"),
        (
            "prepare",
            "prepare: {words: symbols}",
            f"{WORDS.replace(TERMS, 'words=symbols ' + TERMS)} {SPLIT} {END}",
        ),
        (
            "prepare",
            "mine: {format: xmc-text, train: a, test: b, normalize: false}",
            "first-label=0 tfidf=false no-normalize bias=1.0 unlabelled=keep format=xmc-text",
        ),
        (
            "prepare",
            "prepare: {split: last, split_column: year}",
            f"{WORDS} test-fraction=0.2 split=last split-column=year {END}",
        ),
        ("prepare", "prepare: {split_column: part}", f"{WORDS} split-column=part {END}"),
        (
            "prepare",
            "{prepare: {split: random}, mine: {format: csv, train: a, test: b}}",
            f"{WORDS} split=random {END}",
        ),
        (
            "prepare",
            (
                "{prepare: {split: last, group_column: series}, "
                "mine: {format: csv, train: a, test: b}}"
            ),
            f"{WORDS} group-column=series {END}",
        ),
        (
            "choose-features",
            "tune: {candidates: {features: [[words, {stems: [german, finnish]}]]}}",
            (
                f"{READ} {TERMS} {SPLIT} {END} metric=nDCG@5 held-out=0.1 "
                f"candidates=words+stems=german,finnish"
            ),
        ),
        (
            "choose-c",
            "{run: {C: auto}, tune: {metric: PSP@5, instances: 500, candidates: {C: 3}}}",
            f"{PROBLEM[6:]} {LAST} metric=PSP@5 instances=500 held-out=0.1 candidates=3.0",
        ),
        ("merge", "{run: {prune: 0.1}, train: {threads: 3}}", "prune=0.1"),
        ("train-shard", "", f"{PROBLEM} {MSI} initialization=mean-separating {LAST}"),
        (
            "train-shard",
            "{run: {t: -2}, train: {bias_lambda: 9}}",
            f"{PROBLEM} {MSI} initialization=mean-separating {LAST}",
        ),
        ("train-shard", "run: {initialization: zero}", f"{PROBLEM} initialization=zero {LAST}"),
        (
            "train-shard",
            "run: {initialization: bias}",
            f"{PROBLEM} bias-lambda=2.0 initialization=bias {LAST}",
        ),
        (
            "train-shard",
            "run: {initialization: all-negative}",
            f"{PROBLEM} root-epsilon=0.01 initialization=all-negative {LAST}",
        ),
        (
            "train-shard",
            "run: {initialization: label-tree}",
            f"{PROBLEM} root-epsilon=0.01 initialization=label-tree {LAST}",
        ),
        (
            "train-shard",
            "run: {initialization: pretrained, pretrained: model.h5, retrain: new}",
            f"{PROBLEM} {MSI} retrain=new initialization=pretrained {LAST}",
        ),
        (
            "train-shard",
            "run: {loss: logistic}",
            f"{SOLVE.format('logistic')} s=1.0 t=-3.0 initialization=mean-separating {LAST}",
        ),
        (
            "train-shard",
            "run: {weighting: propensity, prune: 0.001}",
            f"{PROBLEM.replace('none', 'propensity')} {MSI} propensity-a=0.6 propensity-b=1.5 "
            "initialization=mean-separating stored-threshold=0.001",
        ),
        ("root", "run: {initialization: label-tree}", "C=1.0 loss=squared-hinge root-epsilon=0.01"),
        (
            "train-shard",
            "{run: {method: fastxml, trees: 7, balanced: false}, fastxml: {trees: 9, max_leaf: 4}}",
            "trees=7 max-leaf=4 leaf-labels=20 C-delta=1.0 C-r=1.0 no-balanced objective=nDCG "
            "updates=1 "
            "outer-iterations=10 inner-iterations=10 seed=0 weighting=none",
        ),
        (
            "embed",
            "{run: {method: rembrandt, rank: 7, ridge: [0, 2.5]}, rembrandt: {rank: 9}}",
            "rank=7 embedding=rembrandt oversampling=20 passes=1 ridge=0.0 ridge=2.5 seed=0",
        ),
        ("embed", "run: {method: rembrandt, embedding: none, rank: 7}", "embedding=none"),
        ("project", "run: {method: rembrandt}", "decoder=auto features=linear"),
        (
            "project",
            "run: {method: rembrandt, features: laplacian, bandwidth: 2}",
            "decoder=auto features=laplacian random-features=4000 bandwidth=2.0 seed=0",
        ),
        (
            "tune-decoder",
            "run: {method: rembrandt, decoder_C: [1, 10]}",
            "C=1.0 C=10.0 epsilon=0.1 held-out=0.1 seed=0",
        ),
        ("predict", "{run: {threads: 9}, predict: {top_k: 7}}", "top-k=7"),
        ("evaluate", "evaluate: {propensity_b: 2.6}", "propensity-a=0.6 propensity-b=2.6"),
        ("report", "report: {licence: MIT}", "examples=5 licence=MIT"),
    ],
)
def test_settings_that_a_step_depends_on(step, config, expected) -> None:
    """``run`` and ``mine`` are the entries of the run and of its dataset."""
    assert make_options(step, **(yaml.safe_load(config) or {})) == expected


def test_what_an_estimate_is_made_with() -> None:
    config = make_config(
        {"a": {"initialization": "zero", "prune": 0.001}, "b": FASTXML | {"trees": 7}}
    )
    ours = find_method("one-vs-all").estimate_options(config, "mine", "a")
    assert ours == [f"--{option}" for option in f"{PROBLEM} prune=0.001 labels=200".split()]
    assert "--trees=7" in find_method("fastxml").estimate_options(config, "mine", "b")


def test_features_are_chosen_for_texts_alone_and_C_where_it_is_auto() -> None:
    datasets = {"texts": TESTED, "counts": FEATURES}
    config = make_config(
        {"a": {"C": "auto"}, "b": {}}, datasets=datasets, prepare={"features": "auto"}
    )
    assert inputs.find_chosen_features(config, "texts") == {
        "chosen_features": "results/texts/features.json"
    }
    assert inputs.find_chosen_features(config, "counts") == {}
    assert "features" not in inputs.make_step_parameters("prepare", config, "counts")
    chosen = "results/texts/C/squared-hinge-l2-none-Cauto-epsilonauto-stored0.01.json"
    for dataset in ("texts", "texts/held-out-0.2"):
        assert inputs.find_start_files(config, dataset, "a")["chosen_C"] == chosen
    assert "chosen_C" not in inputs.find_start_files(config, "texts", "b")


def test_weights_are_pruned_alike_with_and_without_held_out_instances() -> None:
    config = make_config(
        {"a": {"rerank": 0.2}, "b": {"rerank": 0.2, "prune": 0.1}, "c": {"rerank": 0}}
    )
    chosen = "results/mine/{}a/chosen_prune.json".format
    for place, file in [
        ("", chosen("")),
        ("/held-out-0.2", chosen("")),
        ("/fold-1-of-5", chosen("fold-1-of-5/")),
    ]:
        assert inputs.find_chosen_prune(config, f"mine{place}", "a") == {"chosen_prune": file}
        assert (
            inputs.find_chosen_prune(config, f"mine{place}", "b")
            == inputs.find_chosen_prune(config, f"mine{place}", "c")
            == {}
        )


@pytest.mark.parametrize(
    ("format_", "separates"), [("text-tsv", True), ("jsonl", True), ("annif", False)]
)
def test_texts_whose_labels_are_separated(format_, separates) -> None:
    given = make_options("prepare", mine={"format": format_, "train": "a"})
    assert ("label-separator=" in given) == separates


@pytest.mark.parametrize(
    ("name", "source", "is_file"),
    [
        ("stop_words", "german", False),
        ("stop_words", "./x.txt", True),
        ("label_map", "map.csv", True),
    ],
)
def test_what_is_in_a_file_is_a_file_of_the_dataset(name, source, is_file) -> None:
    config = make_config(prepare={name: source})
    assert inputs.make_step_parameters("prepare", config, "mine").get(name) == (
        None if is_file else source
    )
    assert paths.find_raw_files(config, "mine").get(name) == (source if is_file else None)


def test_a_fold_is_trained_as_its_dataset_and_more_labels_are_kept() -> None:
    fold = "mine/held-out-0.1"
    run = {"weighting": "propensity"}
    sections = {"predict": {"rerank": 0.1}}
    assert paths.name_derived_datasets(make_config({"a": run}, **sections)) == [fold]
    assert make_options("train-shard", run, dataset=fold, **sections) == make_options(
        "train-shard", run, **sections
    )
    assert make_options("predict", run, dataset=fold, **sections) == f"top-k={N_CANDIDATES}"


@pytest.mark.parametrize(
    ("loss", "rerank", "expected"),
    [("logistic/l1", 0, ["--problem=logistic/l1"]), ("squared-hinge/l2", "auto", [])],
)
def test_kernels_of_all_runs(loss, rerank, expected) -> None:
    b = dict(zip(("loss", "regularization"), loss.split("/"), strict=True))
    expected += [
        "--problem=squared-hinge/l2",
        "--fastxml",
        "--rembrandt",
        *["--rerank"] * (rerank == "auto"),
    ]
    config = make_config(
        {"a": {}, "b": b, "c": FASTXML, "d": REMBRANDT}, predict={"rerank": rerank}
    )
    assert inputs.make_warm_up_options(config) == expected


def test_a_sweep_has_the_problem_of_its_first_run_and_a_fold_that_of_its_dataset() -> None:
    config = make_config({"a": {"sweep": {"C": [0.3, 1, 3]}}, "b": {"C": 0.3}})
    found = set()
    for run in config.runs:
        for dataset in ("mine", "mine/held-out-0.2"):
            found.add(inputs.make_problem_name(config, dataset, run))
    assert found == {"squared-hinge-l2-none-C0.3-epsilonauto-stored0.01"}
    assert "propensity-0.6-1.5" in inputs.make_problem_name(
        make_config({"a": {"weighting": "propensity"}}), "mine", "a"
    )


OTHER_VALUES = {
    "loss": "logistic",
    "regularization": "l1",
    "weighting": "propensity",
    "class_weight": "balanced",
    "epsilon": 0.1,
    "propensity_a": 0.7,
    "propensity_b": 2.0,
}


@pytest.mark.parametrize("name", PROBLEM_SETTINGS)
def test_each_setting_of_the_problem_changes_its_name(name) -> None:
    changed = {name: OTHER_VALUES[name]}
    if name in Propensities.model_fields:
        run = {"weighting": "propensity"}
        before = make_config({"a": run})
        after = make_config({"a": run}, MINE_DATASET | changed)
    else:
        before = make_config()
        after = make_config({"a": changed})
    names = {inputs.make_problem_name(config, "mine", "a") for config in (before, after)}
    assert len(names) == 2


def test_rules_of_the_table_are_those_of_the_workflow() -> None:
    files = (ROOT / "workflow" / "rules").glob("*.smk")
    written = set()
    for file in files:
        written |= set(re.findall(r"^rule (\w+):", file.read_text(), re.MULTILINE))
    ours = {step.rule for step in all_steps().values() if step.rule}
    assert written - ours == {"download_dataset", "download_file"}
    assert ours <= written


def test_empty_lists_are_options_where_they_are_no_default() -> None:
    given = make_options("prepare", prepare={"missing": [], "include": []}).split()
    assert "missing=[]" in given
    assert "include=[]" not in given
