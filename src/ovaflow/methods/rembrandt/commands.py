"""Subcommands of Rembrandt."""

import time
from dataclasses import replace
from pathlib import Path

import click

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
from ovaflow.evaluation.metric import format_at_cutoffs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.methods.rembrandt.decoder import require_one_label
from ovaflow.methods.rembrandt.description import describe_embedding
from ovaflow.methods.rembrandt.embedding import Embedding, compute_embedding
from ovaflow.methods.rembrandt.projection import Projected, project_instances
from ovaflow.methods.rembrandt.settings import Embed, ProjectInstances, TuneDecoder
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
def embed_command(
    *, dataset: Path, for_softmax: bool, threads: int, output: Path, settings: Embed
) -> None:
    """Embed the labels of DATASET (dataset.h5) in a few dimensions, and fit the projection into
    them.
    """
    opened = open_dataset(dataset)
    start = time.process_time()
    if for_softmax:
        require_one_label(opened)
    embedding = compute_embedding(opened, settings, threads)
    seconds = time.process_time() - start
    embedding = replace(embedding, core_seconds=seconds, peak_rss_bytes=read_peak_rss())
    embedding.write(output, dataset=opened)
    for ridge, error in embedding.held_out_errors.items():
        click.echo(f"ridge {ridge:g}: squared error {error:.4f} on held-out instances")
    dimensions = f"{embedding.rank} dimensions"
    if embedding.rank < settings.rank:
        dimensions += f" (the data have no more than {embedding.rank})"
    click.echo(
        f"{output}: {opened.n_labels:,} labels in {dimensions}, {format_duration(seconds)} of core"
        " time"
    )


@click.command("project")
@DATASET_ARGUMENT
@EMBEDDING_OPTION
@step_options("project")
@THREADS_OPTION
@output_option("Projected training set to write.")
def project_command(
    dataset: Path, embedding: Path, threads: int, output: Path, settings: ProjectInstances
) -> None:
    """Project the training instances of DATASET (dataset.h5) into an embedding."""
    opened = open_dataset(dataset)
    start = time.process_time()
    embedded = Embedding.open(embedding, dataset=opened)
    projected = project_instances(opened, embedded, settings, threads)
    seconds = embedded.core_seconds + time.process_time() - start
    peak = max(embedded.peak_rss_bytes, read_peak_rss())
    replace(projected, core_seconds=seconds, peak_rss_bytes=peak).write(output)
    n = projected.dataset.train.X.n_rows
    size = f"{n:,} instances with {projected.projection.n_features:,} features"
    click.echo(f"{output}: {size}, for a {projected.decoder} decoder")


@click.command("tune-decoder")
@click.argument("projected", type=FILE_TYPE)
@DATASET_OPTION
@EMBEDDING_OPTION
@step_options("tune-decoder")
@THREADS_OPTION
@output_option("Settings of the decoder to write (decoder.json).")
def tune_decoder_command(
    projected: Path,
    dataset: Path,
    embedding: Path,
    threads: int,
    output: Path,
    settings: TuneDecoder,
) -> None:
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
        f"{output}: C {tuned.decoding.C:g}{steps}, {format_duration(tuned.core_seconds)} of core"
        " time"
    )


@click.command("describe-embedding")
@click.argument("embedding", type=FILE_TYPE)
@DATASET_OPTION
@THREADS_OPTION
@output_option("Description to write, for the report.")
def describe_embedding_command(embedding: Path, dataset: Path, threads: int, output: Path) -> None:
    """Measure EMBEDDING (by ovaflow embed): spectrum, quality by rank on the test instances,
    nearest labels.
    """
    opened = open_dataset(dataset)
    openapi_checks = describe_embedding(Embedding.open(embedding, dataset=opened), opened, threads)
    write_json(output, "embedding-description", openapi_checks)
    for point in openapi_checks["points"]:
        click.echo(f"rank {point['rank']}: {format_at_cutoffs(point, 'P')}")
