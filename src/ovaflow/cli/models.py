"""Commands that make a model out of shards or of another model."""

import re
from dataclasses import replace
from pathlib import Path

import click

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, option, output, reads
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.curves import quality_of
from ovaflow.model.merge import merge
from ovaflow.model.model_file import open_model, save_model
from ovaflow.model.npz_file import read_npz, write_npz
from ovaflow.model.pruning import prune_to_bytes, write_pruned
from ovaflow.prediction.index import index_path, write_index
from ovaflow.settings.models import Evaluate, Prepare, Train
from ovaflow.storage.parts import remove_parts


@click.command("merge")
@click.argument("shards", nargs=-1, required=True, type=FILE)
@OF_DATASET
@reads("merge")
@output("Model file to write, model.h5.")
@click.option("--statistics", required=True, type=FILE, help="Statistics file to write, training.h5.")
def merge_command(shards, dataset, settings, output, statistics):
    """Join trained SHARDS into one model."""
    opened = open_dataset(dataset)
    n_weights = merge(shards, opened, settings.prune, output, statistics)
    remove_parts(shards)
    size = output.stat().st_size
    click.echo(f"{output}: {opened.n_labels:,} labels, {n_weights:,} weights, {size / 1e6:,.1f} MB")


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
def prune_command(model, max_bytes, prune, dataset, threads, output):
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


_FILE = click.Path(path_type=Path, dir_okay=False)
_WRITERS = {"model": save_model, "npz": write_npz}


@click.command("convert")
@click.argument("source", type=_FILE)
@click.option("--to", type=click.Choice(list(_WRITERS)), default="model", show_default=True, help="Format to write.")
@click.option("--like", type=_FILE, help="Model of the same labels and features: take names and the rest from it.")
@option(Prepare, "bias", help="Models of others: value of the last column's feature.")
@option(Prepare, "normalize", help="Models of others: instances had length 1.")
@click.option("--output", type=_FILE, required=True, help="File to write.")
def convert_command(source, to, like, bias, normalize, output):
    """Convert the model SOURCE, a model.h5 or an npz, to the npz that SciPy and PECOS read and write, or back.

    Weights are the same to the last bit.
    """
    model = read_npz(source, bias, normalize) if _is_zip(source) else open_model(source)
    if like is not None:
        model = _named_like(model, open_model(like))
    _WRITERS[to](output, model)
    click.echo(f"{output}: {model.n_labels:,} labels, {model.n_features:,} features, {model.nonzeros:,} weights")


def _is_zip(path):
    try:
        with path.open("rb") as file:
            return file.read(2) == b"PK"
    except FileNotFoundError:
        raise InputError("there is no such file", path=path, remedy="give a model.h5 or an npz") from None


def _named_like(model, other):
    ours, theirs = ((each.n_labels, each.n_features) for each in (model, other))
    if ours != theirs:
        raise InputError(
            "{:,} labels and {:,} features".format(*ours),
            path=model.path,
            remedy="give --like a model of as many; {} has {:,} and {:,}".format(other.path, *theirs),
        )
    return replace(other, weights=model.weights)


@click.command("index")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
def index_command(model):
    """Write the index of MODEL (model.h5) next to it, for processes that score a text at a time.

    They map it and share it; without it each of them builds one in its own
    memory, after some instances. It is used as long as it is that of the model.
    """
    path = index_path(model)
    write_index(path, open_model(model))
    click.echo(f"{path}: {path.stat().st_size / 1e6:,.1f} MB")
