"""``ovaflow join-decoder``."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, output
from ovaflow.data.dataset import open_dataset
from ovaflow.rembrandt.joining import join_decoder
from ovaflow.rembrandt.projection import open_projected
from ovaflow.rembrandt.tuning import read_tuned
from ovaflow.storage.parts import remove_parts


@click.command("join-decoder")
@click.argument("shards", nargs=-1, required=True, type=FILE)
@click.option("--projected", required=True, type=FILE, help="What they were trained on, by ovaflow project.")
@click.option("--tuned", required=True, type=FILE, help="What they were trained with, by ovaflow tune-decoder.")
@OF_DATASET
@output("Model file to write, model.h5.")
@click.option("--statistics", required=True, type=FILE, help="Statistics file to write, training.h5.")
def command(shards, projected, tuned, dataset, output, statistics):
    """Join a projection and the SHARDS of its decoder into one model."""
    instances = open_projected(projected)
    chosen, source = read_tuned(tuned, instances), open_dataset(dataset)
    trained = join_decoder(shards, instances, chosen, source, output, statistics)
    remove_parts(shards)
    click.echo(f"{output}: {trained:,} labels, {output.stat().st_size / 1e6:,.1f} MB")
