"""The families of models: all that the config, the rules, the command line and prediction know of each.

Code is named by module, so that this table lies below every room and only the method that is used gets loaded.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Command(NamedTuple):
    """A subcommand and what it reads: fields (all by default) of a settings model, filled from these sections."""

    help: str
    model: str = ""
    sections: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    options: Mapping[str, str] = MappingProxyType({})  # names of options that are not those of their fields


class Family(NamedTuple):
    """A family of models."""

    model: str  # module with open_model, save_model, predict, score and load_kernels of its models
    rules: str  # file in workflow/rules
    section: str = ""  # of the config, all keys of which a run may set
    keys: tuple[str, ...] = ()  # further keys that a run may set, besides shards, threads and those of predict
    commands: Mapping[str, Command] = MappingProxyType({})
    warm_up: tuple[str, ...] = ()  # commands that compile its kernels, in a folder {0} with a dataset.h5
    measured: str = ""  # file of each run that is made for the report's figures alone


METHODS = {
    "one-vs-all": Family(
        model="ovaflow.prediction.top_k",
        rules="train.smk",
        section="train",
        keys=("initialization", "pretrained", "sweep"),
    ),
    "fastxml": Family(
        model="ovaflow.fastxml.model_file",
        rules="fastxml.smk",
        section="fastxml",
        keys=("weighting",),
        commands={
            "train-trees": Command(
                help="Grow the trees of one shard (fastxml).",
                model="GrowTrees",
                sections=("fastxml", "train", "evaluate"),
            ),
            "merge-trees": Command(help="Join grown trees into one model (fastxml)."),
            "tree-curve": Command(
                help="Measure a model by number of trees (fastxml).", model="Evaluate", sections=("evaluate",)
            ),
        },
        warm_up=(
            "train-trees {0}/dataset.h5 --trees=1 --output={0}/tree-shard.h5",
            "merge-trees {0}/tree-shard.h5 --dataset={0}/dataset.h5 --output={0}/trees.h5"
            " --statistics={0}/tree-training.h5",
            "predict {0}/trees.h5 --dataset={0}/dataset.h5 --output={0}/tree-predictions.h5",
        ),
        measured="trees.json",
    ),
    "rembrandt": Family(
        model="ovaflow.rembrandt.model_file",
        rules="rembrandt.smk",
        section="rembrandt",
        commands={
            "embed": Command(
                help="Embed the labels in few dimensions (rembrandt).", model="Embed", sections=("rembrandt",)
            ),
            "project": Command(
                help="Project the training instances into an embedding (rembrandt).",
                model="Project",
                sections=("rembrandt",),
            ),
            "tune-decoder": Command(
                help="Choose what a decoder is trained with (rembrandt).",
                model="TuneDecoder",
                sections=("rembrandt",),
                options={"decoder_C": "C", "decoder_epsilon": "epsilon"},
            ),
            "train-decoder": Command(help="Train one shard of a decoder (rembrandt)."),
            "join-decoder": Command(help="Join a projection and its decoder into one model (rembrandt)."),
            "describe-embedding": Command(help="Measure an embedding by its rank (rembrandt)."),
        },
        warm_up=(
            "embed {0}/dataset.h5 --rank=4 --output={0}/embedding.h5",
            "project {0}/dataset.h5 --embedding={0}/embedding.h5 --output={0}/projected.h5",
            "tune-decoder {0}/projected.h5 --dataset={0}/dataset.h5 --embedding={0}/embedding.h5"
            " --output={0}/decoder.json",
            "train-decoder {0}/projected.h5 --tuned={0}/decoder.json --output={0}/decoder.h5",
            "join-decoder {0}/decoder.h5 --tuned={0}/decoder.json --projected={0}/projected.h5"
            " --dataset={0}/dataset.h5 --output={0}/embedded.h5 --statistics={0}/embedded-training.h5",
            "predict {0}/embedded.h5 --dataset={0}/dataset.h5 --output={0}/embedded-predictions.h5",
        ),
        measured="embedding.json",
    ),
}
"""By name, as in configs and in the ``parameters["train"]["method"]`` of models."""
