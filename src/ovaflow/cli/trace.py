"""``ovaflow trace``."""

from dataclasses import fields
from pathlib import Path

import click

from ovaflow.artifacts.means import read_means
from ovaflow.cli.earlier_model import earlier_option, read_earlier
from ovaflow.cli.train_shard import command as train_shard
from ovaflow.data.dataset import open_dataset
from ovaflow.model.trace_file import write_trace
from ovaflow.training.label_jobs import Training
from ovaflow.training.start_inputs import compute_start_inputs
from ovaflow.training.tracing import trace_labels, traced_labels

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("trace")
@click.argument("dataset", type=_FILE)
@click.option("--means", type=_FILE, required=True, help="Means of the dataset, by ovaflow means.")
@earlier_option
@click.option("--labels", type=click.IntRange(1), default=50, show_default=True, help="Size of the sample, about.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sample.")
@click.option("--output", type=_FILE, required=True, help="Trace file to write.")
def command(dataset, means, earlier, labels, seed, output, **settings):
    """Record every Newton iteration of a sample of labels of DATASET (dataset.h5).

    They are solved one by one, on all instances, beside the training.
    """
    opened = open_dataset(dataset)
    start, made_from = read_earlier(earlier, opened)
    training = Training(**settings)
    inputs = compute_start_inputs(opened, training, means=read_means(means, opened.checksum), earlier=start)
    chosen = traced_labels(inputs.means.counts, labels, seed)
    trace = trace_labels(opened, inputs, chosen, training, made_from)
    write_trace(output, trace)
    steps = int(trace.starts[-1]) - len(chosen)
    click.echo(f"{output}: {len(chosen):,} labels, {steps:,} Newton steps")


# every setting of a training but what concerns stored weights, as train-shard takes it
_SETTINGS = {field.name for field in fields(Training)} - {"stored_threshold"}
command.params += [param for param in train_shard.params if param.name in _SETTINGS]
