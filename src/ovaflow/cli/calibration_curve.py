"""ovaflow calibration-curve."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.calibration_curve import calibration_curve
from ovaflow.prediction.calibration import read_calibration
from ovaflow.prediction.methods import open_any_model
from ovaflow.storage.texts import write_json


@click.command("calibration-curve")
@click.argument("model", type=FILE)
@click.option("--calibration", required=True, type=FILE, help="The model's calibration.h5.")
@OF_DATASET
@reads("calibration-curve")
@THREADS
@output("Measurements to write, calibration.json.")
def command(model, calibration, dataset, settings, threads, output):
    """Reliability of MODEL's (model.h5) probabilities, and F1 at its thresholds, on the test instances."""
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
