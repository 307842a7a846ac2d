"""The section of a sweep."""

import pytest

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.report.gather import gather
from ovaflow.report.sweeps import read_cold_start, sweep_table
from ovaflow.storage.texts import write_json

FIGURES = {
    "initialization": "mean-separating",
    "labels": 128,
    "of": 39,
    "cold": {"newton_steps": 8.0, "cg_steps": 30.0, "full_passes": 3.0, "seconds": 0.004},
    "warm": {"newton_steps": 2.0, "cg_steps": 9.0, "full_passes": 2.0, "seconds": 0.003},
    "objective_difference": 0.0012,
}


@pytest.fixture
def swept(runs):
    """Folders of a sweep's two runs, the lower C last; the upper one with its cold start."""
    path = runs[0] / "cold_start.json"
    write_json(path, "cold-start", FIGURES)
    yield runs
    path.unlink()


def test_a_sweep_is_shown_by_ascending_value(swept):
    (section,) = gather(swept, sweeps={"mine": [run.name for run in swept], "elsewhere": ["other"]})
    (sweep,) = section.sweeps
    assert [value.C for value in sweep.values] == [0.1, 1.0]
    table = sweep_table(sweep)
    assert [row.name for row in table.rows] == ["0.1", "1"]
    texts = dict(zip([(column.group, column.title) for column in table.columns], table.rows[1].cells, strict=True))
    group = "saved by the neighbour, %"
    assert texts[group, "steps"].text == "75"
    assert texts[group, "time"].text == "25"
    assert texts["objective", "differs, %"].text == "0.12"
    assert [cell.text for cell in table.rows[0].cells[-3:]] == ["–"] * 3


def test_the_page_says_what_was_measured(swept, tmp_path, capsys):
    sweep = "--sweep=mine=" + ",".join(run.name for run in swept)
    assert main(["report", *map(str, swept), sweep, f"--output={tmp_path / 'report.html'}"]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for part in ("Sweep <bdi>mine</bdi>", "128 of 39 labels", "Metrics by C", "Newton steps by C"):
        assert part in page
    assert main(["report", str(swept[0]), "--sweep=mine", f"--output={tmp_path / 'report.html'}"]) == 2
    assert "expected NAME=RUN,RUN and so on" in capsys.readouterr().err


def test_without_cold_starts_the_quality_is_shown(runs, tmp_path):
    sweep = "--sweep=mine=" + ",".join(run.name for run in runs)
    assert main(["report", *map(str, runs), sweep, f"--output={tmp_path / 'report.html'}"]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Metrics by C" in page
    assert "Newton steps by C" not in page


@pytest.mark.parametrize("figures", [{}, FIGURES | {"cold": 3}])
def test_foreign_figures_are_refused(tmp_path, figures):
    path = tmp_path / "cold_start.json"
    write_json(path, "cold-start", figures)
    with pytest.raises(InputError, match=r"no figures of a cold start; delete it"):
        read_cold_start(path)
