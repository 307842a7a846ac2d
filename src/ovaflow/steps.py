"""The table of steps: the facts about each subcommand that the command line, the workflow, the
settings and messages use.

All packages import this module, so it only has references to modules and to models of settings,
which are imported where they are used.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class StepSettings(NamedTuple):
    """Settings that a step reads: fields of a model, filled from sections of a config.

    Attributes
    ----------
    model : str or type
        The model, or a reference to it: ``package.module:Name``.
    sections : tuple of str
        Sections of the config that have the settings.
    fields : tuple of str
        Names of the fields; all fields of the model if empty.
    without : tuple of str
        Names of fields that the step does not read.
    options : mapping
        Options of the command line whose names differ from those of their fields, by field.
    """

    model: str | type
    sections: tuple[str, ...]
    fields: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    options: Mapping[str, str] = MappingProxyType({})


class Step(NamedTuple):
    """A subcommand.

    Attributes
    ----------
    module : str
        Module with a function named after the step.
    help : str
        Its first line of help.
    settings : StepSettings, optional
        Settings that it reads.
    makes : tuple of str
        Kinds of the artifacts that it writes.
    rule : str
        Rule of the workflow that makes them.
    for_people : bool
        Whether ``ovaflow --help`` lists it among the first.
    figure : str
        File of each run of its method that is made only for the report.
    revision : int
        Number that is raised when the step makes other results of the same inputs and settings.
    """

    module: str
    help: str
    settings: StepSettings | None = None
    makes: tuple[str, ...] = ()
    rule: str = ""
    for_people: bool = False
    figure: str = ""
    revision: int = 1


VOCABULARY_REVISION = 2
"""Number that is added to the revisions of steps that read a vocabulary; raised when vocabularies
are read in another way.
"""

LOSS_REVISIONS = MappingProxyType({"squared-hinge": 1, "logistic": 1})
"""Number by loss that is added to the revisions of steps that solve problems with that loss; raised
when the solver comes to find other solutions of them.
"""

PROBLEM_SETTINGS = (
    "loss",
    "regularization",
    "weighting",
    "class_weight",
    "epsilon",
    "propensity_a",
    "propensity_b",
)
"""Settings that decide a label's solution, besides C: its problem, and when it ends."""

ROOT_SETTINGS = ("C", "loss", "root_epsilon")
"""Settings that the solution of the problem without positives depends on."""

STEPS = {
    "train": Step(
        "cli.run",
        "Train on a file of texts and labels, up to the model and a report.",
        for_people=True,
    ),
    "run": Step("cli.run", "Run the pipeline, from a config file to the report.", for_people=True),
    "download": Step("cli.data", "Download a public dataset or a single file.", for_people=True),
    "prepare": Step(
        "cli.data",
        "Turn raw files into dataset.h5.",
        StepSettings("ovaflow.settings.prepare:PrepareSource", ("prepare",), without=("has_test",)),
        makes=("dataset", "sizes", "reading"),
        rule="prepare_dataset",
        for_people=True,
        revision=3,
    ),
    "choose-features": Step(
        "cli.choosing",
        "Choose features of texts on held-out instances.",
        StepSettings(
            "ovaflow.settings.prepare:ChooseFeatures",
            ("prepare", "tune"),
            without=("features", "has_test"),
        ),
        makes=("features",),
        rule="choose_features",
        revision=3,
    ),
    "choose-c": Step(
        "cli.choosing",
        "Choose C on held-out instances.",
        StepSettings(
            "ovaflow.settings.train:ChooseC",
            ("train", "tune", "evaluate"),
            (
                *PROBLEM_SETTINGS,
                "stored_threshold",
                "metric",
                "instances",
                "held_out",
                "candidates",
            ),
        ),
        makes=("C",),
        rule="choose_C",
        revision=3,
    ),
    "hold-out": Step(
        "cli.data",
        "Set training instances aside, for the second stage.",
        makes=("dataset",),
        rule="hold_out_instances",
        revision=3,
    ),
    "hold-out-fold": Step(
        "cli.folds",
        "Set a fold of the training instances aside, for cross-validation.",
        makes=("dataset",),
        rule="hold_out_fold",
        revision=2,
    ),
    "estimate": Step(
        "cli.training",
        "Estimate what training will take: time, memory and model size.",
        makes=("estimate",),
        rule="estimate_training",
        for_people=True,
    ),
    "train-shard": Step(
        "cli.training",
        "Train one shard of a model.",
        makes=("shard", "tree-shard"),
        rule="train_shard",
    ),
    "merge": Step(
        "cli.training",
        "Join trained shards into one model.",
        makes=("model", "training"),
        rule="merge_shards",
    ),
    "predict": Step(
        "cli.predict",
        "Predict the labels of texts, features or a test set.",
        StepSettings("ovaflow.settings.predict:Predict", ("predict",), ("top_k", "optimise")),
        makes=("predictions",),
        rule="predict_labels",
        for_people=True,
    ),
    "explain": Step("cli.explain", "Show which words push labels up and down.", for_people=True),
    "index": Step(
        "cli.models",
        "Write an index for fast scoring of single texts.",
        makes=("index",),
        for_people=True,
    ),
    "rerank": Step(
        "cli.rerank",
        "Fit the second stage, which ranks candidates, on held-out instances.",
        makes=("reranker",),
        rule="fit_reranker",
        revision=5,
    ),
    "evaluate": Step(
        "cli.evaluating",
        "Measure a model on a labelled file or on the test set.",
        StepSettings("ovaflow.settings.train:Propensities", ("evaluate",)),
        makes=("metrics", "analysis"),
        rule="evaluate_predictions",
        for_people=True,
        revision=7,
    ),
    "join-folds": Step(
        "cli.folds",
        "Join the metrics of a cross-validation: means and intervals over folds.",
        makes=("folds",),
        rule="join_folds",
    ),
    "errors": Step(
        "cli.errors",
        "List missed and wrong labels of the test records, worst first.",
        for_people=True,
    ),
    "promote": Step(
        "cli.promote", "Take a new model into use, unless it is worse.", for_people=True
    ),
    "pack": Step(
        "cli.pack",
        "Pack a model with all that it needs and a model card into one file.",
        for_people=True,
    ),
    "unpack": Step("cli.pack", "Unpack a packed model and check it.", for_people=True),
    "reliability": Step(
        "cli.rerank",
        "Measure the probabilities of the second stage.",
        makes=("reliability",),
        rule="measure_reliability",
        revision=4,
    ),
    "doubts": Step(
        "cli.doubts",
        "List training labels that are probably wrong or missing.",
        rule="list_doubts",
        for_people=True,
        revision=3,
    ),
    "report": Step(
        "cli.report",
        "Write the report page.",
        StepSettings(
            "ovaflow.settings.predict:Report", ("report",), ("examples", "intended_use", "licence")
        ),
        rule="write_report",
        for_people=True,
    ),
    "runs": Step("cli.runs", "Compare all runs of a config in one table.", for_people=True),
    "serve": Step("cli.serve", "Answer over HTTP, with a web page.", for_people=True),
    "prune": Step("cli.models", "Drop the smallest weights of a model.", for_people=True),
    "convert": Step(
        "cli.models", "Convert a model to the npz of SciPy and PECOS, or back.", for_people=True
    ),
    "warm-up": Step("cli.warm_up", "Compile every kernel once.", rule="warm_up"),
    "clean": Step(
        "cli.run", "List or remove results that a config no longer has.", for_people=True
    ),
    "snakefile": Step("cli.run", "Print the path of the workflow's Snakefile.", for_people=True),
}
"""Steps by name, in the order in which a run takes them."""
