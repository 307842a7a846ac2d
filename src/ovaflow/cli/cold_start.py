"""``ovaflow cold-start``."""

from dataclasses import fields
from pathlib import Path

import click

from ovaflow.artifacts.means import read_means
from ovaflow.cli.earlier_model import read_earlier
from ovaflow.cli.train_shard import command as train_shard
from ovaflow.data.dataset import open_dataset
from ovaflow.storage.texts import write_json
from ovaflow.training.cold_start import compare_with_cold_start
from ovaflow.training.label_jobs import Training
from ovaflow.training.start_inputs import compute_start_inputs

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("cold-start")
@click.argument("dataset", type=_FILE)
@click.option("--means", type=_FILE, required=True, help="Means of the dataset, by ovaflow means.")
@click.option("--earlier", type=_FILE, required=True, help="Model that the run starts from.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sample of labels.")
@click.option("--output", type=_FILE, required=True, help="JSON file to write.")
def command(dataset, means, earlier, seed, output, **settings):
    """Measure what starting from an EARLIER model saves against --initialization, on a sample of the labels."""
    opened = open_dataset(dataset)
    start, _ = read_earlier(earlier, opened)
    training = Training(**settings)
    inputs = compute_start_inputs(opened, training, means=read_means(means, opened.checksum), earlier=start)
    figures = compare_with_cold_start(opened, inputs, training, seed)
    write_json(output, "cold-start", figures)
    cold, warm = figures["cold"]["newton_steps"], figures["warm"]["newton_steps"]
    click.echo(f"{figures['labels']:,} labels: {cold:.2f} Newton steps from a cold start, {warm:.2f} from {earlier}")


# every setting of a training, as train-shard takes it
_SETTINGS = {field.name for field in fields(Training)}
command.params += [param for param in train_shard.params if param.name in _SETTINGS]
