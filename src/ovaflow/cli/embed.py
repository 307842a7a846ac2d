"""``ovaflow embed``."""

import time
from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.rembrandt.embedding import EMBEDDINGS, EmbeddingSettings, compute_embedding
from ovaflow.rembrandt.embedding_file import write_embedding
from ovaflow.training.memory import peak_rss_bytes

_FILE = click.Path(path_type=Path, dir_okay=False)
_DEFAULT = EmbeddingSettings()


def _option(name, kind, text):
    return click.option(f"--{name}", type=kind, default=getattr(_DEFAULT, name), show_default=True, help=text)


@click.command("embed")
@click.argument("dataset", type=_FILE)
@_option("embedding", click.Choice(EMBEDDINGS), "What is embedded, and how.")
@_option("rank", click.IntRange(1), "Dimensions.")
@_option("oversampling", click.IntRange(0), "Dimensions more while the embedding is computed.")
@_option("passes", click.IntRange(1), "Subspace iterations.")
@click.option(
    "--ridge",
    type=Finite(0),
    multiple=True,
    default=[_DEFAULT.ridge],
    show_default=True,
    help="Regularisation of the least-squares fits; given several times: to choose from on held-out instances.",
)
@_option("seed", click.IntRange(0), "Of the random vectors.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="They change no result.")
@click.option("--output", type=_FILE, required=True, help="Embedding file to write.")
def command(dataset, threads, output, **settings):
    """Embed the labels of DATASET (dataset.h5) in a few dimensions, and fit the projection into them."""
    opened, settings, started = open_dataset(dataset), EmbeddingSettings(**settings), time.perf_counter()
    embedding = compute_embedding(opened, settings, threads)
    seconds = threads * (time.perf_counter() - started)
    write_embedding(output, embedding, settings, opened.checksum, seconds, peak_rss_bytes())
    for ridge, error in embedding.held_out_errors.items():
        click.echo(f"ridge {ridge:g}: squared error {error:.4f} on held-out instances")
    fewer = "" if embedding.rank >= settings.rank else f" (the data have no more than {embedding.rank})"
    click.echo(
        f"{output}: {opened.n_labels:,} labels in {embedding.rank} dimensions{fewer}, {clock(seconds)} of core time"
    )
