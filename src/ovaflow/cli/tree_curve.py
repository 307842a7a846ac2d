"""``ovaflow tree-curve``."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.dataset import open_dataset
from ovaflow.data.propensity import A, B
from ovaflow.evaluation.tree_curve import tree_curve
from ovaflow.fastxml.model_file import open_forest
from ovaflow.storage.texts import write_json

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("tree-curve")
@click.argument("model", type=_FILE)
@click.option("--dataset", required=True, type=_FILE, help="The dataset file, dataset.h5.")
@click.option("--propensity-a", default=A, show_default=True, type=Finite(0, min_open=True), help="A of PSP@k.")
@click.option("--propensity-b", default=B, show_default=True, type=Finite(0), help="B of PSP@k.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), help="They change no result.")
@click.option("--output", required=True, type=_FILE, help="Curve to write, trees.json.")
def command(model, dataset, propensity_a, propensity_b, threads, output):
    """Quality of MODEL (model.h5, of fastxml) by number of trees, on the test instances."""
    opened = open_forest(model), open_dataset(dataset)
    curve = tree_curve(*opened, threads, propensity_a, propensity_b)
    write_json(output, "tree-curve", curve)
    for point in curve["points"]:
        click.echo(f"{point['trees']} trees: P@1 {100 * point['P@1']:.1f}, P@5 {100 * point['P@5']:.1f}")
