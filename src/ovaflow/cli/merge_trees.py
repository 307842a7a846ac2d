"""``ovaflow merge-trees``."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, output
from ovaflow.data.dataset import open_dataset
from ovaflow.fastxml.merging import merge_trees
from ovaflow.storage.parts import remove_parts


@click.command("merge-trees")
@click.argument("shards", nargs=-1, required=True, type=FILE)
@OF_DATASET
@output("Model file to write, model.h5.")
@click.option("--statistics", required=True, type=FILE, help="Statistics file to write, training.h5.")
def command(shards, dataset, output, statistics):
    """Join SHARDS of trees into one model."""
    nodes = merge_trees(shards, open_dataset(dataset), output, statistics)
    remove_parts(shards)
    click.echo(f"{output}: {nodes:,} nodes, {output.stat().st_size / 1e6:,.1f} MB")
