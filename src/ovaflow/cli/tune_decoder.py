"""``ovaflow tune-decoder``."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, output, reads
from ovaflow.console.errors import InputError
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.rembrandt.embedding import read_embedding
from ovaflow.rembrandt.projection import open_projected
from ovaflow.rembrandt.tuning import tune, write_tuned


@click.command("tune-decoder")
@click.argument("projected", type=FILE)
@OF_DATASET
@click.option("--embedding", required=True, type=FILE, help="Embedding of the dataset, by ovaflow embed.")
@reads("tune-decoder")
@THREADS
@output("File to write, for ovaflow train-decoder.")
def command(projected, dataset, embedding, threads, output, settings):
    """Choose what the decoder is trained with on held-out instances of PROJECTED (by ovaflow project)."""
    opened, source = open_projected(projected), open_dataset(dataset)
    if opened.source != source.checksum:
        raise InputError(f"was not made from {dataset}", path=projected, remedy="run `ovaflow project`")
    found = read_embedding(embedding, source.checksum).embedding
    tuned = tune(opened, source, found, settings, threads)
    write_tuned(output, tuned, opened)
    for C, loss in tuned.losses.items():
        click.echo(f"C {C:g}: loss {loss:.4f} on held-out instances")
    iterations = tuned.decoding.iterations
    steps = "" if iterations is None else f", {iterations} iterations"
    click.echo(f"{output}: C {tuned.decoding.C:g}{steps}, {clock(tuned.core_seconds)} of core time")
