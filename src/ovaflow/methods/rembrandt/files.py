"""Paths of the files of Rembrandt; those of all methods are in :mod:`ovaflow.settings.paths`."""

from ovaflow.methods.rembrandt.settings import Embed
from ovaflow.settings.configuration import Config
from ovaflow.settings.paths import DATASET_FOLDER, RUN_FOLDER, TRAINING_FOLDER

EMBEDDING = f"{DATASET_FOLDER}/embeddings/{{embedding}}.h5"
PROJECTED = f"{TRAINING_FOLDER}/projected.h5"
DECODER = f"{TRAINING_FOLDER}/decoder.json"
EMBEDDING_CURVE = f"{RUN_FOLDER}/embedding.json"


def embedding_name(embed: Embed) -> str:
    """Return the name of an embedding, the same for all runs that embed alike."""
    if embed.embedding == "none":
        return "none"
    ridges = "_".join(f"{ridge:g}" for ridge in embed.ridges)
    tail = f"{embed.rank}-p{embed.oversampling}-q{embed.passes}-ridge{ridges}-{embed.seed}"
    return f"{embed.embedding}-{tail}"


def runs_by_embedding(config: Config) -> dict[str, str]:
    """Return the embeddings that runs need: by name, one of the runs that use it."""
    runs = {}
    for run in config.runs_with_method("rembrandt"):
        runs[embedding_name(config.section("rembrandt", run=run))] = run
    return runs


def embedding_path(config: Config, dataset: str, run: str) -> str:
    """Return the path of a run's embedding, which other runs may use too."""
    name = embedding_name(config.section("rembrandt", run=run))
    return EMBEDDING.format(dataset=dataset, embedding=name)


def softmax_option(config: Config, embedding: str) -> str:
    """Return the option that refuses data unfit for softmax, if a run with the embedding requires
    it.
    """
    for run in config.runs_with_method("rembrandt"):
        settings = config.section("rembrandt", run=run)
        if settings.decoder == "softmax" and embedding_name(settings) == embedding:
            return "--for-softmax"
    return "--for-any-decoder"
