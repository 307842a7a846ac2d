"""A step that comes to make other results has another revision.

revisions.json has the revision of each step and sums of its results, for types of processors: solvers stop early, and
where they stop depends on the order of sums. After a revision is raised, and for another type:
OVAFLOW_RECORD=1 pytest tests/contracts/test_revisions.py
"""

import json
import os
import re
from pathlib import Path
from zlib import crc32

import h5py
import numpy as np
import pytest
from finished_run import STEPS as COMMANDS
from finished_run import WRITTEN
from llvmlite.binding import get_host_cpu_name

from ovaflow.registry import ONE_VS_ALL, all_steps, find_method

RECORDED = Path(__file__).with_name("revisions.json")
TOLERANCE = 1e-3

_VARYING = re.compile("seconds|rss_bytes|checksum|xxh3|inputs|version|threads")
_CHECKSUM = re.compile(r"[0-9a-f]{32}")


def leaves_of(value, name=""):
    """Numbers and texts of nested JSON, by the names on the way to them, without places in lists."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else (("", each) for each in value)
        for key, each in items:
            yield from leaves_of(each, f"{name}/{key}" if key else name)
    elif not _VARYING.search(name) and not _CHECKSUM.search(str(value)):
        yield name, value


def values_of(path):
    """Arrays and texts of an artifact by name."""
    values = {}
    if path.suffix == ".h5":

        def add(name, item):
            if isinstance(item, h5py.Dataset) and not _VARYING.search(name):
                values[name] = item[()]
            for key, value in item.attrs.items():
                if not _VARYING.search(key):
                    values[f"{name}.{key}"] = value

        with h5py.File(path) as file:
            add("", file)
            file.visititems(add)
        leaves = leaves_of(json.loads(values.pop(".parameters")))
    elif path.suffix == ".json":
        leaves = leaves_of(json.loads(path.read_text(encoding="utf-8")))
    else:
        leaves = [("", float(word)) for word in re.findall(r"[\d.]+", path.read_text().rpartition("#")[0])]
    for name, value in leaves:
        values.setdefault(f"said{name}", []).append(value)
    return values


def summary_of(values):
    """Size of an array, its sum and the sum of its absolute values; of texts a checksum."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.dtype == np.uint8:
        return [array.size, crc32(repr(array.tolist()).encode())]
    numbers = array[np.isfinite(array)].astype(float)
    return [array.size, float(numbers.sum()), float(np.abs(numbers).sum())]


def is_as_recorded(ours, theirs):
    """Whether sums differ by no more than the tolerance, of all absolute values."""
    if len(ours) < 3 or len(theirs) < 3:
        return ours == theirs
    return ours[0] == theirs[0] and np.allclose(ours[1:], theirs[1:], rtol=0, atol=TOLERANCE * theirs[2] + 1e-12)


def results_of(finished, command):
    return {
        f"{name} {key}": summary_of(values)
        for name in WRITTEN.findall(command)
        for key, values in sorted(values_of(finished[name]).items())
    }


def step_of(command):
    return command.split()[0]


def revision_of(command):
    step, named = step_of(command), re.search(r"--method=(\S+)", command)
    revisions = find_method(named[1] if named else ONE_VS_ALL).revisions
    return revisions.get(step, all_steps()[step].revision)


NUMBERED = {f"{place} {step_of(command)}": command for place, command in enumerate(COMMANDS) if WRITTEN.search(command)}


@pytest.fixture(scope="module")
def recorded(finished):
    if os.environ.get("OVAFLOW_RECORD"):
        content = {
            key: {"revision": revision_of(command), "results": results_of(finished, command)}
            for key, command in NUMBERED.items()
        }
        recorded = {**json.loads(RECORDED.read_text()), get_host_cpu_name(): content}
        text = json.dumps(recorded, indent=1)
        RECORDED.write_text(re.sub(r"\[\n\s+([^\[\]]*?)\n\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n")
    content = json.loads(RECORDED.read_text())
    if get_host_cpu_name() not in content:
        pytest.skip(f"no results were recorded on a {get_host_cpu_name()}")
    return content[get_host_cpu_name()]


@pytest.mark.parametrize("key", NUMBERED)
def test_results_are_those_of_the_revision(finished, recorded, key):
    if key not in recorded:
        pytest.skip(f"its results were not recorded on a {get_host_cpu_name()} after its revision was raised")
    theirs, command = recorded[key], NUMBERED[key]
    assert revision_of(command) == theirs["revision"], "record its results anew, as the head of this file says"
    ours = results_of(finished, command)
    assert ours.keys() == theirs["results"].keys()
    other = {name: (ours[name], old) for name, old in theirs["results"].items() if not is_as_recorded(ours[name], old)}
    assert not other, f"raise the revision of {step_of(command)}, and record its results"


def test_a_change_of_one_hundredth_is_found(finished):
    for name in ("model", "predictions", "metrics"):
        values = values_of(finished[name])
        for key, theirs in values.items():
            array = np.asarray(theirs)
            if array.dtype.kind == "f" and np.abs(array[np.isfinite(array)]).sum():
                assert not is_as_recorded(summary_of(array * 1.01), summary_of(theirs)), (name, key)
