"""Commands of FastXML."""

import click

from ovaflow.cli.evaluating import at_places
from ovaflow.cli.options import FILE, OF_DATASET, THREADS, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.fastxml.curve import tree_curve
from ovaflow.fastxml.model_file import ForestModel
from ovaflow.storage.texts import write_json


@click.command("tree-curve")
@click.argument("model", type=FILE)
@OF_DATASET
@reads("tree-curve")
@THREADS
@output("Curve to write, trees.json.")
def tree_curve_command(model, dataset, settings, threads, output):
    """Measure the quality of MODEL (model.h5, of fastxml) by number of trees, on the test instances."""
    opened = ForestModel.open(model), open_dataset(dataset)
    curve = tree_curve(*opened, settings.propensity_a, settings.propensity_b, threads)
    write_json(output, "tree-curve", curve)
    for point in curve["points"]:
        click.echo(f"{point['trees']} trees: {at_places(point, 'P')}")
