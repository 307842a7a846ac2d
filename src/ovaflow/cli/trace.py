"""``ovaflow trace``."""

import click

from ovaflow.artifacts.means import read_means
from ovaflow.cli.earlier_model import earlier_option, read_earlier
from ovaflow.cli.options import DATASET, FILE, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.model.trace_file import write_trace
from ovaflow.training.tracing import trace_labels, traced_labels


@click.command("trace")
@DATASET
@click.option("--means", type=FILE, required=True, help="Means of the dataset, by ovaflow means.")
@earlier_option
@click.option("--labels", type=click.IntRange(1), default=50, show_default=True, help="Size of the sample, about.")
@reads("trace")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sample.")
@output("Trace file to write.")
def command(dataset, means, earlier, labels, seed, output, settings):
    """Record every Newton iteration of a sample of labels of DATASET (dataset.h5).

    They are solved one by one, on all instances, beside the training.
    """
    opened = open_dataset(dataset)
    start, made_from = read_earlier(earlier, opened)
    inputs = compute_start_inputs(opened, settings, means=read_means(means, opened.checksum), earlier=start)
    chosen = traced_labels(inputs.means.counts, labels, seed)
    trace = trace_labels(opened, inputs, chosen, settings, made_from)
    write_trace(output, trace)
    steps = int(trace.starts[-1]) - len(chosen)
    click.echo(f"{output}: {len(chosen):,} labels, {steps:,} Newton steps")
