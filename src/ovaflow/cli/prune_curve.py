"""``ovaflow prune-curve``."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, option, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.curves import prune_curve
from ovaflow.model.model_file import open_model
from ovaflow.settings.models import Report
from ovaflow.storage.texts import write_json


@click.command("prune-curve")
@click.argument("model", type=FILE)
@OF_DATASET
@option(Report, "prune_thresholds", "threshold")
@reads("prune-curve")
@THREADS
@output("Curve to write, prune.json.")
def command(model, dataset, prune_thresholds, settings, threads, output):
    """Quality and size of MODEL (model.h5) pruned at larger thresholds, on the test instances."""
    opened = open_model(model), open_dataset(dataset)
    curve = prune_curve(*opened, prune_thresholds, settings.propensity_a, settings.propensity_b, threads)
    write_json(output, "prune-curve", curve)
    for point in curve["points"]:
        click.echo(f"pruned at {point['prune']:g}: P@1 {100 * point['P@1']:.1f}, {point['nonzeros']:,} weights")
