"""``ovaflow tune-decoder``."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.console.errors import InputError
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.rembrandt.embedding_file import read_embedding
from ovaflow.rembrandt.projected_file import open_projected
from ovaflow.rembrandt.settings import Tuning
from ovaflow.rembrandt.tuning import tune, write_tuned

_FILE = click.Path(path_type=Path, dir_okay=False)
_DEFAULT = Tuning()


@click.command("tune-decoder")
@click.argument("projected", type=_FILE)
@click.option("--dataset", required=True, type=_FILE, help="The dataset file, dataset.h5.")
@click.option("--embedding", required=True, type=_FILE, help="Embedding of the dataset, by ovaflow embed.")
@click.option(
    "--C",
    "C",
    type=Finite(0, min_open=True),
    multiple=True,
    help="Weight of the losses; given several times: to choose from.  [default: 1, random features 30, softmax 500]",
)
@click.option(
    "--epsilon",
    type=Finite(0, min_open=True),
    default=_DEFAULT.epsilon,
    show_default=True,
    help="Logistic decoder: relative gradient tolerance.",
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, max_open=True),
    default=_DEFAULT.held_out,
    show_default=True,
    help="Share of the instances that tell the best C, and when to stop the softmax decoder; 0: it is solved.",
)
@click.option("--seed", type=click.IntRange(0), default=_DEFAULT.seed, show_default=True, help="Of their choice.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="They change no result.")
@click.option("--output", type=_FILE, required=True, help="File to write, for ovaflow train-decoder.")
def command(projected, dataset, embedding, threads, output, **settings):
    """Choose what the decoder is trained with on held-out instances of PROJECTED (by ovaflow project)."""
    opened, source = open_projected(projected), open_dataset(dataset)
    if opened.source != source.checksum:
        raise InputError(f"was not made from {dataset}", path=projected, remedy="run `ovaflow project`")
    found = read_embedding(embedding, source.checksum).embedding
    tuned = tune(opened, source, found, Tuning(**settings), threads)
    write_tuned(output, tuned, opened)
    for C, loss in tuned.losses.items():
        click.echo(f"C {C:g}: loss {loss:.4f} on held-out instances")
    iterations = tuned.decoding.iterations
    steps = "" if iterations is None else f", {iterations} iterations"
    click.echo(f"{output}: C {tuned.decoding.C:g}{steps}, {clock(tuned.core_seconds)} of core time")
