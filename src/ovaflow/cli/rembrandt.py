"""Commands of Rembrandt."""

import time
from dataclasses import asdict, replace

import click
import numpy as np

from ovaflow.cli.options import (
    DATASET,
    EMBEDDING,
    FILE,
    OF_DATASET,
    SHARD,
    SHARDS,
    STATISTICS,
    THREADS,
    output,
    reads,
    require_shard,
)
from ovaflow.console.progress import clock
from ovaflow.data.dataset import bring_near, open_dataset
from ovaflow.evaluation.embedding_curve import describe_embedding
from ovaflow.machine.limits import peak_rss_bytes
from ovaflow.machine.pinning import pinned
from ovaflow.model.training_file import Shard
from ovaflow.rembrandt.decoder import multiclass, plan_decoder, train_decoder
from ovaflow.rembrandt.embedding import Embedding, compute_embedding
from ovaflow.rembrandt.joining import join_decoder
from ovaflow.rembrandt.projection import Projected, project
from ovaflow.rembrandt.tuning import read_tuned, tune, write_tuned
from ovaflow.steps import STEPS
from ovaflow.storage.parts import digest_of, open_parts, remove_parts, restore
from ovaflow.storage.texts import write_json


@click.command("embed")
@DATASET
@reads("embed")
@click.option(
    "--for-softmax/--for-any-decoder",
    help="Refuse data whose instances do not have exactly one label each, before any work.",
)
@THREADS
@output("Embedding file to write.")
def embed_command(dataset, for_softmax, threads, output, settings):
    """Embed the labels of DATASET (dataset.h5) in a few dimensions, and fit the projection into them."""
    opened, started = open_dataset(dataset), time.process_time()
    if for_softmax:
        multiclass(opened)
    embedding = compute_embedding(opened, settings, threads)
    seconds = time.process_time() - started
    replace(embedding, core_seconds=seconds, peak_rss_bytes=peak_rss_bytes()).write(output, dataset=opened)
    for ridge, error in embedding.held_out_errors.items():
        click.echo(f"ridge {ridge:g}: squared error {error:.4f} on held-out instances")
    fewer = "" if embedding.rank >= settings.rank else f" (the data have no more than {embedding.rank})"
    dimensions = f"{embedding.rank} dimensions{fewer}, {clock(seconds)} of core time"
    click.echo(f"{output}: {opened.n_labels:,} labels in {dimensions}")


@click.command("project")
@DATASET
@EMBEDDING
@reads("project")
@THREADS
@output("Projected training set to write.")
def project_command(dataset, embedding, threads, output, settings):
    """Project the training instances of DATASET (dataset.h5) into an embedding."""
    opened, started = open_dataset(dataset), time.process_time()
    embedding = Embedding.open(embedding, dataset=opened)
    made = project(opened, embedding, settings, threads)
    seconds = embedding.core_seconds + time.process_time() - started
    peak = max(embedding.peak_rss_bytes, peak_rss_bytes())
    replace(made, core_seconds=seconds, peak_rss_bytes=peak).write(output)
    size = f"{made.dataset.train.X.n_rows:,} instances with {made.projection.n_features:,} features"
    click.echo(f"{output}: {size}, for a {made.decoder} decoder")


@click.command("tune-decoder")
@click.argument("projected", type=FILE)
@OF_DATASET
@EMBEDDING
@reads("tune-decoder")
@THREADS
@output("File to write, for ovaflow train-decoder.")
def tune_decoder_command(projected, dataset, embedding, threads, output, settings):
    """Choose the decoder's settings on held-out instances of PROJECTED (by ovaflow project)."""
    source = open_dataset(dataset)
    opened = Projected.open(projected, dataset=source)
    embedded = Embedding.open(embedding, dataset=source)
    tuned = tune(opened, source, embedded, settings, threads)
    write_tuned(output, tuned, opened)
    for C, loss in tuned.losses.items():
        click.echo(f"C {C:g}: loss {loss:.4f} on held-out instances")
    iterations = tuned.decoding.iterations
    steps = "" if iterations is None else f", {iterations} iterations"
    click.echo(f"{output}: C {tuned.decoding.C:g}{steps}, {clock(tuned.core_seconds)} of core time")


@click.command("train-decoder")
@click.argument("projected", type=FILE)
@click.option("--tuned", type=FILE, required=True, help="Settings to train with, by ovaflow tune-decoder.")
@SHARD
@SHARDS
@THREADS
@output("Shard file to write.")
def train_decoder_command(projected, tuned, shard, shards, threads, output):
    """Train one shard of the decoder on PROJECTED (by ovaflow project)."""
    require_shard(shard, shards)
    title = f"shard {shard}"
    with pinned(threads, title) as pinning:
        opened = Projected.open(projected)
        settings = read_tuned(tuned, opened).decoding
        near = replace(opened, dataset=bring_near(opened.dataset, pinning))
        counts = np.diff(opened.dataset.positives.indptr)
        labels = plan_decoder(counts, opened.decoder, shards)[shard]
        parameters = {**asdict(settings), "stored_threshold": 0.0, "method": "one-vs-all"}
        digest = digest_of(parameters, labels, opened.dataset.checksum, STEPS["train-decoder"].revision)
        if restore(output, digest, Shard.open):
            return
        with open_parts(output, digest) as parts:
            done = train_decoder(near, labels, settings, threads, title, parts)
            replace(done, parameters=parameters).write(output, dataset=opened.dataset)
    click.echo(f"{title}: {len(labels):,} labels, {clock(done.core_seconds)} of core time")


@click.command("join-decoder")
@click.argument("shards", nargs=-1, required=True, type=FILE)
@click.option("--projected", required=True, type=FILE, help="The instances they were trained on, by ovaflow project.")
@click.option("--tuned", required=True, type=FILE, help="The settings they were trained with, by ovaflow tune-decoder.")
@OF_DATASET
@output("Model file to write, model.h5.")
@STATISTICS
def join_decoder_command(shards, projected, tuned, dataset, output, statistics):
    """Join a projection and the SHARDS of its decoder into one model."""
    instances = Projected.open(projected)
    chosen, source = read_tuned(tuned, instances), open_dataset(dataset)
    trained = join_decoder(shards, instances, chosen, source, output, statistics)
    remove_parts(shards)
    click.echo(f"{output}: {trained:,} labels, {output.stat().st_size / 1e6:,.1f} MB")


@click.command("describe-embedding")
@click.argument("embedding", type=FILE)
@OF_DATASET
@THREADS
@output("Description to write, for the report.")
def describe_embedding_command(embedding, dataset, threads, output):
    """Measure EMBEDDING (by ovaflow embed): spectrum, quality by rank on the test instances, nearest labels."""
    opened = open_dataset(dataset)
    described = describe_embedding(Embedding.open(embedding, dataset=opened), opened, threads)
    write_json(output, "embedding-description", described)
    for point in described["points"]:
        click.echo(f"rank {point['rank']}: P@1 {100 * point['P@1']:.1f}, P@5 {100 * point['P@5']:.1f}")
