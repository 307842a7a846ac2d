"""``ovaflow plan``."""

import click
import numpy as np

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.cli.options import DATASET, FILE, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.training.plan import estimated_work, plan_shards, write_plan
from ovaflow.training.tree_parts import cost_of_cuts, cut_edges


@click.command("plan")
@DATASET
@reads("plan")
@click.option("--label-tree", type=FILE, help="Keep subtrees of this label tree together (label_tree.h5).")
@output("Plan to write (shards.tsv).")
def command(dataset, settings, label_tree, output):
    """Divide the labels of DATASET (dataset.h5) into shards of about equal work."""
    opened = open_dataset(dataset)
    tree = None if label_tree is None else read_label_tree(label_tree, opened.checksum)
    Y = opened.train.Y
    counts = np.bincount(Y.indices, minlength=Y.n_columns)
    work = estimated_work(counts)
    plan = plan_shards(work, settings.shards, tree, counts)
    write_plan(output, plan, work)
    loads = np.array([work[labels].sum() for labels in plan])
    over = 100 * (loads.max() / loads.mean() - 1) if loads.any() else 0.0
    cuts = "" if tree is None else _cuts(tree, counts, plan)
    click.echo(
        f"{Y.n_columns:,} labels in {len(plan):,} shards, the largest {over:.1f} % over the mean{cuts}: {output}"
    )


def _cuts(tree, counts, plan):
    cut = cut_edges(tree, plan)
    cost = cost_of_cuts(tree, counts, cut)
    more = 100 * cost / tree.total_cost if tree.total_cost else 0.0
    return f"; {len(cut):,} edges of the label tree cut, for {cost:,} ({more:.2f} %) more Hamming distance"
