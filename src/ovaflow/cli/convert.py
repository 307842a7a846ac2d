"""``ovaflow convert``."""

from dataclasses import replace
from pathlib import Path

import click

from ovaflow.cli.options import option
from ovaflow.console.errors import InputError
from ovaflow.model.model_file import open_model, save_model
from ovaflow.model.npz_file import read_npz, write_npz
from ovaflow.settings.models import Prepare

_FILE = click.Path(path_type=Path, dir_okay=False)
_WRITERS = {"model": save_model, "npz": write_npz}


@click.command("convert")
@click.argument("source", type=_FILE)
@click.option("--to", type=click.Choice(list(_WRITERS)), default="model", show_default=True, help="Format to write.")
@click.option("--like", type=_FILE, help="Model of the same labels and features: take names and the rest from it.")
@option(Prepare, "bias", help="Models of others: value of the last column's feature.")
@option(Prepare, "normalize", help="Models of others: instances had length 1.")
@click.option("--output", type=_FILE, required=True, help="File to write.")
def command(source, to, like, bias, normalize, output):
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
