"""``ovaflow estimate``."""

import json
from pathlib import Path

import click

from ovaflow.cli.earlier_model import earlier_option, read_earlier
from ovaflow.cli.problem_options import problem_options
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import STARTS
from ovaflow.solver.losses import LOSSES
from ovaflow.training.estimate import as_record, describe, estimate_training, write_demand
from ovaflow.training.label_jobs import Training

_DEFAULT = Training()


def _known(context, parameter, method):
    if method != "one-vs-all":
        raise InputError(
            "fastxml solves no labels to take a sample of",
            remedy="`ovaflow train-trees DATASET --trees=1 --output=FILE` says what a tree takes",
        )


@click.command("estimate")
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--method",
    type=click.Choice(["one-vs-all", "fastxml"]),
    default="one-vs-all",
    callback=_known,
    expose_value=False,
    help="Of fastxml nothing is estimated: try one tree.",
)
@click.option("--labels", type=click.IntRange(2), default=300, show_default=True, help="About how many to solve.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sample.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads of each job.")
@click.option("--shards", type=click.IntRange(1), default=8, show_default=True, help="Jobs.")
@click.option("--initialization", type=click.Choice(STARTS), default=_DEFAULT.initialization, show_default=True)
@click.option("--C", "C", type=click.FloatRange(0, min_open=True), default=_DEFAULT.C, show_default=True)
@click.option("--loss", type=click.Choice(list(LOSSES)), default=_DEFAULT.loss, show_default=True)
@click.option("--epsilon", type=click.FloatRange(0, min_open=True), default=_DEFAULT.epsilon, show_default=True)
@click.option("--s", type=float, default=_DEFAULT.s, show_default=True, help="Mean score of positives at the start.")
@click.option("--t", type=float, help="Mean score of negatives at the start.  [default: -2, with the logistic loss -3]")
@problem_options
@click.option("--prune", type=click.FloatRange(0), default=0.01, show_default=True, help="Threshold of the model.")
@click.option(
    "--stored-threshold",
    type=click.FloatRange(0),
    help="Threshold of the shards.  [default: that of the model, 0.01 at most]",
)
@earlier_option
@click.option("--json", "as_json", is_flag=True, help="One line of JSON.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON to write: what any shard's memory and time follow from; with one shard and thread.",
)
def command(dataset, labels, seed, threads, shards, prune, stored_threshold, earlier, as_json, output, **settings):
    """Say what training DATASET (dataset.h5) will take: time, memory, size of the model.

    A random sample of the labels is solved, more of the frequent ones. Times are
    those of a machine that does nothing else.
    """
    stored = min(prune, _DEFAULT.stored_threshold) if stored_threshold is None else stored_threshold
    training = Training(**settings, stored_threshold=stored)
    opened = open_dataset(dataset)
    start = read_earlier(earlier, opened)[0]
    estimate = estimate_training(opened, training, prune, labels, threads, shards, seed, start)
    if output is not None:
        write_demand(output, estimate)
    if as_json:
        click.echo(json.dumps(as_record(estimate)))
        return
    for name, text in describe(estimate):
        click.echo(f"{name:<12}{text}")
