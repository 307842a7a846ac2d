"""``ovaflow convert``."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.console.errors import InputError
from ovaflow.model.dismec_file import read_dismec, write_dismec
from ovaflow.model.dismecpp_files import read_dismecpp, write_dismecpp
from ovaflow.model.exchange import assemble, describe
from ovaflow.model.model_file import open_model, save_model
from ovaflow.model.npz_file import read_npz, write_npz
from ovaflow.storage.container import MAGIC

_FILE = click.Path(path_type=Path, dir_okay=False)
_WRITERS = {"model": save_model, "npz": write_npz, "dismec++": write_dismecpp, "dismec": write_dismec}
_MAGICS = {b"PK": read_npz, b"{": read_dismecpp, b"solver_type": read_dismec}
_OWN = (MAGIC, b"\x89HDF")


@click.command("convert")
@click.argument("source", type=_FILE)
@click.option("--to", type=click.Choice(list(_WRITERS)), default="model", show_default=True, help="Format to write.")
@click.option("--like", type=_FILE, help="Model of the same labels and features: take names and the rest from it.")
@click.option(
    "--bias",
    type=Finite(0),
    default=1.0,
    show_default=True,
    help="Models of others: value of the last column's feature.",
)
@click.option(
    "--normalize/--no-normalize", default=True, show_default=True, help="Models of others: instances had length 1."
)
@click.option("--output", type=_FILE, required=True, help="File to write.")
def command(source, to, like, bias, normalize, output):
    """Convert the model SOURCE from and to SciPy's npz and the models of DiSMEC and DiSMEC++.

    What SOURCE is, its first bytes tell. Weights are the same to the last bit.
    """
    model = _read(source, bias=bias, normalize=normalize)
    if like is not None:
        model = assemble(like, model.weights, describe(open_model(like)))
    _WRITERS[to](output, model)
    click.echo(f"{output}: {model.n_labels:,} labels, {model.n_features:,} features, {model.nonzeros:,} weights")


def _read(path, **supposed):
    try:
        with path.open("rb") as file:
            head = file.read(64).lstrip()
    except OSError as error:
        raise InputError(error.strerror, path=path, remedy="mend this file, or give another one") from None
    if head.startswith(_OWN):
        return open_model(path)
    for magic, read in _MAGICS.items():
        if head.startswith(magic):
            return read(path, **supposed)
    raise InputError(
        "no model.h5, npz, or model of DiSMEC or DiSMEC++", path=path, remedy="mend this file, or give another one"
    )
