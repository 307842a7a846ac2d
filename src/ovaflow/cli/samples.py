"""Commands that train a sample of the labels, to measure it."""

import json

import click

from ovaflow.cli.options import DATASET, FILE, SHARDS, THREADS, chosen_option, number, option, with_chosen
from ovaflow.cli.training import earlier_option
from ovaflow.estimate.demand import write_demand
from ovaflow.estimate.sample import in_separate_process
from ovaflow.estimate.summary import describe, summarize
from ovaflow.settings.inputs import settings_read
from ovaflow.settings.models import GrowTrees, Train, TrainLabels


def _settings_of_both(command):
    models = dict.fromkeys(settings_read("train-trees").fields, GrowTrees)
    models |= dict.fromkeys(settings_read("train-shard").fields, TrainLabels)
    del models["stored_threshold"]
    for name, model in reversed(models.items()):
        command = option(model, name)(command)
    return command


_METHOD = click.Choice(["one-vs-all", "fastxml"])


@click.command("estimate")
@DATASET
@click.option("--method", type=_METHOD, default="one-vs-all", show_default=True, help="Kind of model.")
@number("--labels", 300, "Approximate size of the sample of labels.", least=2)
@THREADS
@SHARDS
@option(Train, "prune")
@option(TrainLabels, "stored_threshold", default=None)
@_settings_of_both
@chosen_option("C")
@earlier_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON instead.")
@click.option("--output", type=FILE, help="JSON file to write for the workflow; no suggestion is printed then.")
def estimate_command(
    dataset, method, labels, threads, shards, prune, stored_threshold, earlier, as_json, output, chosen_C, **settings
):
    """Estimate what training on DATASET (dataset.h5) will take: time, memory and size of the model.

    A random sample of the labels is solved, or one tree is grown, in a separate process, and its cost is scaled up.
    ± is the range of 95 of 100 samples. A machine that is busier during the training than now takes longer.
    """
    settings["C"] = with_chosen(Train(C=settings["C"]), {"C": chosen_C}).C
    if method == "fastxml":
        sample = in_separate_process(method, dataset=str(dataset), settings=_of(GrowTrees, settings))
    else:
        stored = Train(prune=prune).stored_threshold if stored_threshold is None else stored_threshold
        sample = in_separate_process(
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
        # a run, for which the file is written, has chosen its jobs and threads, and shows both trainings
        if output is None or name not in ("suggestion", "with rerank"):
            click.echo(f"{name:<12}{text}")


def _of(model, settings):
    return {name: value for name, value in settings.items() if name in model.model_fields and value is not None}
