"""Commands that compute what the training of all shards shares: means, label tree, root, plan."""

import click
import numpy as np

from ovaflow.artifacts.label_tree import compute_label_tree, read_label_tree, write_label_tree
from ovaflow.artifacts.means import compute_means, write_means
from ovaflow.cli.options import DATASET, FILE, THREADS, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.all_negative import solve_root, write_root
from ovaflow.solver.problem import Status
from ovaflow.training.plan import cost_of_cuts, cut_edges, estimated_work, plan_shards, write_plan


@click.command("means")
@DATASET
@output("Means file to write (means.h5).")
@THREADS
def means_command(dataset, output, threads):
    """Compute the means of all instances and of each label's positives in DATASET (dataset.h5)."""
    opened = open_dataset(dataset)
    means = compute_means(opened.train.X, opened.positives, threads)
    write_means(output, means, opened.checksum)
    trained = int((means.counts > 0).sum())
    click.echo(f"means of {opened.train.X.n_rows:,} instances and {trained:,} labels with positives: {output}")


@click.command("label-tree")
@DATASET
@output("Label tree file to write (label_tree.h5).")
def label_tree_command(dataset, output):
    """Compute the minimum spanning tree over the labels of DATASET (dataset.h5) and the all-negative root."""
    opened = open_dataset(dataset)
    tree = compute_label_tree(opened.train.Y)
    write_label_tree(output, tree, opened.checksum)
    click.echo(
        f"label tree with {tree.subtrees:,} subtrees, height {tree.height}, "
        f"cost {tree.total_cost:,} against {tree.star_cost:,} of the star: {output}"
    )


@click.command("root")
@DATASET
@reads("root")
@output("Root file to write (root.h5).")
def root_command(dataset, output, settings):
    """Solve the problem without positives on DATASET (dataset.h5).

    The all-negative start begins every label there, the label-tree start the
    children of the root.
    """
    opened = open_dataset(dataset)
    weights, outcome = solve_root(opened.train.X, settings)
    write_root(output, weights, outcome, settings, opened.checksum)
    click.echo(
        f"root after {outcome.newton_steps} Newton and {outcome.cg_steps} conjugate gradient steps, "
        f"{outcome.active_end:,} of {opened.train.X.n_rows:,} instances active"
        + ("" if outcome.status == Status.CONVERGED else ", not converged")
        + f": {output}"
    )


@click.command("plan")
@DATASET
@reads("plan")
@click.option("--label-tree", type=FILE, help="Keep subtrees of this label tree together (label_tree.h5).")
@output("Plan to write (shards.tsv).")
def plan_command(dataset, settings, label_tree, output):
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
