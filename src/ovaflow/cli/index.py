"""ovaflow index."""

from pathlib import Path

import click

from ovaflow.model.model_file import open_model
from ovaflow.prediction.index import index_path, write_index


@click.command("index")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
def command(model):
    """Write the index of MODEL (model.h5) beside it, for processes that score a text at a time.

    They map it and share it; without it each of them builds one in its own
    memory, after some instances. It is used as long as it is that of the model.
    """
    path = index_path(model)
    write_index(path, open_model(model))
    click.echo(f"{path}: {path.stat().st_size / 1e6:,.1f} MB")
