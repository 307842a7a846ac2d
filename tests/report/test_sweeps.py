"""The section on sweeps."""

import pytest

from ovaflow.cli import main
from ovaflow.report.gather import gather
from ovaflow.report.sweeps import show
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
    path.unlink(missing_ok=True)


def test_a_sweep_is_shown_by_ascending_value(swept):
    (results,) = gather(swept, sweeps={"mine": [run.name for run in swept], "elsewhere": ["other"]})
    (sweep,) = show("mine", results)
    table = sweep["table"]
    assert [row.name for row in table.rows] == ["0.1", "1"]
    texts = dict(zip([(column.group, column.title) for column in table.columns], table.rows[1].cells, strict=True))
    group = "saved by the neighbour, %"
    assert texts[group, "steps"].text == "75"
    assert texts[group, "time"].text == "25"
    assert texts["objective", "differs, %"].text == "0.12"
    assert [cell.text for cell in table.rows[0].cells[-3:]] == ["–"] * 3


def test_the_page_says_what_was_measured(swept, tmp_path, capsys):
    output, parts = tmp_path / "report.html", ["Sweep <bdi>mine</bdi>", "Metrics by C"]
    sampled = "128 of 39 labels", "Newton steps by C"
    arguments = ["report", *map(str, swept), "--sweep=mine=" + ",".join(run.name for run in swept), "--examples=0"]
    for expected in (True, False):
        assert main([*arguments, f"--output={output}"]) == 0
        page = output.read_text(encoding="utf-8")
        assert all(part in page for part in parts)
        assert [part in page for part in sampled] == [expected] * 2
        (swept[0] / "cold_start.json").unlink(missing_ok=True)
    assert main(["report", str(swept[0]), "--sweep=mine", f"--output={output}"]) == 2
    assert "expected NAME=RUN,RUN and so on" in capsys.readouterr().err
