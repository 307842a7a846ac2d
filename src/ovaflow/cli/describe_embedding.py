"""``ovaflow describe-embedding``."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, output
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.embedding_curve import describe_embedding
from ovaflow.rembrandt.embedding import read_embedding
from ovaflow.storage.texts import write_json


@click.command("describe-embedding")
@click.argument("embedding", type=FILE)
@OF_DATASET
@THREADS
@output("Description to write, for the report.")
def command(embedding, dataset, threads, output):
    """Spectrum, quality by rank on the test instances, and nearest labels of EMBEDDING (by ovaflow embed)."""
    opened = open_dataset(dataset)
    described = describe_embedding(read_embedding(embedding, opened.checksum).embedding, opened, threads)
    write_json(output, "embedding-description", described)
    for point in described["points"]:
        click.echo(f"rank {point['rank']}: P@1 {100 * point['P@1']:.1f}, P@5 {100 * point['P@5']:.1f}")
