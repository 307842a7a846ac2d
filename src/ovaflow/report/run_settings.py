"""The section Settings: those that differ between runs, and those that all runs share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, make_table

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run


def show_settings(results: DatasetResults) -> dict[str, Any]:
    """Show a table of the settings that differ, and pairs of the others."""
    runs = results.runs
    names: dict[str, None] = {}
    for run in runs:
        names |= dict.fromkeys(run.settings)
    differing = []
    shared = []
    for name in names:
        values = {_get_setting(name, run) for run in runs}
        if len(values) > 1:
            differing.append(name)
        else:
            shared.append((name.replace("_", " "), values.pop()))
    table = None
    if differing:
        columns = [Column(run.name, partial(_get_setting, run=run)) for run in runs]
        table = make_table("Settings that differ", "setting", columns, differing, _make_row)
    return {"table": table, "shared": shared}


def _make_row(name: str, cells: list[Cell]) -> Row:
    return Row(name.replace("_", " "), cells)


def _get_setting(name: str, run: Run) -> str:
    return run.settings.get(name, wording.MISSING)


SECTION = ReportSection("settings", "Settings", show_settings, folded=True)
