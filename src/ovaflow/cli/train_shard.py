"""``ovaflow train-shard``."""

from pathlib import Path

import click

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.artifacts.means import read_means
from ovaflow.cli.earlier_model import earlier_option, read_earlier
from ovaflow.cli.numbers import Finite
from ovaflow.cli.problem_options import problem_options
from ovaflow.cli.scratch_option import scratch_option
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.data.local_features import bring_near
from ovaflow.initialization.all_negative import read_root
from ovaflow.initialization.pretrained import RETRAIN
from ovaflow.initialization.starts import STARTS, StartInputs
from ovaflow.machine.place import placed
from ovaflow.model.shard_file import write_shard
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import Status
from ovaflow.training.finished_labels import journal_of_labels
from ovaflow.training.label_jobs import Training
from ovaflow.training.memory import requested_megabytes
from ovaflow.training.plan import read_plan
from ovaflow.training.shard_job import train_labels

_FILE = click.Path(path_type=Path, dir_okay=False)
_DEFAULT = Training()


@click.command("train-shard")
@click.argument("dataset", type=_FILE)
@click.option("--means", type=_FILE, required=True, help="Means of the dataset, by ovaflow means.")
@click.option("--plan", type=_FILE, required=True, help="Table of shards, by ovaflow plan.")
@click.option("--root", type=_FILE, help="Solved problem without positives, by ovaflow root; for starts that need it.")
@click.option("--label-tree", type=_FILE, help="Label tree, by ovaflow label-tree; for the start of that name.")
@click.option("--shard", type=click.IntRange(0), required=True, help="Number of the shard.")
@click.option(
    "--initialization",
    type=click.Choice(STARTS),
    default=_DEFAULT.initialization,
    show_default=True,
    help="Starting point.",
)
@click.option(
    "--C",
    "C",
    type=Finite(0, min_open=True),
    default=_DEFAULT.C,
    show_default=True,
    help="Weight of the loss.",
)
@click.option(
    "--loss", type=click.Choice(list(LOSSES)), default=_DEFAULT.loss, show_default=True, help="Loss of an instance."
)
@click.option(
    "--epsilon",
    type=Finite(0, min_open=True),
    default=_DEFAULT.epsilon,
    show_default=True,
    help="Relative gradient tolerance.",
)
@click.option(
    "--stored-threshold",
    type=Finite(0),
    default=_DEFAULT.stored_threshold,
    show_default=True,
    help="Smaller weights are dropped.",
)
@click.option("--s", type=Finite(), default=_DEFAULT.s, show_default=True, help="Mean score of positives at the start.")
@click.option(
    "--t", type=Finite(), help="Mean score of negatives at the start.  [default: -2, with the logistic loss -3]"
)
@problem_options
@earlier_option
@click.option(
    "--retrain",
    type=click.Choice(RETRAIN),
    default=_DEFAULT.retrain,
    show_default=True,
    help="Pretrained start: labels that are trained; the others keep their weights.",
)
@click.option(
    "--bias-lambda",
    type=Finite(0, min_open=True),
    default=_DEFAULT.bias_lambda,
    show_default=True,
    help="Bias start: every score, negated.",
)
@click.option(
    "--root-epsilon",
    type=Finite(0, min_open=True),
    default=_DEFAULT.root_epsilon,
    show_default=True,
    help="What the root was stopped at.",
)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="They change no result.")
@click.option("--output", type=_FILE, required=True, help="Shard file to write.")
@scratch_option
def command(dataset, means, plan, root, label_tree, shard, earlier, threads, output, **settings):
    """Train the labels of one shard of DATASET (dataset.h5)."""
    title, training = f"shard {shard}", Training(**settings)
    with placed(threads) as place:
        opened = open_dataset(dataset)
        earlier, made_from = read_earlier(earlier, opened, training)
        labels = read_plan(plan, shard, opened.n_labels)
        more = {"earlier": earlier}
        if root is not None:
            more["root"] = read_root(root, opened.checksum, training)
        if label_tree is not None:
            more["parents"] = read_label_tree(label_tree, opened.checksum).parent
        shards = max(1, opened.n_labels // max(1, len(labels)))
        place.confine(lambda: requested_megabytes(dataset, threads, shards, earlier is not None, training.loss))
        near = bring_near(opened, place)
        place.tell(title)
        inputs = StartInputs.of(near, read_means(means, opened.checksum), **more)
        made_from |= {"dataset": opened.checksum}
        with journal_of_labels(output, labels, training, inputs, made_from, __name__, title) as journal:
            done = train_labels(near, inputs, labels, training, threads, title, journal)
            place.check()
            place.tell(title)
            figures = done.weights, done.trained, done.statistics
            write_shard(
                output, labels, *figures, training.parameters, made_from, done.core_seconds, done.peak_rss_bytes
            )
    unfinished = int((done.statistics["status"] == Status.ITERATION_LIMIT).sum())
    unfinished += int((done.statistics["status"] == Status.LINE_SEARCH_FAILED).sum())
    taken_over = int((done.statistics["status"] == Status.TAKEN_OVER).sum())
    click.echo(
        f"{title}: {len(labels):,} labels, {len(done.weights.data):,} weights, "
        f"{clock(done.core_seconds)} of core time"
        + (f", {taken_over:,} labels taken over" if taken_over else "")
        + (f", {unfinished} labels not converged" if unfinished else "")
    )
