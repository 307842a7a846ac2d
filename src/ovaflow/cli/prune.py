"""``ovaflow prune``."""

import re

import click

from ovaflow.cli.options import FILE, THREADS, option, output
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.curves import quality_of
from ovaflow.model.model_file import open_model
from ovaflow.model.pruning import prune_to_bytes, write_pruned
from ovaflow.settings.models import Evaluate, Train

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}


class _Bytes(click.ParamType):
    name = "size"

    def convert(self, value, param, context):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]I?)?B?", str(value).upper())
        if match is None:
            self.fail(f"{value!r} is not a size such as 10MB, 1.5 GiB or 500000", param, context)
        return int(float(match[1]) * _UNITS[match[2] or ""])


@click.command("prune")
@click.argument("model", type=FILE)
@click.option("--max-bytes", type=_Bytes(), help="Size of the file at most, such as 10MB.")
@option(Train, "prune", "threshold", default=None, help="Instead of a size: drop smaller weights.")
@click.option("--dataset", type=FILE, help="Say what it costs on the test instances of this dataset.h5.")
@THREADS
@output("Model file to write.")
def command(model, max_bytes, prune, dataset, threads, output):
    """Drop the smallest weights of MODEL (model.h5) until its file fits into a number of bytes."""
    if (max_bytes is None) == (prune is None):
        raise click.UsageError("give either --max-bytes or --threshold")
    opened = open_model(model)
    measured = open_dataset(dataset) if dataset is not None else None
    by_size = max_bytes is not None
    pruned = prune_to_bytes(opened, max_bytes, output) if by_size else write_pruned(opened, prune, output)
    size = output.stat().st_size
    click.echo(
        f"{output}: {pruned.nonzeros:,} of {opened.nonzeros:,} weights, those of at least "
        f"{pruned.parameters['prune']:.6g}, {size:,} bytes"
    )
    if measured is not None:
        a, b = Evaluate().propensity_a, Evaluate().propensity_b
        before, after = (quality_of(each, measured, a, b, threads) for each in (opened, pruned))
        click.echo(", ".join(f"{name} {100 * before[name]:.2f} -> {100 * after[name]:.2f}" for name in before))
