"""The table of steps: all that the command line, the workflow, the settings and messages know of each subcommand.

It lies below every room, so modules and models of settings are named here and imported where they are used.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Reads(NamedTuple):
    """Settings that a step reads: fields of a model, all of them by default, filled from sections of a config."""

    model: str  # in ovaflow.settings.models
    sections: tuple[str, ...]
    fields: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    options: Mapping[str, str] = MappingProxyType({})  # names of options that differ from their fields'


class Step(NamedTuple):
    module: str  # in ovaflow.cli, with a function named after the step
    help: str
    settings: Reads | None = None
    makes: tuple[str, ...] = ()  # kinds of artifacts
    rule: str = ""  # which makes them in the workflow
    for_people: bool = False  # listed first by ovaflow --help
    method: str = ""  # the runs that have this step; all by default
    figure: str = ""  # file of each of these runs that is made for the report alone
    warm_up: tuple[str, ...] = ()  # commands that compile the kernels, in a folder {0} with a dataset.h5
    revision: int = 1  # raised when the step comes to make other results of the same inputs and settings


_PROBLEM = ("loss", "regularization", "weighting", "epsilon", "propensity_a", "propensity_b")
_OF_LABELS = ("train", "evaluate")

STEPS = {
    "train": Step("run", "Train on a file of texts and labels, up to the model and a report.", for_people=True),
    "run": Step("run", "Run the pipeline, from a config file to the report.", for_people=True),
    "download": Step("data", "Download a public dataset or a single file.", for_people=True),
    "prepare": Step(
        "data",
        "Turn raw files into dataset.h5.",
        Reads("PrepareSource", ("prepare",), without=("has_test",)),
        makes=("dataset", "sizes", "reading"),
        rule="prepare_dataset",
        for_people=True,
    ),
    "choose-features": Step(
        "data",
        "Choose features of texts on held-out instances.",
        Reads("ChooseFeatures", ("prepare", "tune"), without=("features", "has_test")),
        makes=("features",),
        rule="choose_features",
    ),
    "choose-c": Step(
        "data",
        "Choose C on held-out instances.",
        Reads(
            "ChooseC",
            ("train", "tune", "evaluate"),
            (*_PROBLEM, "stored_threshold", "metric", "instances", "held_out", "candidates"),
        ),
        makes=("C",),
        rule="choose_C",
    ),
    "hold-out": Step(
        "data",
        "Set training instances aside, for the second stage.",
        makes=("dataset",),
        rule="hold_out_instances",
    ),
    "means": Step("training", "Compute the means that starting points need.", makes=("means",), rule="compute_means"),
    "label-tree": Step(
        "training",
        "Compute the minimum spanning tree over the labels.",
        makes=("label-tree",),
        rule="compute_label_tree",
    ),
    "estimate": Step(
        "samples",
        "Estimate what training will take: time, memory and model size.",
        Reads("TrainLabels", _OF_LABELS, ("C", *_PROBLEM)),
        makes=("estimate",),
        rule="estimate_training",
        for_people=True,
    ),
    "plan": Step(
        "training",
        "Divide the labels into shards of equal work.",
        makes=("plan",),
        rule="plan_shards",
    ),
    "root": Step(
        "training",
        "Solve the problem without positives.",
        Reads("TrainLabels", _OF_LABELS, ("C", "loss", "root_epsilon")),
        makes=("root",),
        rule="compute_root",
    ),
    "train-shard": Step(
        "training",
        "Train the labels of one shard.",
        Reads("TrainLabels", _OF_LABELS, without=("reference",)),
        makes=("shard",),
        rule="train_shard",
        method="one-vs-all",
    ),
    "train-trees": Step(
        "fastxml",
        "Grow the trees of one shard (fastxml).",
        Reads("GrowTrees", ("fastxml", "train", "evaluate")),
        makes=("tree-shard",),
        rule="train_trees",
        method="fastxml",
        warm_up=("train-trees {0}/dataset.h5 --trees=1 --output={0}/tree-shard.h5",),
    ),
    "embed": Step(
        "rembrandt",
        "Embed the labels in a few dimensions (rembrandt).",
        Reads("Embed", ("rembrandt",)),
        makes=("embedding",),
        rule="embed_labels",
        method="rembrandt",
        warm_up=("embed {0}/dataset.h5 --rank=4 --output={0}/embedding.h5",),
    ),
    "project": Step(
        "rembrandt",
        "Project the training instances into an embedding (rembrandt).",
        Reads("Project", ("rembrandt",)),
        makes=("projected",),
        rule="project_instances",
        method="rembrandt",
        warm_up=("project {0}/dataset.h5 --embedding={0}/embedding.h5 --output={0}/projected.h5",),
    ),
    "tune-decoder": Step(
        "rembrandt",
        "Choose the settings of a decoder (rembrandt).",
        Reads("TuneDecoder", ("rembrandt",), options={"decoder_C": "C", "decoder_epsilon": "epsilon"}),
        makes=("tuned",),
        rule="tune_decoder",
        method="rembrandt",
        warm_up=(
            "tune-decoder {0}/projected.h5 --dataset={0}/dataset.h5 --embedding={0}/embedding.h5"
            " --output={0}/decoder.json",
        ),
    ),
    "train-decoder": Step(
        "rembrandt",
        "Train one shard of a decoder (rembrandt).",
        makes=("shard",),
        rule="train_decoder",
        method="rembrandt",
        warm_up=("train-decoder {0}/projected.h5 --tuned={0}/decoder.json --output={0}/decoder.h5",),
    ),
    "merge": Step(
        "models",
        "Join trained shards into one model.",
        Reads("Train", ("train",), ("prune",)),
        makes=("model", "training"),
        rule="merge_shards",
        method="one-vs-all",
    ),
    "merge-trees": Step(
        "fastxml",
        "Join grown trees into one model (fastxml).",
        makes=("model", "training"),
        rule="merge_trees",
        method="fastxml",
        warm_up=(
            "merge-trees {0}/tree-shard.h5 --dataset={0}/dataset.h5 --output={0}/trees.h5"
            " --statistics={0}/tree-training.h5",
            "predict {0}/trees.h5 --dataset={0}/dataset.h5 --output={0}/tree-predictions.h5",
        ),
    ),
    "join-decoder": Step(
        "rembrandt",
        "Join a projection and its decoder into one model (rembrandt).",
        makes=("model", "training"),
        rule="join_decoder",
        method="rembrandt",
        warm_up=(
            "join-decoder {0}/decoder.h5 --tuned={0}/decoder.json --projected={0}/projected.h5"
            " --dataset={0}/dataset.h5 --output={0}/embedded.h5 --statistics={0}/embedded-training.h5",
            "predict {0}/embedded.h5 --dataset={0}/dataset.h5 --output={0}/embedded-predictions.h5",
        ),
    ),
    "predict": Step(
        "predict",
        "Predict the labels of texts, features or a test set.",
        Reads("Predict", ("predict",), ("top_k", "optimise")),
        makes=("predictions",),
        rule="predict_labels",
        for_people=True,
    ),
    "explain": Step("explain", "Show which words push labels up and down.", for_people=True),
    "index": Step("models", "Write an index for fast scoring of single texts.", makes=("index",), for_people=True),
    "rerank": Step(
        "rerank",
        "Fit the second stage, which ranks candidates, on held-out instances.",
        makes=("reranker",),
        rule="fit_reranker",
        warm_up=(
            "hold-out {0}/dataset.h5 --output={0}/held.h5",
            "means {0}/held.h5 --output={0}/held-means.h5",
            "plan {0}/held.h5 --shards=1 --output={0}/held-plan.tsv",
            "train-shard {0}/held.h5 --means={0}/held-means.h5 --plan={0}/held-plan.tsv --shard=0"
            " --output={0}/held-shard.h5",
            "merge {0}/held-shard.h5 --dataset={0}/held.h5 --output={0}/held-model.h5"
            " --statistics={0}/held-training.h5",
            "predict {0}/held-model.h5 --dataset={0}/held.h5 --output={0}/held-predictions.h5",
            "rerank {0}/model.h5 --dataset={0}/dataset.h5 --held-out={0}/held.h5"
            " --predictions={0}/held-predictions.h5 --output={0}/reranker.h5",
            "predict {0}/model.h5 --dataset={0}/dataset.h5 --output={0}/reranked.h5",
        ),
    ),
    "evaluate": Step(
        "evaluating",
        "Measure a model on a labelled file or on the test set.",
        Reads("Evaluate", ("evaluate",)),
        makes=("metrics", "analysis", "reference"),
        rule="evaluate_predictions",
        for_people=True,
    ),
    "promote": Step("promote", "Take a new model into use, unless it is worse.", for_people=True),
    "pack": Step("pack", "Pack a model with all that it needs and a model card into one file.", for_people=True),
    "unpack": Step("pack", "Unpack a packed model and check it.", for_people=True),
    "reliability": Step(
        "rerank",
        "Measure the probabilities of the second stage.",
        makes=("reliability",),
        rule="measure_reliability",
    ),
    "doubts": Step(
        "doubts",
        "List training labels that are probably wrong or missing.",
        rule="list_doubts",
        for_people=True,
    ),
    "prune-curve": Step(
        "evaluating",
        "Measure a model pruned at larger thresholds.",
        Reads("Evaluate", ("evaluate",)),
        makes=("prune-curve",),
        rule="measure_pruning",
    ),
    "tree-curve": Step(
        "fastxml",
        "Measure a model by number of trees (fastxml).",
        Reads("Evaluate", ("evaluate",)),
        makes=("tree-curve",),
        rule="measure_trees",
        method="fastxml",
        figure="trees.json",
    ),
    "describe-embedding": Step(
        "rembrandt",
        "Measure an embedding by its rank (rembrandt).",
        makes=("embedding-description",),
        rule="describe_embedding",
        method="rembrandt",
        figure="embedding.json",
    ),
    "report": Step(
        "report",
        "Write the report page.",
        Reads("Report", ("report",), ("examples", "intended_use", "licence")),
        rule="write_report",
        for_people=True,
    ),
    "serve": Step("serve", "Answer over HTTP, with a web page.", for_people=True),
    "prune": Step("models", "Shrink a model to a given size.", for_people=True),
    "convert": Step("models", "Convert a model to the npz of SciPy and PECOS, or back.", for_people=True),
    "warm-up": Step("warm_up", "Compile every kernel once.", rule="warm_up"),
    "clean": Step("run", "List or remove results that a config no longer has.", for_people=True),
    "snakefile": Step("run", "Print the path of the workflow's Snakefile.", for_people=True),
}
"""By name, in the order in which a run takes them."""

METHODS = tuple(dict.fromkeys(step.method for step in STEPS.values() if step.method))
"""As in configs and in the ``parameters["train"]["method"]`` of models; each has rules in workflow/rules."""


def warm_up_of(method: str) -> list[str]:
    """Commands that compile the kernels of a method."""
    return [command for step in STEPS.values() if step.method == method for command in step.warm_up]
