"""``ovaflow project``."""

import time
from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.dataset import open_dataset
from ovaflow.rembrandt.embedding_file import read_embedding
from ovaflow.rembrandt.projected_file import decoder_of, project, write_projected
from ovaflow.rembrandt.random_features import MAPS
from ovaflow.rembrandt.settings import DECODERS, Projecting
from ovaflow.training.memory import peak_rss_bytes

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("project")
@click.argument("dataset", type=_FILE)
@click.option("--embedding", type=_FILE, required=True, help="Embedding of the dataset, by ovaflow embed.")
@click.option("--decoder", type=click.Choice(DECODERS), default="auto", show_default=True, help="Loss of the decoder.")
@click.option(
    "--features", type=click.Choice(("linear", *MAPS)), default="linear", show_default=True, help="Of the decoder."
)
@click.option("--random-features", type=click.IntRange(1), default=4000, show_default=True, help="Their number.")
@click.option("--bandwidth", type=Finite(0, min_open=True), help="Of the kernel.  [default: by held-out instances]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random features.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="They change no result.")
@click.option("--output", type=_FILE, required=True, help="Projected training set to write.")
def command(dataset, embedding, threads, output, **settings):
    """Project the training instances of DATASET (dataset.h5) into an embedding."""
    opened, settings, started = open_dataset(dataset), Projecting(**settings), time.perf_counter()
    found = read_embedding(embedding, opened.checksum)
    projection, features = project(opened, found.embedding, settings, threads)
    decoder = decoder_of(opened.train.Y, settings.decoder)
    parameters = found.parameters | settings.parameters | {"decoder": decoder}
    seconds = found.core_seconds + threads * (time.perf_counter() - started)
    peak = max(found.peak_rss_bytes, peak_rss_bytes())
    write_projected(output, opened, projection, features, parameters, seconds, peak)
    click.echo(f"{output}: {len(features):,} instances with {features.shape[1]:,} features, for a {decoder} decoder")
