"""What the report and its tables say of a dev part."""

import csv
import io

import naive
import pytest

from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.resampling import interval
from ovaflow.prediction.predictions import Predictions
from ovaflow.report.gather import gather
from ovaflow.report.page import render
from ovaflow.report.runs import MAIN, ListedRun, measured, table_of
from ovaflow.report.tidy import tidy_csv
from ovaflow.storage.texts import read_json

N_DEV = 40


@pytest.fixture(scope="module")
def results(runs_with_dev):
    (results,) = gather(runs_with_dev, sweeps={"msi": [run.name for run in runs_with_dev]})
    return results


@pytest.fixture(scope="module")
def theirs(runs_with_dev):
    """P@1 of each run on the dev part, which are the first test instances."""
    dataset = open_dataset(runs_with_dev[0].parent / "dataset.h5")
    Y, inverse = dataset.test.Y.to_scipy().toarray()[:N_DEV], dataset.inverse_propensity(0.55, 1.5)
    ids = {run.name: Predictions.open(run / "predictions.h5").ids[:N_DEV] for run in runs_with_dev}
    return {name: naive.ranking_metrics(each, Y, inverse, 1)["P"] for name, each in ids.items()}


def values_of(table, title="P@1", group=""):
    (place,) = [place for place, each in enumerate(table.columns) if (each.title, each.group) == (title, group)]
    return {row.hint or row.name: row.cells[place] for row in table.rows}


def test_a_sweep_is_read_from_the_dev_part(results, theirs, sections):
    (sweep,) = sections["sweeps"]
    cells = values_of(sweep["table"])
    assert {name: cell.value for name, cell in cells.items()} == pytest.approx(theirs)
    assert list(cells) == ["msi.C-0.1", "msi.C-1"]
    for run in results.runs:
        assert cells[run.name].interval == interval(run.dev_samples["P@1"]) != interval(run.samples["P@1"])
    assert "Quality on the 40 dev records" in render([results])


def test_quality_has_a_table_of_the_dev_part(results, theirs, sections):
    cells = values_of(sections["quality"]["on_dev"], "@1", "P")
    assert [cell.value for cell in cells.values()] == pytest.approx(list(theirs.values()))
    test_set = values_of(sections["quality"]["main"], "@1", "P")
    assert [cell.value for cell in test_set.values()] == [run.metrics["P@1"] for run in results.runs]
    assert ("dev instances", "40") in [fact[:2] for fact in results.card.facts]


@pytest.fixture(scope="module")
def sections(results):
    from ovaflow.report.sections import SECTIONS

    wanted = [section for section in SECTIONS if section.key in ("sweeps", "quality")]
    return {section.key: section.show("mine", results) for section in wanted}


def test_without_a_dev_part_a_sweep_is_read_from_the_test_set(runs):
    (results,) = gather(runs, sweeps={"msi": [run.name for run in runs]})
    assert results.sweeps["msi"].n_dev is None
    assert "dev" not in render([results]).partition("Sweep ")[2].partition("<table")[0]


def test_tables_of_runs_have_figures_of_the_dev_part(results, runs_with_dev, theirs):
    rows = {(row["run"], row["figure"]): row for row in csv.DictReader(io.StringIO(tidy_csv([results])))}
    metrics = [read_json(run / "metrics.json", "metrics") for run in runs_with_dev]
    listed = [ListedRun("mine", run.name, {}, each, "") for run, each in zip(runs_with_dev, metrics, strict=True)]
    for run, figures in zip(listed, metrics, strict=True):
        row = rows[run.name, "dev P@1"]
        ours = [float(row[name]) for name in ("value", "low", "high")]
        assert ours == pytest.approx([theirs[run.name], *figures["dev"]["intervals"]["P@1"]])
    assert "dev nDCG@5" in measured(listed)
    names, (first, _) = table_of(listed, MAIN).in_full
    assert first[names.index("dev P@1")] == pytest.approx(theirs["msi.C-1"])
    assert first[names.index("dev P@1 low")] == metrics[0]["dev"]["intervals"]["P@1"][0]
