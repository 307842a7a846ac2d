"""Runs with other configs in one folder leave no files, locks, shared memory or processes behind.

``OVAFLOW_SOAK=20`` in the environment makes more of them than the usual one.
"""

import os
import re
from itertools import cycle, islice
from pathlib import Path

import psutil
import pytest
from tiny_table import write_config

from ovaflow.machine.shared_files import private_folder

RERUNS = int(os.environ.get("OVAFLOW_SOAK", "1"))

pytestmark = [pytest.mark.workflow, pytest.mark.kills, pytest.mark.timeout(300 + 120 * RERUNS)]

CONFIGS = ({"initialization": "label-tree"}, {"method": "fastxml", "trees": 4})


def files(folder):
    """Files below a folder, without Snakemake's log of each call."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in paths if path.parts[:2] != (".snakemake", "log")}


def shared_memory():
    """Files of ovaflow in shared memory, apart from the lock file of each CPU."""
    names = {path.name for path in private_folder().iterdir()}
    return {name for name in names if not re.fullmatch(r"cpu\d+\.lock", name)}


def locks(folder):
    """Locks that processes hold on files below a folder."""
    inodes = {str(path.stat().st_ino) for path in folder.rglob("*") if path.is_file()}
    held = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    return [line for line in held if line[-3].rpartition(":")[2] in inodes]


def processes(folder):
    working = psutil.process_iter(["cwd", "cmdline"])
    return [process.info["cmdline"] for process in working if process.info["cwd"] == str(folder)]


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="no /proc/locks to look into")
def test_reruns_leave_nothing_behind(finished, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    place = finished.copy(tmp_path / "place")
    shared_before, earlier = shared_memory(), set()
    for number, run in islice(enumerate(cycle(CONFIGS)), RERUNS):
        name = run.get("method", "tree")
        train, report = {"shards": 1}, {"prune_thresholds": []}
        write_config(place.folder / "my.yaml", runs={name: run}, train=train, report=report)
        place.snakemake(TMPDIR=str(temporary))
        assert files(temporary) == set()
        assert locks(place.folder) == []
        assert processes(place.folder) == []
        present = files(place.folder)
        assert not [path for path in present if ".partial" in path]
        # once each config has run, none leaves a file of a new name
        assert number < len(CONFIGS) or present <= earlier
        earlier |= present
    assert shared_memory() - shared_before == set()
