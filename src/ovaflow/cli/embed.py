"""``ovaflow embed``."""

import time

import click

from ovaflow.cli.options import DATASET, THREADS, output, reads
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.machine.peak_memory import peak_rss_bytes
from ovaflow.rembrandt.embedding import compute_embedding, write_embedding


@click.command("embed")
@DATASET
@reads("embed")
@THREADS
@output("Embedding file to write.")
def command(dataset, threads, output, settings):
    """Embed the labels of DATASET (dataset.h5) in a few dimensions, and fit the projection into them."""
    opened, started = open_dataset(dataset), time.perf_counter()
    embedding = compute_embedding(opened, settings, threads)
    seconds = threads * (time.perf_counter() - started)
    write_embedding(output, embedding, settings, opened.checksum, seconds, peak_rss_bytes())
    for ridge, error in embedding.held_out_errors.items():
        click.echo(f"ridge {ridge:g}: squared error {error:.4f} on held-out instances")
    fewer = "" if embedding.rank >= settings.rank else f" (the data have no more than {embedding.rank})"
    click.echo(
        f"{output}: {opened.n_labels:,} labels in {embedding.rank} dimensions{fewer}, {clock(seconds)} of core time"
    )
