"""ovaflow evaluate."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.analysis import analyse, evaluate_groups
from ovaflow.evaluation.metrics import evaluate
from ovaflow.model.training_file import read_training
from ovaflow.prediction.methods import open_any_model
from ovaflow.prediction.predictions_file import read_predictions
from ovaflow.storage.texts import write_json


@click.command("evaluate")
@click.argument("predictions", type=FILE)
@OF_DATASET
@click.option("--model", required=True, type=FILE, help="The model file, model.h5.")
@click.option("--training", required=True, type=FILE, help="Statistics of the training, training.h5.")
@reads("evaluate")
@output("Metrics file to write, metrics.json.")
@click.option("--groups", type=FILE, help="Also write results by training frequency of the labels, groups.json.")
@click.option(
    "--analysis",
    type=FILE,
    help="Also write what the report tells of frequent and rare labels and of failures, analysis.json.",
)
def command(predictions, dataset, model, training, settings, output, groups, analysis):
    """Compare PREDICTIONS (predictions.h5) with the labels of the test instances."""
    opened = (
        read_predictions(predictions),
        open_dataset(dataset),
        open_any_model(model),
    )
    constants = settings.propensity_a, settings.propensity_b
    metrics = evaluate(*opened, read_training(training), *constants)
    write_json(output, "metrics", metrics, of=opened[2].checksum)
    if groups:
        write_json(groups, "groups", evaluate_groups(*opened))
    if analysis:
        write_json(analysis, "analysis", analyse(*opened, *constants))
    click.echo(f"{output}: {_summary(metrics, 'P')}, {_summary(metrics, 'PSP')}")


def _summary(metrics, name):
    places = [k for k in (1, 3, 5) if f"{name}@{k}" in metrics]
    values = "/".join(f"{100 * metrics[f'{name}@{k}']:.1f}" for k in places)
    return f"{name}@{'/'.join(map(str, places))} {values}"
