"""``ovaflow benchmark``."""

import json
from pathlib import Path

import click

from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import STARTS
from ovaflow.solver.losses import LOSSES
from ovaflow.training.benchmark import benchmark_solver
from ovaflow.training.label_jobs import Training


@click.group("benchmark")
def command():
    """Measure the solver."""


@command.command()
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--labels", type=click.IntRange(1), default=200, show_default=True, help="Size of the sample.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--initialization", type=click.Choice(STARTS), default="mean-separating", show_default=True)
@click.option("--C", "C", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@click.option("--loss", type=click.Choice(list(LOSSES)), default="squared-hinge", show_default=True)
@click.option("--reference", is_flag=True, help="The plain solver, one label at a time.")
def solver(dataset, labels, seed, threads, **settings):
    """Train a random sample of labels; prints one line of JSON."""
    figures = benchmark_solver(open_dataset(dataset), labels, seed, threads, Training(**settings))
    click.echo(json.dumps(figures))
