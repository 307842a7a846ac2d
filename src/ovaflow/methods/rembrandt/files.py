"""Paths of the files of Rembrandt; those of all methods are in :mod:`ovaflow.settings.paths`."""

from ovaflow.methods.rembrandt.settings import Embed
from ovaflow.settings.configuration import Config
from ovaflow.settings.inputs import name_settings
from ovaflow.settings.paths import DATASET_FOLDER, RUN_FOLDER

EMBEDDING = f"{DATASET_FOLDER}/embeddings/{{embedding}}.h5"
PROJECTED = f"{DATASET_FOLDER}/projections/{{projection}}/projected.h5"
DECODER = f"{DATASET_FOLDER}/decoders/{{decoder}}/decoder.json"
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


def projection_name(config: Config, dataset: str, run: str) -> str:
    """Return the name of a projection, the same for all runs that project alike."""
    return name_settings(config, dataset, run, ["embed", "project"])


def projected_path(config: Config, dataset: str, run: str) -> str:
    """Return the path of a run's projected instances, which other runs may use too."""
    name = projection_name(config, dataset, run)
    return PROJECTED.format(dataset=dataset, projection=name)


def decoder_name(config: Config, dataset: str, run: str) -> str:
    """Return the name of a decoder's settings, the same for all runs that tune alike."""
    return name_settings(config, dataset, run, ["embed", "project", "tune-decoder"])


def decoder_path(config: Config, dataset: str, run: str) -> str:
    """Return the path of the settings of a run's decoder, which other runs may use too."""
    return DECODER.format(dataset=dataset, decoder=decoder_name(config, dataset, run))


def softmax_option(config: Config, embedding: str) -> str:
    """Return the option that refuses data unfit for softmax, if a run with the embedding requires
    it.
    """
    for run in config.runs_with_method("rembrandt"):
        settings = config.section("rembrandt", run=run)
        if settings.decoder == "softmax" and embedding_name(settings) == embedding:
            return "--for-softmax"
    return "--for-any-decoder"
