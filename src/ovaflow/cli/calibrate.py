"""ovaflow calibrate."""

import click

from ovaflow.cli.options import FILE, output
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.ranking import find_hits
from ovaflow.prediction.calibrate import calibrate, require_parts_of_one
from ovaflow.prediction.calibration import write_calibration
from ovaflow.prediction.methods import open_any_model
from ovaflow.prediction.predictions_file import read_predictions


@click.command("calibrate")
@click.argument("model", type=FILE)
@click.option("--held-out", required=True, type=FILE, help="Dataset file of hold-out.")
@click.option(
    "--predictions", required=True, type=FILE, help="Predictions for it, of a model trained on its training instances."
)
@output("Calibration file to write, calibration.h5.")
def command(model, held_out, predictions, output):
    """Turn scores of MODEL (model.h5) into probabilities, and find the threshold of each label."""
    dataset, predicted = open_dataset(held_out), read_predictions(predictions)
    opened = open_any_model(model)
    require_parts_of_one(opened, dataset, predicted)
    calibration = calibrate(opened, dataset, predicted, find_hits(predicted.ids, dataset.test.Y))
    write_calibration(output, calibration)
    p, q = calibration.parameters["precisions"]
    click.echo(f"{output}: from {dataset.test.X.n_rows:,} instances; prior precisions {p:g} of levels, {q:g} of slopes")
