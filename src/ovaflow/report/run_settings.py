"""The section Settings: those in which runs differ, and those that all share."""

from functools import partial

from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table


def show_settings(anchor, results):
    runs = results.runs
    names = dict.fromkeys(name for run in runs for name in run.settings)
    varied = [name for name in names if len({_setting(name, run) for run in runs}) > 1]
    columns = [Column(run.name, partial(_setting, run=run)) for run in runs]

    def row_of(name, cells):
        return Row(name.replace("_", " "), cells)

    table = (
        make_table("Settings that differ", "setting", columns, varied, row_of) if varied else None
    )
    shared = [
        (name.replace("_", " "), _setting(name, runs[0])) for name in names if name not in varied
    ]
    return {"table": table, "shared": shared}


def _setting(name, run):
    return run.settings.get(name, wording.MISSING)


SECTION = ReportSection("settings", "Settings", show_settings, folded=True)
