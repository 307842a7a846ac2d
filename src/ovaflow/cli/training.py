"""Training one-vs-all models, and the option that names an earlier model to start from."""

from pathlib import Path

import click

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.artifacts.means import read_means
from ovaflow.cli.options import DATASET, FILE, THREADS, output, reads, scratch_option
from ovaflow.console.progress import clock
from ovaflow.data.dataset import bring_near, open_dataset
from ovaflow.initialization.all_negative import read_root
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.initialization.starts import StartInputs
from ovaflow.machine.pinning import pinned
from ovaflow.model.model_file import open_model
from ovaflow.model.training_file import write_shard
from ovaflow.solver.problem import Status
from ovaflow.storage.parts import parts_of
from ovaflow.training.plan import read_plan
from ovaflow.training.shard_job import digest_of_shard, train_labels

earlier_option = click.option(
    "--earlier",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Model that --initialization=pretrained starts from.",
)


def read_earlier(path, dataset, training=None):
    """Match an earlier model with a dataset and say how much of it fits."""
    if path is None:
        return None, {}
    model = open_model(path)
    if training is not None:
        require_same_problem(model, training)
    earlier = match_model(model, dataset)
    click.echo(earlier.words, err=True)
    return earlier, {"earlier": model.checksum}


@click.command("train-shard")
@DATASET
@click.option("--means", type=FILE, required=True, help="Means of the dataset, by ovaflow means.")
@click.option("--plan", type=FILE, required=True, help="Table of shards, by ovaflow plan.")
@click.option("--root", type=FILE, help="Solved problem without positives, by ovaflow root; for starts that need it.")
@click.option("--label-tree", type=FILE, help="Label tree, by ovaflow label-tree; for the start of that name.")
@click.option("--shard", type=click.IntRange(0), required=True, help="Number of the shard.")
@reads("train-shard")
@earlier_option
@THREADS
@output("Shard file to write.")
@scratch_option
def train_shard_command(dataset, means, plan, root, label_tree, shard, earlier, threads, output, settings):
    """Train the labels of one shard of DATASET (dataset.h5)."""
    title = f"shard {shard}"
    with pinned(threads) as pinning:
        opened = open_dataset(dataset)
        earlier, made_from = read_earlier(earlier, opened, settings)
        labels = read_plan(plan, shard, opened.n_labels)
        more = {"earlier": earlier}
        if root is not None:
            more["root"] = read_root(root, opened.checksum, settings)
        if label_tree is not None:
            more["parents"] = read_label_tree(label_tree, opened.checksum).parent
        pinning.confine()
        near = bring_near(opened, pinning)
        pinning.tell(title)
        inputs = StartInputs.of(near, read_means(means, opened.checksum), **more)
        made_from |= {"dataset": opened.checksum}
        digest = digest_of_shard(labels, settings, inputs, made_from, "train-shard")
        with parts_of(output, digest, threads) as parts:
            done = train_labels(near, inputs, labels, settings, threads, title, parts)
            pinning.check()
            pinning.tell(title)
            figures = done.weights, done.trained, done.statistics
            write_shard(output, labels, *figures, settings.recorded, made_from, done.core_seconds, done.peak_rss_bytes)
    unfinished = int((done.statistics["status"] == Status.ITERATION_LIMIT).sum())
    unfinished += int((done.statistics["status"] == Status.LINE_SEARCH_FAILED).sum())
    taken_over = int((done.statistics["status"] == Status.TAKEN_OVER).sum())
    click.echo(
        f"{title}: {len(labels):,} labels, {len(done.weights.data):,} weights, "
        f"{clock(done.core_seconds)} of core time"
        + (f", {taken_over:,} labels taken over" if taken_over else "")
        + (f", {unfinished} labels not converged" if unfinished else "")
    )
