"""``ovaflow merge-trees``."""

from pathlib import Path

import click

from ovaflow.data.dataset import open_dataset
from ovaflow.fastxml.merging import merge_trees
from ovaflow.storage.journal import remove_journals

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("merge-trees")
@click.argument("shards", nargs=-1, required=True, type=_FILE)
@click.option("--dataset", required=True, type=_FILE, help="The dataset file, dataset.h5.")
@click.option("--output", required=True, type=_FILE, help="Model file to write, model.h5.")
@click.option("--statistics", required=True, type=_FILE, help="Statistics file to write, training.h5.")
def command(shards, dataset, output, statistics):
    """Join SHARDS of trees into one model."""
    nodes = merge_trees(shards, open_dataset(dataset), output, statistics)
    remove_journals(shards)
    click.echo(f"{output}: {nodes:,} nodes, {output.stat().st_size / 1e6:,.1f} MB")
