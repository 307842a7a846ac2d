"""Commands of Rembrandt."""

import time
from dataclasses import replace

import click

from ovaflow.cli.evaluating import format_at_cutoffs
from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    DATASET_OPTION,
    EMBEDDING_OPTION,
    FILE_TYPE,
    THREADS_OPTION,
    output_option,
    step_options,
)
from ovaflow.console.progress import format_duration
from ovaflow.dataset.dataset import open_dataset
from ovaflow.machine.limits import read_peak_rss
from ovaflow.methods.rembrandt.decoder import require_one_label
from ovaflow.methods.rembrandt.description import describe_embedding
from ovaflow.methods.rembrandt.embedding import Embedding, compute_embedding
from ovaflow.methods.rembrandt.projection import Projected, project_instances
from ovaflow.methods.rembrandt.tuning import tune_decoder, write_tuned
from ovaflow.storage.texts import write_json


@click.command("embed")
@DATASET_ARGUMENT
@step_options("embed")
@click.option(
    "--for-softmax/--for-any-decoder",
    help="Refuse data whose instances do not have exactly one label each, before any work.",
)
@THREADS_OPTION
@output_option("Embedding file to write.")
def embed_command(dataset, for_softmax, threads, output, settings) -> None:
    """Embed the labels of DATASET (dataset.h5) in a few dimensions, and fit the projection into
    them.
    """
    opened = open_dataset(dataset)
    started = time.process_time()
    if for_softmax:
        require_one_label(opened)
    embedding = compute_embedding(opened, settings, threads)
    seconds = time.process_time() - started
    replace(embedding, core_seconds=seconds, peak_rss_bytes=read_peak_rss()).write(
        output, dataset=opened
    )
    for ridge, error in embedding.held_out_errors.items():
        click.echo(f"ridge {ridge:g}: squared error {error:.4f} on held-out instances")
    fewer = (
        "" if embedding.rank >= settings.rank else f" (the data have no more than {embedding.rank})"
    )
    dimensions = f"{embedding.rank} dimensions{fewer}, {format_duration(seconds)} of core time"
    click.echo(f"{output}: {opened.n_labels:,} labels in {dimensions}")


@click.command("project")
@DATASET_ARGUMENT
@EMBEDDING_OPTION
@step_options("project")
@THREADS_OPTION
@output_option("Projected training set to write.")
def project_command(dataset, embedding, threads, output, settings) -> None:
    """Project the training instances of DATASET (dataset.h5) into an embedding."""
    opened = open_dataset(dataset)
    started = time.process_time()
    embedding = Embedding.open(embedding, dataset=opened)
    made = project_instances(opened, embedding, settings, threads)
    seconds = embedding.core_seconds + time.process_time() - started
    peak = max(embedding.peak_rss_bytes, read_peak_rss())
    replace(made, core_seconds=seconds, peak_rss_bytes=peak).write(output)
    size = f"{made.dataset.train.X.n_rows:,} instances with {made.projection.n_features:,} features"
    click.echo(f"{output}: {size}, for a {made.decoder} decoder")


@click.command("tune-decoder")
@click.argument("projected", type=FILE_TYPE)
@DATASET_OPTION
@EMBEDDING_OPTION
@step_options("tune-decoder")
@THREADS_OPTION
@output_option("Settings of the decoder to write (decoder.json).")
def tune_decoder_command(projected, dataset, embedding, threads, output, settings) -> None:
    """Choose the decoder's settings on held-out instances of PROJECTED (by ovaflow project)."""
    source = open_dataset(dataset)
    opened = Projected.open(projected, dataset=source)
    embedded = Embedding.open(embedding, dataset=source)
    tuned = tune_decoder(opened, source, embedded, settings, threads)
    write_tuned(output, tuned, opened)
    for C, loss in tuned.losses.items():
        click.echo(f"C {C:g}: loss {loss:.4f} on held-out instances")
    iterations = tuned.decoding.iterations
    steps = "" if iterations is None else f", {iterations} iterations"
    click.echo(
        f"{output}: C {tuned.decoding.C:g}{steps}, {format_duration(tuned.core_seconds)} of core time"
    )


@click.command("describe-embedding")
@click.argument("embedding", type=FILE_TYPE)
@DATASET_OPTION
@THREADS_OPTION
@output_option("Description to write, for the report.")
def describe_embedding_command(embedding, dataset, threads, output) -> None:
    """Measure EMBEDDING (by ovaflow embed): spectrum, quality by rank on the test instances,
    nearest labels.
    """
    opened = open_dataset(dataset)
    described = describe_embedding(Embedding.open(embedding, dataset=opened), opened, threads)
    write_json(output, "embedding-description", described)
    for point in described["points"]:
        click.echo(f"rank {point['rank']}: {format_at_cutoffs(point, 'P')}")
