"""ovaflow hold-out."""

import click

from ovaflow.cli.options import DATASET, output
from ovaflow.data.dataset import open_dataset, write_dataset
from ovaflow.data.hold_out import hold_out


@click.command("hold-out")
@DATASET
@click.option(
    "--fraction",
    default=0.2,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of the training instances.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Another one, other instances.")
@output("Dataset file to write: they are its test instances.")
def command(dataset, fraction, seed, output):
    """Set training instances of DATASET (dataset.h5) aside, for calibration."""
    opened = open_dataset(dataset)
    parts = hold_out(opened, fraction, seed)
    write_dataset(output, parts.train, parts.test, opened.label_names, opened.feature_names, parts.parameters)
    click.echo(f"{output}: {parts.test.X.n_rows:,} of {opened.train.X.n_rows:,} training instances held out")
