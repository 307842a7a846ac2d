"""``ovaflow train-trees``."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.cli.problem_options import weighting_options
from ovaflow.cli.scratch_option import scratch_option
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.data.local_features import bring_near
from ovaflow.fastxml.memory import requested_megabytes
from ovaflow.fastxml.objectives import OBJECTIVES
from ovaflow.fastxml.settings import Forestry, trees_of_shard
from ovaflow.fastxml.shard_file import write_tree_shard
from ovaflow.fastxml.training import grow_trees
from ovaflow.fingerprint import code_fingerprint
from ovaflow.machine.place import placed
from ovaflow.storage.journal import digest_of, open_journal

_FILE = click.Path(path_type=Path, dir_okay=False)
_DEFAULT = Forestry()


def _option(name, kind, text):
    default = getattr(_DEFAULT, name)
    return click.option(f"--{name.replace('_', '-')}", name, type=kind, default=default, show_default=True, help=text)


@click.command("train-trees")
@click.argument("dataset", type=_FILE)
@click.option("--shard", type=click.IntRange(0), default=0, show_default=True, help="Number of the shard.")
@click.option("--shards", type=click.IntRange(1), default=1, show_default=True, help="Shards of the forest.")
@_option("trees", click.IntRange(1), "Trees of the whole forest.")
@_option("max_leaf", click.IntRange(1), "Nodes of at most so many instances are not split.")
@_option("leaf_labels", click.IntRange(1), "Labels of a leaf whose scores are kept.")
@_option("C_delta", Finite(0, min_open=True), "Weight of the separators' losses.")
@_option("C_r", Finite(0, min_open=True), "Weight of the rankings.")
@click.option(
    "--balanced/--no-balanced",
    default=_DEFAULT.balanced,
    show_default=True,
    help="Divide C-delta of each side by its share of the instances.",
)
@_option("objective", click.Choice(OBJECTIVES), "What rankings are judged by.")
@_option("updates", click.IntRange(1), "Separators fitted in turn with the sides, in each node.")
@_option("outer_iterations", click.IntRange(1), "Newton steps of a separator.")
@_option("inner_iterations", click.IntRange(1), "Passes over the features in a Newton step.")
@_option("seed", click.IntRange(0, 2**63 - 1), "Of the whole forest.")
@weighting_options("Gain of a label: 1, or 1/p with the propensity p (PfastXML).")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="They change no result.")
@click.option("--output", type=_FILE, required=True, help="Shard file to write.")
@scratch_option
def command(dataset, shard, shards, threads, output, **settings):
    """Grow one shard of the trees of a FastXML model on DATASET (dataset.h5)."""
    if shard >= shards:
        raise click.UsageError(f"shard {shard} of {shards}; the last is {shards - 1}")
    title, forestry = f"shard {shard}", Forestry(**settings)
    numbers = trees_of_shard(forestry.trees, shards, shard)
    with placed(threads) as place:
        opened = open_dataset(dataset)
        place.confine(lambda: requested_megabytes(dataset, threads))
        near = bring_near(opened, place)
        place.tell(title)
        digest = digest_of(forestry.parameters, list(numbers), opened.checksum, code_fingerprint(__name__))
        with open_journal(output, digest, len(numbers), "trees", title) as journal:
            grown = grow_trees(near, numbers, forestry, threads, title, journal)
            place.check()
            place.tell(title)
            write_tree_shard(output, numbers, grown, forestry.parameters, {"dataset": opened.checksum})
    nodes = len(grown.forest.children)
    click.echo(f"{title}: {len(numbers)} trees, {nodes:,} nodes, {clock(grown.core_seconds)} of core time")
