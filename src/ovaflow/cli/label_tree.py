"""``ovaflow label-tree``."""

import click

from ovaflow.artifacts.label_tree import compute_label_tree, write_label_tree
from ovaflow.cli.options import DATASET, output
from ovaflow.data.dataset import open_dataset


@click.command("label-tree")
@DATASET
@output("Label tree file to write (label_tree.h5).")
def command(dataset, output):
    """Compute the minimum spanning tree over the labels of DATASET (dataset.h5) and the all-negative root."""
    opened = open_dataset(dataset)
    tree = compute_label_tree(opened.train.Y)
    write_label_tree(output, tree, opened.checksum)
    click.echo(
        f"label tree with {tree.subtrees:,} subtrees, height {tree.height}, "
        f"cost {tree.total_cost:,} against {tree.star_cost:,} of the star: {output}"
    )
