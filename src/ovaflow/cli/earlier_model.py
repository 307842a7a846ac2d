"""The option that names an earlier model to start from."""

from pathlib import Path

import click

from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.model.model_file import open_model

earlier_option = click.option(
    "--earlier",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Model that --initialization=pretrained starts from.",
)


def read_earlier(path, dataset, training=None):
    """Match an earlier model with a dataset and say how much of it fits.

    Parameters
    ----------
    path : path-like or None
    dataset : Dataset
    training : Training, optional
        What the model's labels must have been trained with, where they are taken over.

    Returns
    -------
    earlier : Earlier or None
    inputs : dict of str to str
        The model's checksum, for what is trained from it.
    """
    if path is None:
        return None, {}
    model = open_model(path)
    if training is not None:
        require_same_problem(model, training)
    earlier = match_model(model, dataset)
    click.echo(earlier.words, err=True)
    return earlier, {"earlier": model.checksum}
