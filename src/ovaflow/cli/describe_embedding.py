"""``ovaflow describe-embedding``."""

from pathlib import Path

import click

from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.embedding_curve import describe_embedding
from ovaflow.rembrandt.embedding_file import read_embedding
from ovaflow.storage.texts import write_json

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("describe-embedding")
@click.argument("embedding", type=_FILE)
@click.option("--dataset", required=True, type=_FILE, help="The dataset file, dataset.h5.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), help="They change no result.")
@click.option("--output", required=True, type=_FILE, help="Description to write, for the report.")
def command(embedding, dataset, threads, output):
    """Spectrum, quality by rank on the test instances, and nearest labels of EMBEDDING (by ovaflow embed)."""
    opened = open_dataset(dataset)
    described = describe_embedding(read_embedding(embedding, opened.checksum).embedding, opened, threads)
    write_json(output, "embedding-description", described)
    for point in described["points"]:
        click.echo(f"rank {point['rank']}: P@1 {100 * point['P@1']:.1f}, P@5 {100 * point['P@5']:.1f}")
