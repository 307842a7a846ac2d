"""``ovaflow means``."""

import click

from ovaflow.artifacts.means import compute_means, write_means
from ovaflow.data.dataset import open_dataset


@click.command(short_help="Compute the means that starting points need.")
@click.argument("dataset", type=click.Path())
@click.option("--output", required=True, type=click.Path(), help="Means file to write (means.h5).")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), help="They change no result.")
def command(dataset, output, threads):
    """Compute the means of all instances and of each label's positives in DATASET (dataset.h5)."""
    opened = open_dataset(dataset)
    means = compute_means(opened.train.X, opened.positives, threads)
    write_means(output, means, opened.checksum)
    trained = int((means.counts > 0).sum())
    click.echo(f"means of {opened.train.X.n_rows:,} instances and {trained:,} labels with positives: {output}")
