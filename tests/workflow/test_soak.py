"""Many re-runs with changes of the config leave no files, folders, locks, shared memory or processes behind.

``OVAFLOW_SOAK=20`` in the environment makes more of them than the usual ones.
"""

import os
import re
from itertools import cycle, islice
from pathlib import Path

import psutil
import pytest
from tiny_table import write_config

from ovaflow.machine.shared_files import private_folder

RERUNS = int(os.environ.get("OVAFLOW_SOAK", "3"))

pytestmark = [pytest.mark.workflow, pytest.mark.kills, pytest.mark.timeout(300 + 120 * RERUNS)]

CONFIGS = (
    {"runs": {"tree": {"initialization": "label-tree"}}, "train": {"shards": 2}},
    {"runs": {"msi": {"C": 2}, "forest": {"method": "fastxml", "trees": 4}}, "train": {"shards": 1}},
)


def files(folder):
    """Files below a folder; of Snakemake's own log of each call, none."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if path.parts[:2] != (".snakemake", "log")}


def shared_memory():
    """Files of ovaflow in shared memory, apart from the lock file of each CPU, of which there is a fixed number."""
    return {path.name for path in private_folder().iterdir() if not re.fullmatch(r"cpu\d+\.lock", path.name)}


def locks(folder):
    """Locks that processes hold on files below a folder."""
    inodes = {str(path.stat().st_ino) for path in folder.rglob("*") if path.is_file()}
    held = (line.split() for line in Path("/proc/locks").read_text().splitlines())
    return [line for line in held if line[-3].rpartition(":")[2] in inodes]


def processes(folder):
    """Processes that work in a folder."""
    working = psutil.process_iter(["cwd", "cmdline"])
    return [process.info["cmdline"] for process in working if process.info["cwd"] == str(folder)]


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="no /proc/locks to look into")
def test_reruns_leave_nothing_behind(finished, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    place = finished.copy(tmp_path / "place")
    before, seen = shared_memory(), set()
    for number, config in islice(enumerate(cycle(CONFIGS)), RERUNS):
        write_config(place.folder / "my.yaml", report={"prune_thresholds": []}, **config)
        place.snakemake(TMPDIR=str(temporary))
        assert files(temporary) == set()
        assert locks(place.folder) == []
        assert processes(place.folder) == []
        there = files(place.folder)
        assert not [name for name in there if ".partial" in name]
        # once each config has run, none leaves a file of a new name
        assert number < len(CONFIGS) or there <= seen
        seen |= there
    assert shared_memory() - before == set()
