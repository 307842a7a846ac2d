"""ovaflow merge."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.dataset import open_dataset
from ovaflow.model.merge import merge
from ovaflow.storage.journal import remove_journals

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("merge")
@click.argument("shards", nargs=-1, required=True, type=_FILE)
@click.option("--dataset", required=True, type=_FILE, help="The dataset file, dataset.h5.")
@click.option("--prune", default=0.01, show_default=True, type=Finite(0), help="Drop smaller weights.")
@click.option("--output", required=True, type=_FILE, help="Model file to write, model.h5.")
@click.option(
    "--statistics",
    required=True,
    type=_FILE,
    help="Statistics file to write, training.h5.",
)
def command(shards, dataset, prune, output, statistics):
    """Join trained SHARDS into one model."""
    opened = open_dataset(dataset)
    n_weights = merge(shards, opened, prune, output, statistics)
    remove_journals(shards)
    size = output.stat().st_size
    click.echo(f"{output}: {opened.n_labels:,} labels, {n_weights:,} weights, {size / 1e6:,.1f} MB")
