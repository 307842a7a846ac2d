"""``ovaflow train-trees``."""

import click

from ovaflow.cli.options import DATASET, THREADS, option, output, reads
from ovaflow.cli.scratch_option import scratch_option
from ovaflow.console.progress import clock
from ovaflow.data.dataset import open_dataset
from ovaflow.data.local_features import bring_near
from ovaflow.fastxml.training import grow_trees, trees_of_shard, write_tree_shard
from ovaflow.fingerprint import code_fingerprint
from ovaflow.machine.place import placed
from ovaflow.settings.models import Train
from ovaflow.storage.parts import digest_of, parts_of


@click.command("train-trees")
@DATASET
@click.option("--shard", type=click.IntRange(0), default=0, show_default=True, help="Number of the shard.")
@option(Train, "shards", default=1)
@reads("train-trees")
@THREADS
@output("Shard file to write.")
@scratch_option
def command(dataset, shard, shards, threads, output, settings):
    """Grow one shard of the trees of a FastXML model on DATASET (dataset.h5)."""
    if shard >= shards:
        raise click.UsageError(f"shard {shard} of {shards}; the last is {shards - 1}")
    title, numbers = f"shard {shard}", trees_of_shard(settings.trees, shards, shard)
    with placed(threads) as place:
        opened = open_dataset(dataset)
        place.confine()
        near = bring_near(opened, place)
        place.tell(title)
        digest = digest_of(settings.recorded, list(numbers), opened.checksum, code_fingerprint(__name__))
        with parts_of(output, digest, threads) as parts:
            grown = grow_trees(near, numbers, settings, threads, title, parts)
            place.check()
            place.tell(title)
            write_tree_shard(output, numbers, grown, settings.recorded, {"dataset": opened.checksum})
    nodes = len(grown.forest.children)
    click.echo(f"{title}: {len(numbers)} trees, {nodes:,} nodes, {clock(grown.core_seconds)} of core time")
