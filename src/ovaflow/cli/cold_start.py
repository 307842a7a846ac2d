"""``ovaflow cold-start``."""

import click

from ovaflow.artifacts.means import read_means
from ovaflow.cli.earlier_model import read_earlier
from ovaflow.cli.options import DATASET, FILE, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.storage.texts import write_json
from ovaflow.training.cold_start import compare_with_cold_start


@click.command("cold-start")
@DATASET
@click.option("--means", type=FILE, required=True, help="Means of the dataset, by ovaflow means.")
@click.option("--earlier", type=FILE, required=True, help="Model that the run starts from.")
@reads("cold-start")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sample of labels.")
@output("JSON file to write.")
def command(dataset, means, earlier, seed, output, settings):
    """Measure what starting from an EARLIER model saves against --initialization, on a sample of the labels."""
    opened = open_dataset(dataset)
    start, _ = read_earlier(earlier, opened)
    inputs = compute_start_inputs(opened, settings, means=read_means(means, opened.checksum), earlier=start)
    figures = compare_with_cold_start(opened, inputs, settings, seed)
    write_json(output, "cold-start", figures)
    cold, warm = figures["cold"]["newton_steps"], figures["warm"]["newton_steps"]
    click.echo(f"{figures['labels']:,} labels: {cold:.2f} Newton steps from a cold start, {warm:.2f} from {earlier}")
