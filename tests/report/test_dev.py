"""Figures on a dev part in the report and its tables."""

import csv
import io

import pytest

from ovaflow.report import quality, sweeps
from ovaflow.report.gather import gather_results
from ovaflow.report.page import render_page
from ovaflow.report.runs import ListedRun, list_brief_metrics, make_listing_table
from ovaflow.report.tidy import format_tidy_csv


def test_sweeps_and_tables_of_runs_have_figures_of_the_dev_part(runs_with_dev) -> None:
    (results,) = gather_results(runs_with_dev, sweeps={"msi": [run.name for run in runs_with_dev]})
    theirs = []
    for run in results.runs:
        dev = run.metrics["dev"]
        theirs.append((dev["P@1"], *dev["intervals"]["P@1"]))
    swept = sweeps.show_sweeps(results)[0]["table"]
    of_quality = quality.show_dev(results)["table"]
    for table in (swept, of_quality):
        cells = [row.cells[0] for row in table.rows]
        assert [(cell.value, *cell.interval) for cell in cells] == theirs
    assert "Quality on the 40 dev records" in render_page([results])
    assert ("dev instances", "40") in [fact[:2] for fact in results.data.facts]
    all_rows = csv.DictReader(io.StringIO(format_tidy_csv([results])))
    tidy = [row for row in all_rows if row["figure"] == "dev P@1"]
    listed = [ListedRun(run, {}, "", run.metrics) for run in results.runs]
    names, rows = make_listing_table(listed, list_brief_metrics()).full_content
    column = names.index("dev P@1")
    for row, cells, figure in zip(tidy, rows, theirs, strict=True):
        assert cells[column : column + 3] == figure
        assert [float(row[name]) for name in ("value", "low", "high")] == pytest.approx(figure)
