"""``ovaflow prepare``."""

import click

from ovaflow.cli.options import FILE, output, reads
from ovaflow.data.prepare import prepare
from ovaflow.data.source import Source


@click.command("prepare")
@reads("prepare")
@click.option("--train", type=FILE, help="Training instances.")
@click.option("--train-labels", type=FILE, help="Labels of the training instances (npz).")
@click.option("--test", type=FILE, help="Test instances; by default a share of the training file.")
@click.option("--test-labels", type=FILE, help="Labels of the test instances (npz).")
@click.option("--labels", type=FILE, help="Label names, one per line in id order; texts then have ids as labels.")
@output("The dataset file.")
def command(settings, output, **files):
    """Turn a dataset's source into dataset.h5."""
    if settings.format != "builtin" and files["train"] is None:
        raise click.UsageError(f"--format={settings.format} needs --train")
    prepared = prepare(Source(settings, **files), settings)
    prepared.write(output)
    click.echo(f"{output}: {prepared.summary()}")
    for remark in prepared.remarks():
        click.echo(f"remark: {remark}")
