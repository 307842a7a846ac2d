"""Costs of runs as the page shows them, and logarithmic axes of sizes."""

import shutil
from pathlib import Path

import pytest
from finished_run import RunFolder
from matplotlib.figure import Figure

from ovaflow.report import costs
from ovaflow.report.drawing import label_logarithmic_axis
from ovaflow.report.gather import gather_results
from ovaflow.report.page import render_page
from ovaflow.storage.texts import read_json, write_json


@pytest.mark.parametrize(
    "limits", [(0.098, 0.196), (14, 24), (0.9, 5.1), (2e-7, 3e3), (1.1e6, 1.9e6)]
)
def test_a_logarithmic_axis_has_numbers(limits) -> None:
    axes = Figure().add_subplot()
    axes.set(xscale="log", xlim=limits)
    label_logarithmic_axis(axes.xaxis)
    low, high = limits
    seen = [tick for tick in axes.get_xticks() if low <= tick <= high]
    written = [label.get_text() for label in axes.xaxis.get_ticklabels() if label.get_text()]
    assert len(seen) >= 2
    assert len(set(written)) == len(written)


@pytest.fixture
def paths(finished, tmp_path) -> list[Path]:
    """Two runs of the same training, which took longer the second time, and the trees."""
    folder = RunFolder(shutil.copytree(finished.path, tmp_path / "tiny"))
    again = shutil.copytree(folder.path / "msi", folder.path / "again")
    metrics = read_json(again / "metrics.json", "metrics")
    write_json(
        again / "metrics.json", "metrics", metrics | {"train_seconds": 2 * metrics["train_seconds"]}
    )
    return [folder.path / name for name in ("msi", "again", "forest")]


def test_times_of_the_same_training_are_not_compared(paths) -> None:
    (results,) = gather_results(paths)
    msi, again, forest = results.runs
    assert msi.same_training_run is None
    assert again.same_training_run is msi
    assert forest.same_training_run is None
    assert again.training_seconds == msi.training_seconds == msi.metrics["train_seconds"]
    rows = {row.name: row for row in costs.show_costs(results)["table"].rows}
    training = rows["training"].cells
    assert training[0].text == training[1].text
    page = render_page([results])
    assert "<bdi>again</bdi>: trained as <bdi>msi</bdi>" in page
    for row in rows.values():
        assert not any(cell.best for cell in row.cells)


def test_a_run_costs_what_its_files_say(finished) -> None:
    (results,) = gather_results([finished.path / "msi"])
    (run,) = results.runs
    table = costs.show_costs(results)["table"]
    shown = {row.name: row.cells[0].value for row in table.rows}
    assert shown["model"] == finished["model"].stat().st_size
    assert shown["second stage"] == finished["reranker"].stat().st_size
    assert shown["weights"] == run.metrics["nonzeros"]
    assert shown["training per label"] == pytest.approx(
        1000 * run.metrics["train_seconds"] / run.n_trained
    )
