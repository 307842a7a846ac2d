"""Training one-vs-all models: what all shards share, one shard, and the option that names an earlier model."""

from dataclasses import replace

import click
import numpy as np

from ovaflow.artifacts.label_tree import LabelTree, compute_label_tree
from ovaflow.artifacts.means import Means, compute_means
from ovaflow.cli.options import DATASET, FILE, SHARDS, THREADS, output, reads, scratch_option
from ovaflow.console.progress import clock
from ovaflow.data.dataset import bring_near, open_dataset
from ovaflow.initialization.all_negative import Root, solve_root
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.initialization.starts import StartInputs
from ovaflow.machine.pinning import pinned
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.training_file import Shard
from ovaflow.solver.problem import Status
from ovaflow.storage.parts import open_parts, restore
from ovaflow.training.plan import estimated_work, plan_shards, read_plan, write_plan
from ovaflow.training.shard_job import digest_of_shard, train_labels


@click.command("means")
@DATASET
@output("Means file to write (means.h5).")
@THREADS
def means_command(dataset, output, threads):
    """Compute the means of all instances and of each label's positives in DATASET (dataset.h5)."""
    opened = open_dataset(dataset)
    means = compute_means(opened.train.X, opened.positives, threads, opened.n_documents)
    means.write(output, dataset=opened)
    trained = int((means.counts > 0).sum())
    click.echo(f"means of {opened.n_documents:,} instances and {trained:,} labels with positives: {output}")


@click.command("label-tree")
@DATASET
@output("Label tree file to write (label_tree.h5).")
def label_tree_command(dataset, output):
    """Compute the minimum spanning tree over the labels of DATASET (dataset.h5) and the all-negative root."""
    opened = open_dataset(dataset)
    tree = compute_label_tree(opened.train.Y)
    tree.write(output, dataset=opened)
    cost = f"cost {tree.total_cost:,} against {tree.star_cost:,} of the star"
    click.echo(f"label tree with {tree.subtrees:,} subtrees, height {tree.height}, {cost}: {output}")


@click.command("root")
@DATASET
@reads("root")
@output("Root file to write (root.h5).")
def root_command(dataset, output, settings):
    """Solve the problem without positives on DATASET (dataset.h5).

    Every label starts there with the all-negative start, the children of the root with the label-tree start.
    """
    opened = open_dataset(dataset)
    root = solve_root(opened.documents.train.X, settings)
    root.write(output, dataset=opened)
    converged = "" if root.outcome.status == Status.CONVERGED else ", not converged"
    click.echo(f"root after {root.outcome.newton_steps} Newton steps{converged}: {output}")


@click.command("plan")
@DATASET
@SHARDS
@click.option("--label-tree", type=FILE, help="Keep subtrees of this label tree together (label_tree.h5).")
@output("Plan to write (shards.tsv).")
def plan_command(dataset, shards, label_tree, output):
    """Divide the labels of DATASET (dataset.h5) into shards of about equal work."""
    opened = open_dataset(dataset)
    tree = None if label_tree is None else LabelTree.open(label_tree, dataset=opened)
    Y = opened.train.Y
    counts = np.bincount(Y.indices, minlength=Y.n_columns)
    work = estimated_work(counts)
    plan = plan_shards(work, shards, tree, counts)
    write_plan(output, plan, work)
    loads = np.array([work[labels].sum() for labels in plan])
    over = 100 * (loads.max() / loads.mean() - 1) if loads.any() else 0.0
    amount = "1 shard" if len(plan) == 1 else f"{len(plan):,} shards"
    click.echo(f"{Y.n_columns:,} labels in {amount}, the largest {over:.1f} % over the mean: {output}")


earlier_option = click.option("--earlier", type=FILE, help="Model that --initialization=pretrained starts from.")


def read_earlier(path, dataset, training=None):
    """Match an earlier model with a dataset and print how much of it fits."""
    if path is None:
        return None, {}
    model = LabelWeights.open(path)
    if training is not None:
        require_same_problem(model, training)
    earlier = match_model(model, dataset)
    click.echo(earlier.summary, err=True)
    return earlier, {"earlier": model.checksum}


@click.command("train-shard")
@DATASET
@click.option("--means", required=True, type=FILE, help="Means of the dataset, by ovaflow means.")
@click.option("--plan", type=FILE, required=True, help="Table of shards, by ovaflow plan.")
@click.option("--root", type=FILE, help="Solution without positives, by ovaflow root, for the starts that need it.")
@click.option("--label-tree", type=FILE, help="Label tree, by ovaflow label-tree, for the start of that name.")
@click.option("--shard", type=click.IntRange(0), required=True, help="Number of the shard.")
@reads("train-shard")
@earlier_option
@THREADS
@output("Shard file to write.")
@scratch_option
def train_shard_command(dataset, means, plan, root, label_tree, shard, earlier, threads, output, settings):
    """Train the labels of one shard of DATASET (dataset.h5)."""
    title = f"shard {shard}"
    with pinned(threads, title) as pinning:
        opened = open_dataset(dataset)
        earlier, made_from = read_earlier(earlier, opened, settings)
        labels = read_plan(plan, shard, opened.n_labels)
        starts = {"earlier": earlier}
        if root is not None:
            opened_root = Root.open(root, dataset=opened)
            opened_root.require_settings(settings)
            starts["root"] = opened_root.weights
        if label_tree is not None:
            starts["parents"] = LabelTree.open(label_tree, dataset=opened).parent
        near = bring_near(opened, pinning)
        inputs = StartInputs.of(near, Means.open(means, dataset=opened), **starts)
        made_from |= {"dataset": opened.checksum}
        digest = digest_of_shard(labels, settings, inputs, made_from)
        if restore(output, digest, Shard.open):
            return
        with open_parts(output, digest) as parts:
            done = train_labels(near, inputs, labels, settings, threads, title, parts)
            replace(done, parameters=settings.recorded, inputs=made_from).write(output)
    status = done.statistics["status"]
    counts = {
        "taken over": (status == Status.TAKEN_OVER).sum(),
        "not converged": np.isin(status, (Status.ITERATION_LIMIT, Status.LINE_SEARCH_FAILED)).sum(),
    }
    others = "".join(f", {count:,} labels {outcome}" for outcome, count in counts.items() if count)
    time = clock(done.core_seconds)
    click.echo(f"{title}: {len(labels):,} labels, {len(done.weights.data):,} weights, {time} of core time{others}")
