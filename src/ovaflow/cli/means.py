"""``ovaflow means``."""

import click

from ovaflow.artifacts.means import compute_means, write_means
from ovaflow.cli.options import DATASET, THREADS, output
from ovaflow.data.dataset import open_dataset


@click.command("means")
@DATASET
@output("Means file to write (means.h5).")
@THREADS
def command(dataset, output, threads):
    """Compute the means of all instances and of each label's positives in DATASET (dataset.h5)."""
    opened = open_dataset(dataset)
    means = compute_means(opened.train.X, opened.positives, threads)
    write_means(output, means, opened.checksum)
    trained = int((means.counts > 0).sum())
    click.echo(f"means of {opened.train.X.n_rows:,} instances and {trained:,} labels with positives: {output}")
