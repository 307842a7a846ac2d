"""Rembrandt as a method: labels are embedded and instances projected first, and the decoder is what
shards divide.
"""

from typing import ClassVar

from ovaflow.steps import Step, StepSettings
from ovaflow.training.method import InputFile, Method

_TUNED = InputFile("Settings of the decoder, by ovaflow tune-decoder.")


class RembrandtMethod(Method):
    name = "rembrandt"
    model = "ovaflow.methods.rembrandt.model_file:EmbeddingModel"
    shard = "ovaflow.model.training_file:Shard"
    section = settings = "ovaflow.methods.rembrandt.settings:Rembrandt"
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
        ),
        "describe-embedding": Step(
            "methods.rembrandt.commands",
            "Measure an embedding by its rank (rembrandt).",
            makes=("embedding-description",),
            rule="describe_embedding",
            figure="embedding.json",
        ),
    }
    report_sections = ("ovaflow.methods.rembrandt.section:SECTION",)
    warm_up = (
        "embed {0}/dataset.h5 --rank=4 --output={0}/embedding.h5",
        "project {0}/dataset.h5 --embedding={0}/embedding.h5 --output={0}/projected.h5",
        "tune-decoder {0}/projected.h5 --dataset={0}/dataset.h5 --embedding={0}/embedding.h5 --output={0}/decoder.json",
        "train-shard {0}/projected.h5 --method=rembrandt --tuned={0}/decoder.json --output={0}/decoder.h5",
        "merge {0}/decoder.h5 --method=rembrandt --tuned={0}/decoder.json --projected={0}/projected.h5"
        " --dataset={0}/dataset.h5 --output={0}/embedded.h5 --statistics={0}/embedded-training.h5",
        "predict {0}/embedded.h5 --dataset={0}/dataset.h5 --output={0}/embedded-predictions.h5",
    )

    def reads(self, step):
        # its shards read what tune-decoder has chosen
        return None

    def open(self, path):
        from ovaflow.methods.rembrandt.projection import Projected

        return Projected.open(path)

    def copy_to_local_node(self, projected, pinning):
        from dataclasses import replace

        return replace(projected, dataset=super().copy_to_local_node(projected.dataset, pinning))

    def share(self, projected, settings, files, shard, shards):
        from ovaflow.methods.rembrandt.decoder import make_decoder_share
        from ovaflow.methods.rembrandt.tuning import read_tuned

        return make_decoder_share(
            projected, read_tuned(files["tuned"], projected).decoding, shard, shards
        )

    def describe(self, shard):
        return f"{len(shard.labels):,} labels"

    def merge(self, shards, dataset, settings, files, model_path, training_path):
        from ovaflow.methods.rembrandt.joining import join_decoder
        from ovaflow.methods.rembrandt.tuning import read_tuned

        projected = self.open(files["projected"])
        tuned = read_tuned(files["tuned"], projected)
        return (
            f"{join_decoder(shards, projected, tuned, dataset, model_path, training_path):,} labels"
        )

    def settings_of(self, parameters):
        train = parameters["train"]
        chosen = {"decoder_C": train.get("C"), "decoder_epsilon": train.get("epsilon")}
        return super().settings_of(
            {"train": train | {name: value for name, value in chosen.items() if value}}
        )

    def train_model(self, dataset, settings, threads=1):
        from ovaflow.methods.rembrandt.joining import train_embedding_model

        return train_embedding_model(dataset, settings, threads)

    def inputs_of_shards(self, config, dataset, run):
        from ovaflow.methods.rembrandt import files
        from ovaflow.settings import paths

        templates = {"sizes": paths.SIZES, "dataset": files.PROJECTED, "tuned": files.DECODER}
        return {
            name: template.format(dataset=dataset, run=run) for name, template in templates.items()
        }

    def inputs_of_merging(self, config, dataset, run):
        from ovaflow.methods.rembrandt import files

        templates = {"projected": files.PROJECTED, "tuned": files.DECODER}
        return {
            name: template.format(dataset=dataset, run=run) for name, template in templates.items()
        }

    def request(self, config, run, shard, shards, threads, files):
        from ovaflow.estimate.demand import Request, read_dataset_shape
        from ovaflow.methods.rembrandt.demand import decoding_memory_mb

        return Request(
            decoding_memory_mb(config, run, read_dataset_shape(files["sizes"]), shards), runtime=60
        )
