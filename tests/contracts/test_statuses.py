"""Contract of statuses of labels: the page about files and the words of a shard know each."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ovaflow.methods.one_vs_all.share import describe_shard
from ovaflow.solver.problem import Status

PAGE = Path(__file__).parents[2] / "docs" / "file-formats.md"


def test_every_status_is_on_the_page_about_files() -> None:
    _, _, section = PAGE.read_text().partition("\n### Statuses of labels\n")
    section, _, _ = section.partition("\n### ")
    theirs = dict(re.findall(r"^\| (\d+) \| ([\w ]+)", section, re.MULTILINE))
    ours = {str(int(status)): status.name.replace("_", " ").lower() for status in Status}
    assert ours == theirs


def test_a_shard_counts_labels_that_ended_above_their_target() -> None:
    status = np.repeat(np.array(list(Status), np.int8), 2)
    weights = SimpleNamespace(data=status)
    shard = SimpleNamespace(labels=status, weights=weights, statistics={"status": status})
    ours = describe_shard(shard)
    assert ours == "10 labels, 10 weights, 2 labels taken over, 4 labels not converged"
