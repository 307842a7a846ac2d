"""``ovaflow train-decoder``."""

from dataclasses import asdict, replace

import click
import numpy as np

from ovaflow.cli.options import FILE, THREADS, option, output
from ovaflow.console.progress import clock
from ovaflow.data.local_features import bring_near
from ovaflow.fingerprint import code_fingerprint
from ovaflow.machine.place import placed
from ovaflow.model.shard_file import write_shard
from ovaflow.rembrandt.decoder import plan_decoder, train_decoder
from ovaflow.rembrandt.projection import open_projected
from ovaflow.rembrandt.tuning import read_tuned
from ovaflow.settings.models import Train
from ovaflow.storage.parts import digest_of, parts_of


@click.command("train-decoder")
@click.argument("projected", type=FILE)
@click.option("--tuned", type=FILE, required=True, help="What it is trained with, by ovaflow tune-decoder.")
@click.option("--shard", type=click.IntRange(0), default=0, show_default=True, help="Number of the shard.")
@option(Train, "shards", default=1)
@THREADS
@output("Shard file to write.")
def command(projected, tuned, shard, shards, threads, output):
    """Train one shard of the decoder on PROJECTED (by ovaflow project)."""
    if shard >= shards:
        raise click.UsageError(f"shard {shard} of {shards}; the last is {shards - 1}")
    title = f"shard {shard}"
    with placed(threads) as place:
        opened = open_projected(projected)
        settings = read_tuned(tuned, opened).decoding
        place.confine()
        near = replace(opened, dataset=bring_near(opened.dataset, place))
        place.tell(title)
        counts = np.diff(opened.dataset.positives.indptr)
        labels = plan_decoder(counts, opened.decoder, shards)[shard]
        parameters = {**asdict(settings), "stored_threshold": 0.0, "method": "one-vs-all"}
        digest = digest_of(parameters, labels, opened.dataset.checksum, code_fingerprint(__name__))
        with parts_of(output, digest, threads) as parts:
            done = train_decoder(near, labels, settings, threads, title, parts)
            place.check()
            place.tell(title)
            inputs = {"dataset": opened.dataset.checksum}
            figures = done.weights, done.trained, done.statistics
            write_shard(output, labels, *figures, parameters, inputs, done.core_seconds, done.peak_rss_bytes)
    click.echo(f"{title}: {len(labels):,} labels, {clock(done.core_seconds)} of core time")
