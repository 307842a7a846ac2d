"""Commands of FastXML."""

from dataclasses import replace

import click

from ovaflow.cli.options import (
    DATASET,
    FILE,
    OF_DATASET,
    SHARD,
    SHARDS,
    STATISTICS,
    THREADS,
    output,
    reads,
    require_shard,
    scratch_option,
)
from ovaflow.console.progress import clock
from ovaflow.data.dataset import bring_near, open_dataset
from ovaflow.evaluation.curves import tree_curve
from ovaflow.fastxml.merging import merge_trees
from ovaflow.fastxml.model_file import ForestModel
from ovaflow.fastxml.training import TreeShard, grow_trees, trees_of_shard
from ovaflow.machine.pinning import pinned
from ovaflow.steps import STEPS
from ovaflow.storage.parts import digest_of, open_parts, remove_parts, restore
from ovaflow.storage.texts import write_json


@click.command("train-trees")
@DATASET
@SHARD
@SHARDS
@reads("train-trees")
@THREADS
@output("Shard file to write.")
@scratch_option
def train_trees_command(dataset, shard, shards, threads, output, settings):
    """Grow one shard of the trees of a FastXML model on DATASET (dataset.h5)."""
    require_shard(shard, shards)
    title, numbers = f"shard {shard}", trees_of_shard(settings.trees, shards, shard)
    with pinned(threads, title) as pinning:
        opened = open_dataset(dataset)
        near = bring_near(opened, pinning)
        digest = digest_of(settings.recorded, list(numbers), opened.checksum, STEPS["train-trees"].revision)
        if restore(output, digest, TreeShard.open):
            return
        with open_parts(output, digest) as parts:
            grown = grow_trees(near, numbers, settings, threads, title, parts)
            replace(grown, parameters=settings.recorded).write(output, dataset=opened)
    nodes = len(grown.forest.children)
    click.echo(f"{title}: {len(numbers)} trees, {nodes:,} nodes, {clock(grown.core_seconds)} of core time")


@click.command("merge-trees")
@click.argument("shards", nargs=-1, required=True, type=FILE)
@OF_DATASET
@output("Model file to write, model.h5.")
@STATISTICS
def merge_trees_command(shards, dataset, output, statistics):
    """Join SHARDS of trees into one model."""
    nodes = merge_trees(shards, open_dataset(dataset), output, statistics)
    remove_parts(shards)
    click.echo(f"{output}: {nodes:,} nodes, {output.stat().st_size / 1e6:,.1f} MB")


@click.command("tree-curve")
@click.argument("model", type=FILE)
@OF_DATASET
@reads("tree-curve")
@THREADS
@output("Curve to write, trees.json.")
def tree_curve_command(model, dataset, settings, threads, output):
    """Measure the quality of MODEL (model.h5, of fastxml) by number of trees, on the test instances."""
    opened = ForestModel.open(model), open_dataset(dataset)
    curve = tree_curve(*opened, settings.propensity_a, settings.propensity_b, threads)
    write_json(output, "tree-curve", curve)
    for point in curve["points"]:
        click.echo(f"{point['trees']} trees: P@1 {100 * point['P@1']:.1f}, P@5 {100 * point['P@5']:.1f}")
