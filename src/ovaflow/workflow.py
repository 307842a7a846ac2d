"""Where the workflow's own files are: next to the source in a checkout, inside the package in a wheel."""

import os
from pathlib import Path

from ovaflow.console.errors import InputError, StrPath

_PACKAGE = Path(__file__).parent


def published_results() -> Path:
    """Path of the table of published results."""
    return snakefile().parent / "config" / "published.tsv"


def snakefile() -> Path:
    """Path of the workflow's Snakefile."""
    for folder in (_PACKAGE / "pipeline", _PACKAGE.parents[1]):
        if (folder / "Snakefile").is_file():
            return folder / "Snakefile"
    raise InputError("this installation carries no workflow", path=_PACKAGE, remedy="install it from a wheel")


def code_alone(folder: StrPath) -> Path:
    """A folder for ``PYTHONPATH`` by which another Python finds ovaflow, and no package that is installed with it."""
    link = Path(folder).resolve() / _PACKAGE.name
    if not (link.is_symlink() and link.readlink() == _PACKAGE):
        link.parent.mkdir(parents=True, exist_ok=True)
        # jobs that start together each make one, and the last one stays
        made = link.with_name(f".{link.name}.{os.getpid()}")
        made.symlink_to(_PACKAGE)
        made.replace(link)
    return link.parent
