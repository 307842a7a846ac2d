"""Rembrandt as a method.

Labels are embedded and instances projected first; the decoder is divided into shards.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ovaflow.steps import LOSS_REVISIONS, Step, StepSettings
from ovaflow.training.method import InputFile, Method

if TYPE_CHECKING:
    from ovaflow.console.errors import StrPath
    from ovaflow.dataset.dataset import Dataset
    from ovaflow.estimate.demand import Request
    from ovaflow.methods.rembrandt.model_file import EmbeddingModel
    from ovaflow.methods.rembrandt.projection import Projected
    from ovaflow.methods.rembrandt.settings import Rembrandt
    from ovaflow.model.training_file import Shard
    from ovaflow.settings.configuration import Config
    from ovaflow.training.shares import Share

_TUNED = InputFile("Settings of the decoder, by ovaflow tune-decoder.")


class RembrandtMethod(Method):
    """The method ``rembrandt``."""

    name = "rembrandt"
    model = "ovaflow.methods.rembrandt.model_file:EmbeddingModel"
    shard = "ovaflow.model.training_file:Shard"
    section = settings = "ovaflow.methods.rembrandt.settings:Rembrandt"
    # decoders have the logistic loss
    revisions: ClassVar = {"train-shard": 1 + LOSS_REVISIONS["logistic"], "merge": 1}
    training_files: ClassVar = {"tuned": _TUNED}
    merging_files: ClassVar = {
        "projected": InputFile("The instances the shards were trained on, by ovaflow project."),
        "tuned": _TUNED,
    }
    steps: ClassVar = {
        "embed": Step(
            "methods.rembrandt.commands",
            "Embed the labels in a few dimensions (rembrandt).",
            StepSettings("ovaflow.methods.rembrandt.settings:Embed", ("rembrandt",)),
            makes=("embedding",),
            rule="embed_labels",
        ),
        "project": Step(
            "methods.rembrandt.commands",
            "Project the training instances into an embedding (rembrandt).",
            StepSettings("ovaflow.methods.rembrandt.settings:ProjectInstances", ("rembrandt",)),
            makes=("projected",),
            rule="project_instances",
        ),
        "tune-decoder": Step(
            "methods.rembrandt.commands",
            "Choose the settings of a decoder (rembrandt).",
            StepSettings(
                "ovaflow.methods.rembrandt.settings:TuneDecoder",
                ("rembrandt",),
                options={"decoder_C": "C", "decoder_epsilon": "epsilon"},
            ),
            makes=("tuned",),
            rule="tune_decoder",
            revision=1 + LOSS_REVISIONS["logistic"],
        ),
        "describe-embedding": Step(
            "methods.rembrandt.commands",
            "Measure an embedding by its rank (rembrandt).",
            makes=("embedding-description",),
            rule="describe_embedding",
            figure="embedding.json",
        ),
    }
    training_steps = ("embed", "project", "tune-decoder", "train-shard")
    report_sections = ("ovaflow.methods.rembrandt.section:SECTION",)
    warm_up = (
        "embed {0}/dataset.h5 --rank=4 --output={0}/embedding.h5",
        "project {0}/dataset.h5 --embedding={0}/embedding.h5 --output={0}/projected.h5",
        "tune-decoder {0}/projected.h5 --dataset={0}/dataset.h5 --embedding={0}/embedding.h5"
        " --output={0}/decoder.json",
        "train-shard {0}/projected.h5 --method=rembrandt --tuned={0}/decoder.json"
        " --output={0}/decoder.h5",
        "merge {0}/decoder.h5 --method=rembrandt --tuned={0}/decoder.json"
        " --projected={0}/projected.h5"
        " --dataset={0}/dataset.h5 --output={0}/embedded.h5 --statistics={0}/embedded-training.h5",
        "predict {0}/embedded.h5 --dataset={0}/dataset.h5 --output={0}/embedded-predictions.h5",
    )

    def reads(self, step: str) -> StepSettings | None:
        """Return None: shards read the settings that tune-decoder has chosen."""
        return None

    def open(self, path: "StrPath") -> "Projected":
        """Open the training set of a job, the projected instances."""
        from ovaflow.methods.rembrandt.projection import Projected

        return Projected.open(path)

    def copy_to_local_node(self, projected: "Projected", pinning: Any) -> "Projected":
        """Copy the features to the memory of the node where the job runs."""
        from dataclasses import replace

        return replace(projected, dataset=super().copy_to_local_node(projected.dataset, pinning))

    def share(
        self,
        projected: "Projected",
        settings: None,
        files: "Mapping[str, StrPath]",
        shard: int,
        shards: int,
    ) -> "Share":
        """Describe the training of one shard of the decoder."""
        from ovaflow.methods.rembrandt.decoder import make_decoder_share
        from ovaflow.methods.rembrandt.tuning import read_tuned

        tuned = read_tuned(files["tuned"], projected)
        return make_decoder_share(projected, tuned.decoding, shard, shards)

    def describe(self, shard: "Shard") -> str:
        """Describe a shard in words."""
        return f"{len(shard.labels):,} labels"

    def merge(
        self,
        shards: "Sequence[StrPath]",
        dataset: "Dataset",
        settings: None,
        files: "Mapping[str, StrPath]",
        model_path: "StrPath",
        training_path: "StrPath",
    ) -> str:
        """Join the decoder and the projection; describe the model in words."""
        from ovaflow.methods.rembrandt.joining import join_decoder
        from ovaflow.methods.rembrandt.tuning import read_tuned

        projected = self.open(files["projected"])
        tuned = read_tuned(files["tuned"], projected)
        n_labels = join_decoder(shards, projected, tuned, dataset, model_path, training_path)
        return f"{n_labels:,} labels"

    def settings_of(self, parameters: Mapping[str, Any]) -> "Rembrandt":
        """Return the settings of a model, with those that tune-decoder has chosen."""
        train = dict(parameters["train"])
        for name, chosen in (("decoder_C", "C"), ("decoder_epsilon", "epsilon")):
            if train.get(chosen):
                train[name] = train[chosen]
        return super().settings_of({"train": train})

    def train_model(
        self, dataset: "Dataset", settings: "Rembrandt", threads: int = 1
    ) -> "EmbeddingModel":
        """Train in this process."""
        from ovaflow.methods.rembrandt.joining import train_embedding_model

        return train_embedding_model(dataset, settings, threads)

    def name_shared(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Name the projection and the settings of the decoder."""
        from ovaflow.methods.rembrandt import files

        return {
            "projection": files.projection_name(config, dataset, run),
            "decoder": files.decoder_name(config, dataset, run),
        }

    def inputs_of_shards(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Return the files that the shards of a run are trained from."""
        from ovaflow.methods.rembrandt import files
        from ovaflow.settings import paths

        return {
            "sizes": paths.SIZES.format(dataset=dataset),
            "dataset": files.projected_path(config, dataset, run),
            "tuned": files.decoder_path(config, dataset, run),
        }

    def inputs_of_merging(self, config: "Config", dataset: str, run: str) -> dict[str, str]:
        """Return the files that shards are merged with."""
        from ovaflow.methods.rembrandt import files

        return {
            "projected": files.projected_path(config, dataset, run),
            "tuned": files.decoder_path(config, dataset, run),
        }

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
        from ovaflow.estimate.demand import Request, read_dataset_shape
        from ovaflow.methods.rembrandt.demand import decoding_memory_mb

        memory = decoding_memory_mb(config, run, read_dataset_shape(files["sizes"]), shards)
        return Request(memory, runtime=60)
