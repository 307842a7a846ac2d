"""``ovaflow merge``."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.model.merge import merge
from ovaflow.storage.parts import remove_parts


@click.command("merge")
@click.argument("shards", nargs=-1, required=True, type=FILE)
@OF_DATASET
@reads("merge")
@output("Model file to write, model.h5.")
@click.option("--statistics", required=True, type=FILE, help="Statistics file to write, training.h5.")
def command(shards, dataset, settings, output, statistics):
    """Join trained SHARDS into one model."""
    opened = open_dataset(dataset)
    n_weights = merge(shards, opened, settings.prune, output, statistics)
    remove_parts(shards)
    size = output.stat().st_size
    click.echo(f"{output}: {opened.n_labels:,} labels, {n_weights:,} weights, {size / 1e6:,.1f} MB")
