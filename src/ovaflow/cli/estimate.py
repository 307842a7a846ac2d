"""``ovaflow estimate``."""

import json

import click

from ovaflow.cli.earlier_model import earlier_option
from ovaflow.cli.options import DATASET, FILE, THREADS, option
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.estimate.demand import write_demand
from ovaflow.estimate.sample import in_own_process
from ovaflow.estimate.summary import describe, summarize
from ovaflow.settings.models import GrowTrees, Train, TrainLabels
from ovaflow.settings.steps import STEPS


def _settings_of_both(command):
    """Every setting of a training, as the commands that train take it."""
    read = dict.fromkeys(STEPS["train-trees"].reads, GrowTrees)
    read |= {name: TrainLabels for name in STEPS["train-shard"].reads if name != "stored_threshold"}
    for name, model in reversed(read.items()):
        command = option(model, name)(command)
    return command


@click.command("estimate")
@DATASET
@click.option("--method", type=click.Choice(["one-vs-all", "fastxml"]), default="one-vs-all", show_default=True)
@click.option("--labels", type=click.IntRange(2), default=300, show_default=True, help="About how many to solve.")
@THREADS
@option(Train, "shards")
@option(Train, "prune")
@option(TrainLabels, "stored_threshold", default=None)
@_settings_of_both
@earlier_option
@click.option("--json", "as_json", is_flag=True, help="One line of JSON.")
@click.option("--output", type=FILE, help="JSON to write: what the memory and time of any job follow from.")
def command(dataset, method, labels, threads, shards, prune, stored_threshold, earlier, as_json, output, **settings):
    """Say what training on DATASET (dataset.h5) will take: time, memory, size of the model.

    A random sample of the labels is solved in a process of its own, or one tree is grown; what they took is scaled to
    all of them. Expect the truth within a quarter, on a machine that does nothing else.
    """
    open_dataset(dataset)
    if method == "fastxml":
        sample = in_own_process(method, dataset=str(dataset), settings=_of(GrowTrees, settings))
    else:
        stored = Train(prune=prune).stored_threshold if stored_threshold is None else stored_threshold
        if prune < stored:
            raise InputError(
                f"a model pruned at {prune:g} needs weights below the stored threshold {stored:g}",
                remedy=f"give --stored-threshold={prune:g}",
            )
        sample = in_own_process(
            method,
            dataset=str(dataset),
            settings=_of(TrainLabels, settings) | {"stored_threshold": stored},
            prune=prune,
            n_labels=labels,
            seed=settings["seed"],
            earlier=None if earlier is None else str(earlier),
        )
    if output is not None:
        write_demand(output, sample.demand)
    unit = "trees" if method == "fastxml" else "labels"
    figures = summarize(sample, dataset, threads, shards, unit)
    if as_json:
        click.echo(json.dumps(figures))
        return
    for name, text in describe(figures, unit):
        click.echo(f"{name:<12}{text}")


def _of(model, settings):
    return {name: value for name, value in settings.items() if name in model.model_fields and value is not None}
