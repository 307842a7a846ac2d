"""``--scratch``, for all commands that train on a dataset."""

import functools
from pathlib import Path

import click

from ovaflow.training.staging import staged

_OPTION = click.option(
    "--scratch",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="OVAFLOW_SCRATCH",
    show_envvar=True,
    help="Folder on a disk of this machine, for a copy of the dataset that its jobs share.",
)


def scratch_option(command):
    """Decorate a command with the option; its argument ``dataset`` is then the copy, as long as the command runs.

    Parameters
    ----------
    command : callable

    Returns
    -------
    callable
    """

    @_OPTION
    @functools.wraps(command)
    def on_copy(dataset, scratch, **arguments):
        with staged(dataset, scratch) as copy:
            return command(copy, **arguments)

    return on_copy
