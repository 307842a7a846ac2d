"""The section on quality: metrics of the runs side by side."""

import re

from ovaflow.report import wording
from ovaflow.report.tables import Column, Table, figure, mark_columns, named_rows

FAMILIES = ("P", "nDCG", "PSP", "recall")
"""Metrics of the main table; the others follow in a second one."""


def show(anchor, section):
    """Tables of the section.

    Parameters
    ----------
    anchor : str
    section : Section

    Returns
    -------
    dict
    """
    tables = metric_table(section.runs), metric_table(section.runs, None)
    return dict(zip(("main", "further"), tables, strict=True))


def metric_columns(metrics, families):
    """Names of metrics by family and k.

    Parameters
    ----------
    metrics : sequence of dict
        One metrics.json a run.
    families : sequence of str or None
        Which and in this order; None: all that are not in :data:`FAMILIES`.

    Returns
    -------
    list of (str, str, int)
        (name, family, k), such as ``("P@1", "P", 1)``.
    """
    found = {}
    for name in (name for run in metrics for name in run):
        match = re.fullmatch(r"(.+)@(\d+)", name)
        if match:
            found[name] = (name, match[1], int(match[2]))
    order = {family: place for place, family in enumerate(families or [entry[1] for entry in found.values()][::-1])}
    wanted = order if families else order.keys() - set(FAMILIES)
    return sorted((e for e in found.values() if e[1] in wanted), key=lambda e: (order[e[1]], e[1], e[2]))


def metric_table(runs, families=FAMILIES):
    """Metrics of the runs side by side, in percent.

    Parameters
    ----------
    runs : sequence of Run
    families : sequence of str or None
        See :func:`metric_columns`.

    Returns
    -------
    Table
    """
    names = metric_columns([run.metrics for run in runs], families)
    rows = mark_columns([[figure(run.metrics.get(name), wording.percent) for name, _, _ in names] for run in runs])
    columns = [Column(f"@{k}", family, unit="fraction") for _, family, k in names]
    return Table("run", columns, named_rows(runs, rows), "Quality" if families else "Further metrics")
