"""Where the files of Rembrandt are, as :mod:`ovaflow.settings.paths` has those of all methods."""

from ovaflow.methods.rembrandt.settings import Embed
from ovaflow.settings.configuration import Config
from ovaflow.settings.paths import DATASET_FOLDER, RUN_FOLDER

EMBEDDING = f"{DATASET_FOLDER}/embeddings/{{embedding}}.h5"
PROJECTED = f"{RUN_FOLDER}/projected.h5"
DECODER = f"{RUN_FOLDER}/decoder.json"
EMBEDDING_CURVE = f"{RUN_FOLDER}/embedding.json"


def embedding_name(embed: Embed) -> str:
    """Name of an embedding, the same for all runs that embed alike."""
    if embed.embedding == "none":
        return "none"
    ridges = "_".join(f"{ridge:g}" for ridge in embed.ridges)
    tail = f"{embed.rank}-p{embed.oversampling}-q{embed.passes}-ridge{ridges}-{embed.seed}"
    return f"{embed.embedding}-{tail}"


def runs_by_embedding(config: Config) -> dict[str, str]:
    """The embeddings that runs need: one run that has it, by name."""
    return {
        embedding_name(config.section("rembrandt", run=run)): run
        for run in config.runs_with_method("rembrandt")
    }


def embedding_path(config: Config, dataset: str, run: str) -> str:
    """Embedding that a run uses, possibly shared with other runs."""
    return EMBEDDING.format(
        dataset=dataset, embedding=embedding_name(config.section("rembrandt", run=run))
    )


def softmax_option(config: Config, embedding: str) -> str:
    """An option where a run with this embedding requires softmax."""
    runs = [config.section("rembrandt", run=run) for run in config.runs_with_method("rembrandt")]
    names = [embedding_name(run) for run in runs if run.decoder == "softmax"]
    return "--for-softmax" if embedding in names else "--for-any-decoder"
