"""``ovaflow benchmark``."""

import json

import click

from ovaflow.benchmark.growth import growth_table, measure_growth
from ovaflow.benchmark.solver import benchmark_solver
from ovaflow.cli.earlier_model import earlier_option, read_earlier
from ovaflow.cli.options import DATASET, THREADS, option, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import ALONE
from ovaflow.settings.models import TrainLabels

_seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)


@click.group("benchmark")
def command():
    """Measure the solver."""


@command.command()
@DATASET
@click.option("--labels", type=click.IntRange(1), default=200, show_default=True, help="Size of the sample.")
@_seed
@THREADS
@reads("benchmark solver")
@earlier_option
@click.option("--reference", is_flag=True, help="The plain solver, one label at a time.")
def solver(dataset, labels, seed, threads, earlier, reference, settings):
    """Train a random sample of labels; prints one line of JSON."""
    opened = open_dataset(dataset)
    start = read_earlier(earlier, opened)[0]
    settings = settings.model_copy(update={"reference": reference})
    figures = benchmark_solver(opened, labels, seed, threads, settings, start)
    click.echo(json.dumps(figures))


@command.command()
@DATASET
@click.option("--labels", type=click.IntRange(1), default=128, show_default=True,
              help="Size of the sample; the fast solver takes 64 at a time, and fewer cost as much.")  # fmt: skip
@_seed
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="Rounds, of which the median.")
@option(TrainLabels, "initialization", type=click.Choice(ALONE))
@option(TrainLabels, "C")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def growth(dataset, labels, seed, repeats, as_json, **settings):
    """Cost of a label on 1/8, 1/4, 1/2 and all of the instances, and of the features; fits the exponents."""
    figures = measure_growth(open_dataset(dataset), labels, seed, TrainLabels(**settings), repeats)
    click.echo(json.dumps(figures) if as_json else growth_table(figures))
