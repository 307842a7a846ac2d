"""What a person sees of a run on a real terminal."""

import re
import shutil

import pytest
from terminal_of_its_own import Terminal
from tiny_table import write_config

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(finished, tmp_path_factory):
    """One run's two shards and what follows, on a terminal."""
    place = finished.copy(tmp_path_factory.mktemp("seen"))
    for path in ("results/tiny/msi/model.h5", "results/report.html"):
        (place.folder / path).unlink()
    shutil.rmtree(place.folder / "results/tiny/msi/shards")
    terminal = Terminal(columns=90)
    command = place.command("--configfile", "my.yaml")
    status = terminal.run(command, cwd=place.folder, env=place.environment(TERM="xterm-256color"))
    assert status == 0, terminal.text()
    return terminal, place


def test_a_line_for_each_stage(seen):
    terminal, _ = seen
    lines = terminal.text().splitlines()
    assert all(len(line) <= 90 for line in lines)
    first = lines.index(next(line for line in lines if line.endswith("jobs to do")))
    stages = [line.split()[0] for line in lines[first + 1 : -2]]
    assert stages[:2] == ["train", "merge"]
    assert sorted(stages[2:]) == sorted(["predict", "evaluate", "prune", "report"])
    assert re.fullmatch(r"train +tiny/msi +[\d.]+ s  2/2 shards, 10 labels", lines[first + 1])
    assert re.fullmatch(r"Done: 7 jobs in .* s", lines[-2])
    assert lines[-1].startswith("The report is ready: ")
    assert terminal.cursor_is_shown()


def test_running_stages_are_drawn_again(seen):
    terminal, _ = seen
    drawn = [re.search(r"(train +tiny/msi .*)\n(\d of 7 jobs done, .*)$", frame) for frame in terminal.frames]
    drawn = {match[0] for match in drawn if match is not None}
    assert len(drawn) >= 2
    assert any("0/2 shards" in frame for frame in drawn)
    assert "jobs done," not in terminal.text()


def test_a_failure_on_a_terminal(place):
    write_config(place.folder / "my.yaml", prepare={"text_column": "nope"})
    terminal = Terminal()
    command = place.command("results/tiny/dataset.h5", "--configfile", "my.yaml")
    assert terminal.run(command, cwd=place.folder, env=place.environment(TERM="xterm-256color")) == 1
    lines = terminal.text().splitlines()
    assert "FAILED: prepare tiny" in lines
    assert any(line.startswith("  ovaflow: error: records.csv, line 1: no column 'nope'") for line in lines)
    assert any(line.startswith("  next: mend this") for line in lines)
    assert lines[-1].startswith("Stopped: 0 of 1 jobs")
    assert "Traceback" not in terminal.text()


def test_snakemake_itself_speaks_on_demand(place):
    written = place.snakemake("results/tiny/dataset.h5", "--printshellcmds")
    assert "localrule prepare_dataset:" in written
    assert "1 of 1 steps (100%) done" in written
