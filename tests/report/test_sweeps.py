from ovaflow.cli import main
from ovaflow.report.gather import gather
from ovaflow.report.sweeps import show_sweeps


def test_a_sweep_is_shown_by_ascending_value(runs):
    (results,) = gather(runs, sweeps={"mine": [run.name for run in runs], "elsewhere": ["other"]})
    (sweep,) = show_sweeps("mine", results)
    assert [row.name for row in sweep["table"].rows] == ["0.1", "1"]
    assert [row.hint for row in sweep["table"].rows] == [run.name for run in reversed(runs)]


def test_the_page_has_a_section_of_sweeps(runs, tmp_path, capsys):
    output = tmp_path / "report.html"
    arguments = ["report", *map(str, runs), f"--output={output}", "--examples=0"]
    assert main([*arguments, "--sweep=mine=" + ",".join(run.name for run in runs)]) == 0
    page = output.read_text(encoding="utf-8")
    assert all(part in page for part in ("Sweep <bdi>mine</bdi>", "Metrics by C"))
    assert main([*arguments, "--sweep=mine"]) == 2
    assert "expected NAME=RUN,RUN with all runs of a sweep" in capsys.readouterr().err
