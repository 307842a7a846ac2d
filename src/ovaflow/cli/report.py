"""``ovaflow report``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.configuration.places import published_results
from ovaflow.report.gather import gather
from ovaflow.report.machine import describe_machine, describe_software
from ovaflow.report.model_card import Statement
from ovaflow.report.page import render
from ovaflow.report.published import read_published
from ovaflow.storage.artifact import write_text


def _sweeps(context, parameter, given):
    sweeps = dict(text.partition("=")[::2] for text in given)
    if not all(name and runs for name, runs in sweeps.items()):
        raise click.BadParameter("expected NAME=RUN,RUN and so on")
    return {name: runs.split(",") for name, runs in sweeps.items()}


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--published",
    type=click.Path(path_type=Path),
    help="Table of published results, tab-separated; ovaflow's own by default.",
)
@click.option("--examples", type=click.IntRange(min=0), default=10, show_default=True, help="Test documents to show.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the choice of documents.")
@click.option(
    "--benchmarks",
    type=click.Path(path_type=Path),
    help="Folder of Snakemake's benchmark files, {dataset}/... and {dataset}/{run}/...; "
    "by default the folders 'benchmarks' beside the artifacts.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    callback=_sweeps,
    metavar="NAME=RUN,RUN...",
    help="Runs that differ in the value of a setting; they get a section of their own. May be given again.",
)
@click.option("--intended-use", default="", help="What the models are for, stated on the model card.")
@click.option("--licence", default="", help="Of the models, stated on the model card.")
@click.option(
    "--watts-per-core",
    default=Statement.watts_per_core,
    show_default=True,
    type=Finite(0),
    help="Power of a busy core, for the estimate of energy.",
)
@click.option("--grams-per-kwh", type=Finite(0), help="Carbon dioxide of the electricity; left out by default.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The page, such as results/report.html.")
def command(
    runs,
    published,
    examples,
    seed,
    benchmarks,
    sweeps,
    intended_use,
    licence,
    watts_per_core,
    grams_per_kwh,
    output,
):
    """Write one self-contained HTML page about all RUNS.

    Each of RUNS is a folder results/{dataset}/{run} with model.h5,
    predictions.h5, metrics.json and, where the method keeps it, training.h5;
    dataset.h5 is in its parent.
    """
    results = read_published(published or published_results())
    statement = Statement(intended_use, licence, watts_per_core, grams_per_kwh)
    sections = gather(runs, results, benchmarks, examples, seed, sweeps, statement)
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    write_text(output, render(sections, describe_machine(), describe_software(), written))
    click.echo(f"report: {output}")
