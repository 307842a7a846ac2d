"""``ovaflow prune-curve``."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.dataset import open_dataset
from ovaflow.data.propensity import A, B
from ovaflow.evaluation.prune_curve import prune_curve
from ovaflow.model.model_file import open_model
from ovaflow.storage.texts import write_json

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("prune-curve")
@click.argument("model", type=_FILE)
@click.option("--dataset", required=True, type=_FILE, help="The dataset file, dataset.h5.")
@click.option("--threshold", "thresholds", multiple=True, required=True, type=Finite(0), help="May be repeated.")
@click.option("--propensity-a", default=A, show_default=True, type=Finite(0, min_open=True), help="A of PSP@k.")
@click.option("--propensity-b", default=B, show_default=True, type=Finite(0), help="B of PSP@k.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), help="They change no result.")
@click.option("--output", required=True, type=_FILE, help="Curve to write, prune.json.")
def command(model, dataset, thresholds, propensity_a, propensity_b, threads, output):
    """Quality and size of MODEL (model.h5) pruned at larger thresholds, on the test instances."""
    opened = open_model(model), open_dataset(dataset)
    curve = prune_curve(*opened, thresholds, threads, propensity_a, propensity_b)
    write_json(output, "prune-curve", curve)
    for point in curve["points"]:
        click.echo(f"pruned at {point['prune']:g}: P@1 {100 * point['P@1']:.1f}, {point['nonzeros']:,} weights")
