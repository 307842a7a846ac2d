"""Where the workflow's own files are: beside the source in a checkout, inside the package in a wheel."""

from pathlib import Path

from ovaflow.console.errors import InputError

_PACKAGE = Path(__file__).parents[1]


def published_results() -> Path:
    """Path of the table of published results.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If the installation carries no workflow.
    """
    return snakefile().parent / "config" / "published.tsv"


def snakefile() -> Path:
    """Path of the workflow's Snakefile.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If the installation carries no workflow.
    """
    for folder in (_PACKAGE / "pipeline", _PACKAGE.parents[1]):
        if (folder / "Snakefile").is_file():
            return folder / "Snakefile"
    raise InputError("this installation carries no workflow", path=_PACKAGE, remedy="install it from a wheel")
