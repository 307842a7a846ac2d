"""ovaflow predict."""

from pathlib import Path

import click

from ovaflow.data.dataset import open_dataset
from ovaflow.prediction.methods import open_any_model
from ovaflow.prediction.predict_dataset import predict_test_set
from ovaflow.prediction.predictions_file import write_predictions

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("predict")
@click.argument("model", type=_FILE)
@click.option("--dataset", required=True, type=_FILE, help="The dataset file, dataset.h5.")
@click.option("--top-k", default=5, show_default=True, type=click.IntRange(min=1), help="Labels kept per instance.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), help="They change no result.")
@click.option(
    "--output",
    required=True,
    type=_FILE,
    help="Predictions file to write, predictions.h5.",
)
def command(model, dataset, top_k, threads, output):
    """Predict the best labels of each test instance with MODEL (model.h5)."""
    opened = open_any_model(model, verify=True), open_dataset(dataset, verify=True)
    predictions = predict_test_set(*opened, top_k, threads)
    write_predictions(output, predictions)
    n = len(predictions.ids)
    each = 1000 * predictions.seconds * threads / max(n, 1)
    click.echo(f"{output}: top {top_k} of {n:,} instances in {predictions.seconds:.1f} s, {each:.2f} core-ms each")
