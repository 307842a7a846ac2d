"""Commands that measure a model on instances with known labels."""

import itertools
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, option, output, reads
from ovaflow.cli.predict import open_predictor
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.analysis import analyse, evaluate_groups, results_of_labels
from ovaflow.evaluation.curves import prune_curve
from ovaflow.evaluation.labelled_file import (
    FORMATS,
    annif_metrics,
    answer,
    by_label,
    by_probability,
    measure,
    reading_of,
)
from ovaflow.evaluation.metrics import PLACES, evaluate
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.training_file import read_training
from ovaflow.prediction.predictions import open_any_model, read_predictions
from ovaflow.settings.models import Report
from ovaflow.storage.texts import write_json
from ovaflow.storage.writing import write_csv


@click.command("evaluate")
@click.argument("data", type=click.Path(path_type=Path), metavar="FILE|PREDICTIONS")
@click.option("--model", "models", required=True, type=FILE, multiple=True, help="A model.h5; repeatable for a FILE.")
@click.option("--format", type=click.Choice(FORMATS), help="Format of FILE; by default from its name.")
@click.option(
    "--text-column", help="Text column (csv, jsonl, parquet), or several; by default that of the model's data."
)
@click.option("--labels-column", help="Labels column (csv, jsonl, parquet); by default that of the model's data.")
@click.option("--label-separator", help="Separator between labels; by default that of the model's data.")
@click.option("--labels", type=FILE, help="Table of labels to write, labels.csv; for a FILE, with one model.")
@THREADS
@click.option("--dataset", type=FILE, help="The dataset.h5 of the PREDICTIONS.")
@click.option("--training", type=FILE, help="PREDICTIONS: statistics of the training, training.h5.")
@reads("evaluate")
@click.option(
    "--output", type=FILE, help="JSON file to write: metrics.json for PREDICTIONS, what is printed for a FILE."
)
@click.option("--groups", type=FILE, help="PREDICTIONS: also write results by the labels' frequency, groups.json.")
@click.option("--analysis", type=FILE, help="PREDICTIONS: also write what the report says of labels, analysis.json.")
@click.option(
    "--metrics", "table", type=click.Choice(["annif"]), help="PREDICTIONS: also print what annif eval prints."
)
def evaluate_command(data, models, dataset, threads, labels, settings, table, **options):
    """Measure models on a labelled FILE, or compare PREDICTIONS with the test labels.

    FILE holds records that the models have not seen, with their labels, and is read as the data of each model was. With
    a second stage next to a model, F1 of the labels that fit and a table by probability are added.

    PREDICTIONS (predictions.h5) are compared with the labels of the test instances of --dataset; --training and
    --output are then needed.
    """
    of_file = {name: options.pop(name) for name in ("format", "text_column", "labels_column", "label_separator")}
    if dataset is None:
        for name, value in {**options, "metrics": table}.items():
            if value is not None and name != "output":
                raise click.UsageError(f"--{name} goes with --dataset")
        _evaluate_file(data, models, labels, options["output"], threads, **of_file)
        return
    lacking = [name for name in ("training", "output") if options[name] is None]
    if lacking or len(models) > 1:
        raise click.UsageError(f"--dataset needs --{lacking[0]}" if lacking else "--dataset goes with one --model")
    _evaluate_predictions(data, dataset, *models, settings, table, labels=labels, **options)


def _evaluate_predictions(predictions, dataset, model, settings, table, training, output, groups, analysis, labels):
    opened = read_predictions(predictions), open_dataset(dataset), open_any_model(model)
    constants = settings.propensity_a, settings.propensity_b
    metrics = evaluate(*opened, read_training(training), *constants)
    write_json(output, "metrics", metrics, of=opened[2].checksum)
    if groups:
        write_json(groups, "groups", evaluate_groups(*opened, *constants))
    if analysis:
        write_json(analysis, "analysis", analyse(*opened, *constants))
    if labels:
        write_csv(labels, results_of_labels(*opened[:2]))
    click.echo(f"{output}: {_summary(metrics, 'P')}, {_summary(metrics, 'PSP')}")
    if table:
        for name, value in annif_metrics(opened[0].ids, opened[1].test.Y).items():
            click.echo(f"{name:<31}{value}" if isinstance(value, int) else f"{name:<31}{value:.4f}")


def _evaluate_file(path, models, labels, output, threads, **chosen):
    if labels and len(models) > 1:
        raise click.UsageError("--labels goes with one --model")
    predictors = [open_predictor(model) for model in models]
    answers, metrics, levels = [], {}, {}
    for model, predictor in zip(models, predictors, strict=True):
        reading = reading_of(predictor.model, path, **chosen)
        answers.append(answer(predictor, path, reading, threads))
        metrics[model] = measure(answers[-1], predictor.model.probabilistic)
        if predictor.model.probabilistic:
            levels[model] = by_probability(answers[-1])
    console = Console(highlight=False)
    console.print(_metrics_table(metrics))
    if levels:
        console.print(_levels_table(levels, len(models) > 1))
    if output:
        entries = [{"model": str(model), "metrics": metrics[model], "automatic": levels.get(model)} for model in models]
        write_json(output, "evaluation", {"models": entries})
    if labels:
        write_csv(labels, by_label(answers[0], predictors[0].model))
        chosen = "labels that fit each record" if predictors[0].model.probabilistic else "the best 5 of each record"
        click.echo(f"{labels}: {chosen} count as predicted")


def _metrics_table(measured):
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    for model in measured:
        table.add_column(str(model), justify="right", overflow="fold")
    for name in dict.fromkeys(itertools.chain.from_iterable(measured.values())):
        table.add_row(name, *(_shown(metrics.get(name)) for metrics in measured.values()))
    return table


def _levels_table(levels, named):
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("probability")
    if named:
        table.add_column("model", overflow="fold")
    for name in ("precision", "recall", "records with a label"):
        table.add_column(name, justify="right")
    for rows in zip(*levels.values(), strict=True):
        for number, (model, row) in enumerate(zip(levels, rows, strict=True)):
            first = ["" if number else f"at least {row['probability']:g}", *[str(model)] * named]
            table.add_row(*first, *(_shown(row[name]) for name in ("precision", "recall", "instances")))
    return table


def _shown(value):
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{100 * value:.1f} %"


def _summary(metrics, name):
    places = [k for k in PLACES if f"{name}@{k}" in metrics]
    values = "/".join(f"{100 * metrics[f'{name}@{k}']:.1f}" for k in places)
    return f"{name}@{'/'.join(map(str, places))} {values}"


@click.command("prune-curve")
@click.argument("model", type=FILE)
@OF_DATASET
@option(Report, "prune_thresholds", "threshold")
@reads("prune-curve")
@THREADS
@output("Curve to write, prune.json.")
def prune_curve_command(model, dataset, prune_thresholds, settings, threads, output):
    """Measure quality and size of MODEL (model.h5) pruned at larger thresholds, on the test instances."""
    opened = OneVsAll.open(model), open_dataset(dataset)
    curve = prune_curve(*opened, prune_thresholds, settings.propensity_a, settings.propensity_b, threads)
    write_json(output, "prune-curve", curve)
    for point in curve["points"]:
        click.echo(f"pruned at {point['prune']:g}: P@1 {100 * point['P@1']:.1f}, {point['nonzeros']:,} weights")
