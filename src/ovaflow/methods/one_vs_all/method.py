"""One-vs-all as a method: a plan divides its labels, and steps of its own compute their starts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ovaflow.steps import (
    LOSS_REVISIONS,
    PROBLEM_SETTINGS,
    ROOT_SETTINGS,
    Step,
    StepSettings,
)
from ovaflow.training.method import InputFile, Method

if TYPE_CHECKING:
    from ovaflow.console.errors import StrPath
    from ovaflow.dataset.dataset import Dataset
    from ovaflow.estimate.demand import Request
    from ovaflow.estimate.sample import Sample
    from ovaflow.model.one_vs_all import OneVsAll
    from ovaflow.model.training_file import Shard
    from ovaflow.settings.configuration import Config
    from ovaflow.settings.train import SampleLabels, Train, TrainLabels
    from ovaflow.training.shares import Share

_TRAIN_SECTIONS = ("train", "evaluate")
_EARLIER_MODEL = InputFile("Model that --initialization=pretrained starts from.", required=False)


class OneVsAllMethod(Method):
    """The method ``one-vs-all``."""

    name = "one-vs-all"
    model = "ovaflow.model.one_vs_all:OneVsAll"
    shard = "ovaflow.model.training_file:Shard"
    settings = "ovaflow.settings.train:TrainLabels"
    section = "ovaflow.settings.train:Train"
    divided_by_plan = True
    revisions: ClassVar = {"train-shard": 1, "merge": 2}
    sampled = "labels with positives"
    # ovaflow warm-up compiles its kernels for each problem
    warm_up = ()
    training_files: ClassVar = {
        "means": InputFile("Means of the dataset, by ovaflow means."),
        "plan": InputFile("Table of shards, by ovaflow plan."),
        "root": InputFile(
            "Solution without positives, by ovaflow root, for the starts that need it.",
            required=False,
        ),
        "label_tree": InputFile(
            "Label tree, by ovaflow label-tree, for the start of that name.", required=False
        ),
        "earlier": _EARLIER_MODEL,
    }
    sampling_files: ClassVar = {"earlier": _EARLIER_MODEL}
    merging_files: ClassVar = {
        "chosen_prune": InputFile(
            "Threshold for --prune=auto, by ovaflow choose-prune.", required=False
        )
    }
    steps: ClassVar = {
        "means": Step(
            "methods.one_vs_all.commands",
            "Compute the means that starting points need.",
            makes=("means",),
            rule="compute_means",
        ),
        "label-tree": Step(
            "methods.one_vs_all.commands",
            "Compute the minimum spanning tree over the labels.",
            makes=("label-tree",),
            rule="compute_label_tree",
        ),
        "plan": Step(
            "methods.one_vs_all.commands",
            "Divide the labels into shards of equal work.",
            makes=("plan",),
            rule="plan_shards",
        ),
        "root": Step(
            "methods.one_vs_all.commands",
            "Solve the problem without positives.",
            StepSettings("ovaflow.settings.train:TrainLabels", _TRAIN_SECTIONS, ROOT_SETTINGS),
            makes=("root",),
            rule="compute_root",
        ),
        "choose-prune": Step(
            "methods.one_vs_all.commands",
            "Choose the threshold below which weights are dropped, on held-out instances.",
            StepSettings("ovaflow.settings.train:Propensities", ("evaluate",)),
            revision=2,
            makes=("prune",),
            rule="choose_prune",
        ),
    }

    training_steps = ("root", "train-shard")

    def reads(self, step: str) -> StepSettings | None:
        """Return the settings that a step reads; None for other steps."""
        if step == "train-shard":
            return StepSettings(
                "ovaflow.settings.train:TrainLabels", _TRAIN_SECTIONS, without=("reference",)
            )
        if step == "estimate":
            return StepSettings(
                "ovaflow.settings.train:SampleLabels",
                _TRAIN_SECTIONS,
                without=("reference", "stored_threshold"),
                options={"sample": "labels"},
            )
        if step == "merge":
            return StepSettings("ovaflow.settings.train:Train", ("train",), ("prune",))
        return None

    def find_revision(self, step: str, settings: "TrainLabels | Train") -> int:
        """Find the revision of a step under its settings: that of training depends on the loss."""
        revision = super().find_revision(step, settings)
        if step == "train-shard":
            revision += LOSS_REVISIONS[settings.loss]
        return revision

    def share(
        self,
        dataset: "Dataset",
        settings: "TrainLabels",
        files: "Mapping[str, StrPath | None]",
        shard: int,
        shards: int,
    ) -> "Share":
        """Describe the training of one shard."""
        from ovaflow.methods.one_vs_all.share import make_plan_share

        given = {name: Path(path) for name, path in files.items() if path is not None}
        return make_plan_share(dataset, settings, given, shard)

    def describe(self, shard: "Shard") -> str:
        """Describe a shard in words."""
        from ovaflow.methods.one_vs_all.share import describe_shard

        return describe_shard(shard)

    def merge(
        self,
        shards: "Sequence[StrPath]",
        dataset: "Dataset",
        settings: "Train",
        files: "Mapping[str, StrPath | None]",
        model_path: "StrPath",
        training_path: "StrPath",
    ) -> str:
        """Join shards into a model, and index it; describe the model in words."""
        from ovaflow.model.index import renew_index
        from ovaflow.model.merge import merge
        from ovaflow.model.model_file import LabelWeights
        from ovaflow.tuning.pruning import resolve_threshold

        threshold = resolve_threshold(settings.prune, dataset, files.get("chosen_prune"))
        n_weights, n_stored = merge(shards, dataset, threshold, model_path, training_path)
        renew_index(LabelWeights.open(model_path))
        weights = f"{n_weights:,} of {n_stored:,} weights, those of at least {threshold:g}"
        return f"{dataset.n_labels:,} labels, {weights}"

    def settings_of(self, parameters: Mapping[str, Any]) -> "TrainLabels":
        """Return the settings of the training of a model."""
        train = dict(parameters["train"])
        train["stored_threshold"] = parameters.get("prune", 0.0)
        if train.get("initialization") == "pretrained":
            # the model that the training started from is not known here
            train["initialization"] = "mean-separating"
        return super().settings_of({"train": train})

    def train_model(
        self, dataset: "Dataset", settings: "TrainLabels", threads: int = 1
    ) -> "OneVsAll":
        """Train in this process."""
        from ovaflow.training.shard_job import train_model

        return train_model(dataset, settings, settings.stored_threshold, threads)

    def sample(
        self, path: "StrPath", settings: "SampleLabels", files: "Mapping[str, StrPath | None]"
    ) -> "Sample":
        """Measure the training of some labels."""
        from ovaflow.methods.one_vs_all.sample import sample_labels

        return sample_labels(path, settings, files.get("earlier"))

    def name_shared(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Name the plan and the root."""
        from ovaflow.settings.inputs import name_plan, name_root

        return {
            "plan": name_plan(config, dataset, run),
            "root": name_root(config, dataset, run),
        }

    def inputs_of_shards(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Return the files that the shards of a run are trained from."""
        from ovaflow.settings import paths
        from ovaflow.settings.inputs import find_start_files, name_plan

        return find_start_files(config, dataset, run) | {
            "dataset": paths.DATASET.format(dataset=dataset),
            "means": paths.MEANS.format(dataset=dataset),
            "plan": paths.PLAN.format(dataset=dataset, plan=name_plan(config, dataset, run)),
        }

    def inputs_of_merging(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Return the files that shards are merged with."""
        from ovaflow.settings.inputs import find_chosen_prune

        return find_chosen_prune(config, dataset, run)

    def problem(self, config: "Config", dataset: str, run: str) -> str:
        """Return the name of the problem, the same for all runs that train alike."""
        from ovaflow.settings.inputs import make_problem_name

        return make_problem_name(config, dataset, run)

    def estimate_options(self, config: "Config", dataset: str, run: str) -> list[str]:
        """Return the options with which a run is estimated."""
        from ovaflow.settings.inputs import format_options, make_step_parameters

        parameters = make_step_parameters("train-shard", config, dataset, run)
        options: dict[str, Any] = {}
        for name in ("C", *PROBLEM_SETTINGS):
            if name in parameters:
                options[name] = parameters[name]
        # shards keep more weights than the model
        options["prune"] = config.train_settings(run).stored_threshold
        options["labels"] = 200
        return format_options(options)

    def needs_estimate(self, config: "Config", dataset: str, path: str) -> bool:
        """Return whether jobs request the demand of an estimate."""
        from ovaflow.estimate.shards import is_small

        return not is_small(config, dataset, path)

    def request(
        self,
        config: "Config",
        run: str,
        shard: int,
        shards: int,
        threads: int,
        files: Mapping[str, str],
    ) -> "Request":
        """Return the memory and the time, in minutes, that a shard requests."""
        from ovaflow.estimate.demand import SMALL_REQUEST, read_demand, read_work_shares

        if "estimate" not in files:
            return SMALL_REQUEST
        share = read_work_shares(files["plan"]).get(shard, 0.0)
        pretrained = config.runs[run].pretrained is not None
        return read_demand(files["estimate"]).request(share, threads, pretrained=pretrained)

    def merging_megabytes(self, labels: int, inputs: float, shards: float) -> int:
        """Return the memory, in MB, of merging shards into a model."""
        from ovaflow.estimate.demand import merging_memory_mb

        return merging_memory_mb(labels, shards)
