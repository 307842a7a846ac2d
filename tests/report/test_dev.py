"""What the report and its tables say of a dev part."""

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
    figures = [run.metrics["dev"] for run in results.runs]
    theirs = [(each["P@1"], *each["intervals"]["P@1"]) for each in figures]
    swept = sweeps.show_sweeps("mine", results)[0]["table"]
    of_quality = quality.show_dev("mine", results)["table"]
    for table in swept, of_quality:
        assert [(row.cells[0].value, *row.cells[0].interval) for row in table.rows] == theirs
    assert "Quality on the 40 dev records" in render_page([results])
    assert ("dev instances", "40") in [fact[:2] for fact in results.card.facts]
    tidy = [
        row
        for row in csv.DictReader(io.StringIO(format_tidy_csv([results])))
        if row["figure"] == "dev P@1"
    ]
    names, rows = make_listing_table(
        [ListedRun(run, {}, "", run.metrics) for run in results.runs], list_brief_metrics()
    ).full_content
    place = names.index("dev P@1")
    for row, cells, figure in zip(tidy, rows, theirs, strict=True):
        assert cells[place : place + 3] == figure
        assert [float(row[name]) for name in ("value", "low", "high")] == pytest.approx(figure)
