"""Published results, to stand beside ours."""

import csv
from dataclasses import dataclass

from ovaflow.console.errors import InputError
from ovaflow.report import wording
from ovaflow.report.tables import Cell, Column, Row, Table, figure, mark_columns

CAVEAT = "Published figures are those of their authors: other splits, other preprocessing, other hardware."
"""Of all published figures."""

CAVEATS = {
    "XMC repository": "features and splits of the repository’s own files",
    "XMC repository 2019": "the repository’s page as of 2019, its own splits over the pooled data",
    "DiSMEC table 2": "the paper’s preprocessing, C chosen on held-out instances, weights pruned at 0.01",
    "OVA-Primal++ table 3": "one split, bias and scaling as in that paper",
    "FastXML table 2": "the paper’s preprocessing",
    "Rembrandt table 2": "P@1 is 1 − the published test error",
    "Rembrandt table 5": "features of the paper’s own",
}
"""By source."""

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
        raise InputError(
            "no such file", path=path, remedy="give the path of a table such as config/published.tsv"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not valid UTF-8 ({error})", path=path, remedy="save it as UTF-8") from None
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


def caveat(entry):
    """What a reader should know before comparing with a published result.

    Parameters
    ----------
    entry : Published

    Returns
    -------
    str
    """
    return "; ".join(filter(None, (entry.note, CAVEATS.get(entry.source, ""))))


def footnote(entry):
    """Source and caveat of a published result.

    Parameters
    ----------
    entry : Published

    Returns
    -------
    str
    """
    return ": ".join(filter(None, (entry.source, caveat(entry))))


def show(anchor, section):
    """Table of the section.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    if not section.published:
        return None
    return {"table": published_table(section.runs, section.published), "caveat": CAVEAT}


def published_table(runs, published):
    """Our runs and published results of the same dataset name.

    Parameters
    ----------
    runs : sequence of Run
    published : sequence of Published

    Returns
    -------
    Table
    """
    names = ("P@1", "P@3", "P@5")
    columns = [
        *(Column(name, unit="fraction") for name in names),
        Column("source", words=True),
        Column("caveat", words=True),
    ]
    ours = [[figure(run.metrics.get(name), wording.percent) for name in names] for run in runs]
    theirs = [[figure(entry.metrics.get(name), wording.percent) for name in names] for entry in published]
    marked = mark_columns(ours + theirs)
    rows = [
        Row(run.name, [*cells, Cell("this report"), Cell(run.summary)], run.series)
        for run, cells in zip(runs, marked[: len(runs)], strict=True)
    ]
    rows += [
        Row(entry.method, [*cells, Cell(entry.source), Cell(caveat(entry))], kind="theirs")
        for entry, cells in zip(published, marked[len(runs) :], strict=True)
    ]
    return Table("method", columns, rows, "Beside published results")
