"""``ovaflow plan``."""

import click
import numpy as np

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.data.dataset import open_dataset
from ovaflow.training.plan import estimated_work, plan_shards, write_plan


@click.command(short_help="Divide the labels into shards of equal work.")
@click.argument("dataset", type=click.Path())
@click.option("--shards", required=True, type=click.IntRange(min=1), help="Number of shards.")
@click.option("--label-tree", type=click.Path(), help="Keep subtrees of this label tree together (label_tree.h5).")
@click.option("--output", required=True, type=click.Path(), help="Plan to write (shards.tsv).")
def command(dataset, shards, label_tree, output):
    """Divide the labels of DATASET (dataset.h5) into shards of about equal work."""
    opened = open_dataset(dataset, verify=True)
    tree = None if label_tree is None else read_label_tree(label_tree, opened.checksum)
    Y = opened.train.Y
    work = estimated_work(np.bincount(Y.indices, minlength=Y.n_columns))
    plan = plan_shards(work, shards, tree)
    write_plan(output, plan, work)
    loads = np.array([work[labels].sum() for labels in plan])
    over = 100 * (loads.max() / loads.mean() - 1) if loads.any() else 0.0
    click.echo(f"{Y.n_columns:,} labels in {shards:,} shards, the largest {over:.1f} % over the mean: {output}")
