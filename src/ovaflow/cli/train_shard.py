"""``ovaflow train-shard``."""

import click

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.artifacts.means import read_means
from ovaflow.cli.earlier_model import earlier_option, read_earlier
from ovaflow.cli.options import DATASET, FILE, THREADS, output, reads
from ovaflow.cli.scratch_option import scratch_option
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.data.local_features import bring_near
from ovaflow.initialization.all_negative import read_root
from ovaflow.initialization.starts import StartInputs
from ovaflow.machine.place import placed
from ovaflow.model.shard_file import write_shard
from ovaflow.solver.problem import Status
from ovaflow.storage.parts import parts_of
from ovaflow.training.plan import read_plan
from ovaflow.training.shard_job import digest_of_shard, train_labels


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
def command(dataset, means, plan, root, label_tree, shard, earlier, threads, output, settings):
    """Train the labels of one shard of DATASET (dataset.h5)."""
    title = f"shard {shard}"
    with placed(threads) as place:
        opened = open_dataset(dataset)
        earlier, made_from = read_earlier(earlier, opened, settings)
        labels = read_plan(plan, shard, opened.n_labels)
        more = {"earlier": earlier}
        if root is not None:
            more["root"] = read_root(root, opened.checksum, settings)
        if label_tree is not None:
            more["parents"] = read_label_tree(label_tree, opened.checksum).parent
        place.confine()
        near = bring_near(opened, place)
        place.tell(title)
        inputs = StartInputs.of(near, read_means(means, opened.checksum), **more)
        made_from |= {"dataset": opened.checksum}
        digest = digest_of_shard(labels, settings, inputs, made_from, __name__)
        with parts_of(output, digest, threads) as parts:
            done = train_labels(near, inputs, labels, settings, threads, title, parts)
            place.check()
            place.tell(title)
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
