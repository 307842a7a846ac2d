"""Published results, to stand beside ours."""

import csv
from dataclasses import dataclass

from ovaflow.console.errors import InputError

COLUMNS = ["dataset", "method", "P@1", "P@3", "P@5", "source", "note"]


@dataclass(frozen=True)
class Published:
    """A published result.

    Attributes
    ----------
    dataset, method : str
    metrics : dict of str to float
        Fractions; what was not published is left out.
    source, note : str
    """

    dataset: str
    method: str
    metrics: dict
    source: str
    note: str


def read_published(path):
    """Read a table of published results.

    Parameters
    ----------
    path : path-like
        Tab-separated, columns as in :data:`COLUMNS`, metrics in percent, empty
        where not published.

    Returns
    -------
    list of Published

    Raises
    ------
    InputError
        If the file is missing or a line does not fit.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error})", path=path) from None
    if not lines or lines[0] != COLUMNS:
        raise InputError("unknown columns", path=path, line=1, remedy=f"expected {', '.join(COLUMNS)}")
    return [_entry(path, number, line) for number, line in enumerate(lines[1:], 2) if line]


def _entry(path, number, line):
    padded = line + [""] * (len(COLUMNS) - len(line))
    if len(padded) != len(COLUMNS):
        raise InputError(f"{len(line)} columns instead of {len(COLUMNS)}", path=path, line=number)
    values = dict(zip(COLUMNS, padded, strict=True))
    try:
        metrics = {name: float(values[name]) / 100 for name in COLUMNS[2:5] if values[name].strip()}
    except ValueError as error:
        raise InputError(str(error), path=path, line=number, remedy="metrics are percentages") from None
    return Published(values["dataset"], values["method"], metrics, values["source"], values["note"])


def results_for(published, dataset):
    """Published results of a dataset.

    Parameters
    ----------
    published : list of Published
    dataset : str
        Its name; case does not matter.

    Returns
    -------
    list of Published
        Best P@1 first.
    """
    ours = [entry for entry in published if entry.dataset.casefold() == dataset.casefold()]
    return sorted(ours, key=lambda entry: -entry.metrics.get("P@1", 0))
