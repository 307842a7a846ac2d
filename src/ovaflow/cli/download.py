"""``ovaflow download``."""

import click

from ovaflow.data.download import download_dataset, download_file


@click.command()
@click.option("--dataset", help="Name of a dataset of the catalogue.")
@click.option("--catalogue", type=click.Path(dir_okay=False), help="Catalogue; ovaflow's own by default.")
@click.option("--url", help="Address (http or https) of a single file, instead of a dataset.")
@click.option("--sha256", help="What the single file's checksum must be.")
@click.option("--output", required=True, type=click.Path(), help="Folder of the dataset, or the single file.")
@click.option(
    "--record",
    type=click.Path(dir_okay=False),
    help="Checksums, recorded at the first download and enforced afterwards; OUTPUT.sha256 by default.",
)
def command(dataset, catalogue, url, sha256, output, record):
    """Download a dataset or a file, unless it is there as recorded."""
    if (dataset is None) == (url is None):
        raise click.UsageError("give either --dataset or --url")
    if dataset and sha256:
        raise click.UsageError("--sha256 goes with --url")
    if url:
        download_file(url, output, sha256, record)
    else:
        download_dataset(dataset, output, catalogue, record)
