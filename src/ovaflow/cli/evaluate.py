"""ovaflow evaluate."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.dataset import open_dataset
from ovaflow.data.propensity import A, B
from ovaflow.evaluation.analysis import analyse
from ovaflow.evaluation.metrics import evaluate, evaluate_groups
from ovaflow.model.training_file import read_training
from ovaflow.prediction.methods import open_any_model
from ovaflow.prediction.predictions_file import read_predictions
from ovaflow.storage.texts import write_json

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("evaluate")
@click.argument("predictions", type=FILE)
@click.option("--dataset", required=True, type=FILE, help="The dataset file, dataset.h5.")
@click.option("--model", required=True, type=FILE, help="The model file, model.h5.")
@click.option("--training", required=True, type=FILE, help="Statistics of the training, training.h5.")
@click.option(
    "--propensity-a",
    default=A,
    show_default=True,
    type=Finite(0, min_open=True),
    help="A of the propensities (Jain et al. 2016).",
)
@click.option(
    "--propensity-b", default=B, show_default=True, type=Finite(0), help="B of the propensities (Jain et al. 2016)."
)
@click.option("--output", required=True, type=FILE, help="Metrics file to write, metrics.json.")
@click.option("--groups", type=FILE, help="Also write results by training frequency of the labels, groups.json.")
@click.option(
    "--analysis",
    type=FILE,
    help="Also write what the report tells of frequent and rare labels and of failures, analysis.json.",
)
def command(predictions, dataset, model, training, propensity_a, propensity_b, output, groups, analysis):
    """Compare PREDICTIONS (predictions.h5) with the labels of the test instances."""
    opened = (
        read_predictions(predictions),
        open_dataset(dataset),
        open_any_model(model),
    )
    metrics = evaluate(*opened, read_training(training), propensity_a, propensity_b)
    write_json(output, "metrics", metrics, of=opened[2].checksum)
    if groups:
        write_json(groups, "groups", evaluate_groups(*opened))
    if analysis:
        write_json(analysis, "analysis", analyse(*opened, propensity_a, propensity_b))
    click.echo(f"{output}: {_summary(metrics, 'P')}, {_summary(metrics, 'PSP')}")


def _summary(metrics, name):
    places = [k for k in (1, 3, 5) if f"{name}@{k}" in metrics]
    values = "/".join(f"{100 * metrics[f'{name}@{k}']:.1f}" for k in places)
    return f"{name}@{'/'.join(map(str, places))} {values}"
