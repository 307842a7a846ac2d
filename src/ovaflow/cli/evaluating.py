"""Commands that measure a model on instances with known labels."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, option, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.analysis import analyse, evaluate_groups, results_of_labels
from ovaflow.evaluation.calibration_curve import calibration_curve
from ovaflow.evaluation.curves import prune_curve
from ovaflow.evaluation.metrics import evaluate
from ovaflow.evaluation.ranking import find_hits
from ovaflow.model.model_file import open_model
from ovaflow.model.training_file import read_training
from ovaflow.prediction.calibrate import calibrate, require_parts_of_one
from ovaflow.prediction.calibration import read_calibration, write_calibration
from ovaflow.prediction.predictions import open_any_model, read_predictions
from ovaflow.settings.models import Report
from ovaflow.storage.texts import write_json
from ovaflow.storage.writing import write_text


@click.command("evaluate")
@click.argument("predictions", type=FILE)
@OF_DATASET
@click.option("--model", required=True, type=FILE, help="The model file, model.h5.")
@click.option("--training", required=True, type=FILE, help="Statistics of the training, training.h5.")
@reads("evaluate")
@output("Metrics file to write, metrics.json.")
@click.option("--groups", type=FILE, help="Also write results by the labels' training frequency, groups.json.")
@click.option("--analysis", type=FILE, help="Also write what the report says of labels and failures, analysis.json.")
@click.option("--labels", type=FILE, help="Also write results of each label, labels.csv.")
@click.option("--metrics", "table", type=click.Choice(["annif"]), help="Also print what annif eval prints.")
def evaluate_command(predictions, dataset, model, training, settings, output, groups, analysis, labels, table):
    """Compare PREDICTIONS (predictions.h5) with the labels of the test instances."""
    opened = read_predictions(predictions), open_dataset(dataset), open_any_model(model)
    constants = settings.propensity_a, settings.propensity_b
    metrics = evaluate(*opened, read_training(training), *constants)
    write_json(output, "metrics", metrics, of=opened[2].checksum)
    if groups:
        write_json(groups, "groups", evaluate_groups(*opened, *constants))
    if analysis:
        write_json(analysis, "analysis", analyse(*opened, *constants))
    if labels:
        write_text(labels, results_of_labels(*opened[:2]))
    click.echo(f"{output}: {_summary(metrics, 'P')}, {_summary(metrics, 'PSP')}")
    if table:
        # scikit-learn takes a second to load
        from ovaflow.evaluation.annif import annif_metrics

        for name, value in annif_metrics(opened[0].ids, opened[1].test.Y).items():
            click.echo(f"{name:<31}{value}" if isinstance(value, int) else f"{name:<31}{value:.4f}")


def _summary(metrics, name):
    places = [k for k in (1, 3, 5) if f"{name}@{k}" in metrics]
    values = "/".join(f"{100 * metrics[f'{name}@{k}']:.1f}" for k in places)
    return f"{name}@{'/'.join(map(str, places))} {values}"


@click.command("calibrate")
@click.argument("model", type=FILE)
@click.option("--held-out", required=True, type=FILE, help="Dataset file, by ovaflow hold-out.")
@click.option("--predictions", required=True, type=FILE, help="Predictions for it by a model of its training data.")
@output("Calibration file to write, calibration.h5.")
def calibrate_command(model, held_out, predictions, output):
    """Turn scores of MODEL (model.h5) into probabilities, and find the threshold of each label."""
    dataset, predicted = open_dataset(held_out), read_predictions(predictions)
    opened = open_any_model(model)
    require_parts_of_one(opened, dataset, predicted)
    calibration = calibrate(opened, dataset, predicted, find_hits(predicted.ids, dataset.test.Y))
    write_calibration(output, calibration)
    p, q = calibration.parameters["precisions"]
    click.echo(f"{output}: from {dataset.test.X.n_rows:,} instances; prior precisions {p:g} of levels, {q:g} of slopes")


@click.command("calibration-curve")
@click.argument("model", type=FILE)
@click.option("--calibration", required=True, type=FILE, help="The model's calibration.h5.")
@OF_DATASET
@reads("calibration-curve")
@THREADS
@output("Measurements to write, calibration.json.")
def calibration_curve_command(model, calibration, dataset, settings, threads, output):
    """Measure MODEL's (model.h5) probabilities, and F1 at its thresholds, on the test instances."""
    opened = open_any_model(model)
    read = read_calibration(calibration, opened)
    measured = calibration_curve(opened, read, open_dataset(dataset), settings.top_k, threads)
    write_json(output, "calibration-curve", measured)
    for way in measured["probabilities"]:
        errors = f"expected calibration error {100 * way['ece']:.1f} %, log loss {way['log_loss']:.4f}"
        click.echo(f"{way['name']}: {errors}, Brier {way['brier']:.4f}")
    for way in measured["thresholds"]:
        f1 = f"micro-F1 {100 * way['micro-F1']:.1f}, macro-F1 {100 * way['macro-F1']:.1f}"
        click.echo(f"{way['name']}: {f1}, {way['predicted']:.1f} labels per instance")


@click.command("prune-curve")
@click.argument("model", type=FILE)
@OF_DATASET
@option(Report, "prune_thresholds", "threshold")
@reads("prune-curve")
@THREADS
@output("Curve to write, prune.json.")
def prune_curve_command(model, dataset, prune_thresholds, settings, threads, output):
    """Measure quality and size of MODEL (model.h5) pruned at larger thresholds, on the test instances."""
    opened = open_model(model), open_dataset(dataset)
    curve = prune_curve(*opened, prune_thresholds, settings.propensity_a, settings.propensity_b, threads)
    write_json(output, "prune-curve", curve)
    for point in curve["points"]:
        click.echo(f"pruned at {point['prune']:g}: P@1 {100 * point['P@1']:.1f}, {point['nonzeros']:,} weights")
