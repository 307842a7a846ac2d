"""Contract of statuses of labels: the page about files has the number and the name of each."""

import re
from pathlib import Path

from ovaflow.solver.problem import Status

PAGE = Path(__file__).parents[2] / "docs" / "file-formats.md"


def test_every_status_is_on_the_page_about_files() -> None:
    _, _, section = PAGE.read_text().partition("\n### Statuses of labels\n")
    section, _, _ = section.partition("\n### ")
    theirs = dict(re.findall(r"^\| (\d+) \| ([\w ]+)", section, re.MULTILINE))
    ours = {str(int(status)): status.name.replace("_", " ").lower() for status in Status}
    assert ours == theirs
