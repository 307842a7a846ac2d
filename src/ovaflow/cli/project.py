"""``ovaflow project``."""

import time

import click

from ovaflow.cli.options import DATASET, FILE, THREADS, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.machine.peak_memory import peak_rss_bytes
from ovaflow.rembrandt.embedding import read_embedding
from ovaflow.rembrandt.projection import decoder_of, project, write_projected


@click.command("project")
@DATASET
@click.option("--embedding", type=FILE, required=True, help="Embedding of the dataset, by ovaflow embed.")
@reads("project")
@THREADS
@output("Projected training set to write.")
def command(dataset, embedding, threads, output, settings):
    """Project the training instances of DATASET (dataset.h5) into an embedding."""
    opened, started = open_dataset(dataset), time.perf_counter()
    found = read_embedding(embedding, opened.checksum)
    projection, features = project(opened, found.embedding, settings, threads)
    decoder = decoder_of(opened.train.Y, settings.decoder)
    parameters = found.parameters | settings.felt | {"decoder": decoder}
    seconds = found.core_seconds + threads * (time.perf_counter() - started)
    peak = max(found.peak_rss_bytes, peak_rss_bytes())
    write_projected(output, opened, projection, features, parameters, seconds, peak)
    click.echo(f"{output}: {len(features):,} instances with {features.shape[1]:,} features, for a {decoder} decoder")
