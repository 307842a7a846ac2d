"""One-vs-all as a method: its labels are divided by a plan, and start from what steps of its own
compute.
"""

from typing import ClassVar

from ovaflow.steps import PROBLEM_SETTINGS, Step, StepSettings
from ovaflow.training.method import InputFile, Method

_TRAIN = ("train", "evaluate")
_EARLIER = InputFile("Model that --initialization=pretrained starts from.", required=False)


class OneVsAllMethod(Method):
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
        "earlier": _EARLIER,
    }
    sampling_files: ClassVar = {"earlier": _EARLIER}
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
            StepSettings(
                "ovaflow.settings.train:TrainLabels", _TRAIN, ("C", "loss", "root_epsilon")
            ),
            makes=("root",),
            rule="compute_root",
        ),
        "choose-prune": Step(
            "methods.one_vs_all.commands",
            "Choose the size of weights that can go, on held-out instances.",
            StepSettings("ovaflow.settings.train:Propensities", ("evaluate",)),
            makes=("prune",),
            rule="choose_prune",
        ),
    }

    def reads(self, step):
        return {
            "train-shard": StepSettings(
                "ovaflow.settings.train:TrainLabels", _TRAIN, without=("reference",)
            ),
            "estimate": StepSettings(
                "ovaflow.settings.train:SampleLabels",
                _TRAIN,
                without=("reference", "stored_threshold"),
                options={"sample": "labels"},
            ),
            "merge": StepSettings("ovaflow.settings.train:Train", ("train",), ("prune",)),
        }.get(step)

    def share(self, dataset, settings, files, shard, shards):
        from ovaflow.methods.one_vs_all.share import make_plan_share

        return make_plan_share(dataset, settings, files, shard)

    def describe(self, shard):
        from ovaflow.methods.one_vs_all.share import describe_shard

        return describe_shard(shard)

    def merge(self, shards, dataset, settings, files, model_path, training_path):
        from ovaflow.model.index import renew_index
        from ovaflow.model.merge import merge
        from ovaflow.model.model_file import LabelWeights
        from ovaflow.tuning.pruning import resolve_threshold

        threshold = resolve_threshold(settings.prune, dataset, files.get("chosen_prune"))
        n_weights, n_stored = merge(shards, dataset, threshold, model_path, training_path)
        renew_index(LabelWeights.open(model_path))
        return f"{dataset.n_labels:,} labels, {n_weights:,} of {n_stored:,} weights, those of at least {threshold:g}"

    def settings_of(self, parameters):
        train = parameters["train"] | {"stored_threshold": parameters.get("prune", 0.0)}
        # what it started from is not here
        start = (
            {"initialization": "mean-separating"}
            if train.get("initialization") == "pretrained"
            else {}
        )
        return super().settings_of({"train": train | start})

    def train_model(self, dataset, settings, threads=1):
        from ovaflow.training.shard_job import train_model

        return train_model(dataset, settings, settings.stored_threshold, threads)

    def sample(self, path, settings, files):
        from ovaflow.methods.one_vs_all.sample import sample_labels

        return sample_labels(path, settings, files.get("earlier"))

    def inputs_of_shards(self, config, dataset, run):
        from ovaflow.settings import paths
        from ovaflow.settings.inputs import find_start_files

        templates = {"dataset": paths.DATASET, "means": paths.MEANS, "plan": paths.PLAN}
        files = {
            name: template.format(dataset=dataset, run=run) for name, template in templates.items()
        }
        return find_start_files(config, dataset, run) | files

    def inputs_of_merging(self, config, dataset, run):
        from ovaflow.settings.inputs import find_chosen_prune

        return find_chosen_prune(config, dataset, run)

    def problem(self, config, dataset, run):
        from ovaflow.settings.inputs import make_estimate_key

        return make_estimate_key(config, dataset, run)

    def estimate_options(self, config, dataset, run):
        from ovaflow.settings.inputs import format_options, make_step_parameters

        parameters = make_step_parameters("train-shard", config, dataset, run)
        chosen = {name: parameters[name] for name in ("C", *PROBLEM_SETTINGS) if name in parameters}
        # shards keep more weights than the model
        return format_options(
            chosen | {"prune": config.train_settings(run).stored_threshold, "labels": 200}
        )

    def needs_estimate(self, config, dataset, path):
        from ovaflow.estimate.shards import is_small

        return not is_small(config, dataset, path)

    def request(self, config, run, shard, shards, threads, files):
        from ovaflow.estimate.demand import SMALL_REQUEST, read_demand, read_work_shares

        if "estimate" not in files:
            return SMALL_REQUEST
        share = read_work_shares(files["plan"]).get(shard, 0.0)
        pretrained = config.runs[run].pretrained is not None
        return read_demand(files["estimate"]).request(share, threads, pretrained)

    def merging_megabytes(self, labels, inputs, shards):
        from ovaflow.estimate.demand import merging_memory_mb

        return merging_memory_mb(labels, shards)
