"""The section on settings: of all runs side by side."""

from ovaflow.report import wording
from ovaflow.report.tables import Cell, Column, Row, Table

SIDE_BY_SIDE = 8
"""More runs than these stand below one another, with what differs alone."""


def show(anchor, section):
    """Table of the section, and what all runs share where that is not in it.

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
    if len(section.runs) <= SIDE_BY_SIDE:
        return {"table": settings_table(section.runs), "shared": []}
    return dict(zip(("table", "shared"), differing(section.runs), strict=True))


def settings_table(runs):
    """Settings of the runs side by side; those that differ are marked.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    Table
    """
    settings = [dict(run.parameters) for run in runs]
    rows = []
    for name in dict.fromkeys(name for each in settings for name in each):
        values = [each.get(name, wording.MISSING) for each in settings]
        rows.append(Row(name.replace("_", " "), [Cell(value) for value in values], differs=len(set(values)) > 1))
    return Table("setting", [Column(run.name, words=True, named=True) for run in runs], rows, "Settings")


def differing(runs):
    """Settings that are not the same for all runs, a row for each run; and those that are.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    table : Table
    shared : list of (str, str)
    """
    settings = [dict(run.parameters) for run in runs]
    names = list(dict.fromkeys(name for each in settings for name in each))
    values = {name: [each.get(name, wording.MISSING) for each in settings] for name in names}
    varied = [name for name in names if len(set(values[name])) > 1]
    columns = [Column(name.replace("_", " "), words=True) for name in varied]
    rows = [Row(run.name, [Cell(values[name][place]) for name in varied], run.series) for place, run in enumerate(runs)]
    shared = [(name.replace("_", " "), values[name][0]) for name in names if name not in varied]
    return Table("run", columns, rows, "Settings that differ"), shared
