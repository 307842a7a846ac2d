"""A step that comes to make other results has another revision.

revisions.json has the revision of each step and sums of its results. Most are the same on every
processor. Those of the solver are recorded for types of processors: it stops early, and where it
does depends on the order of sums. Steps after the solver are tested on weights that no solver made.
To record what is missing or of another revision, and what follows from it, see HOW_TO_RECORD.
"""

import csv
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
from commands import ovaflow
from finished_run import OUTPUT_OPTION, list_inputs
from finished_run import STEPS as COMMANDS
from llvmlite.binding import get_host_cpu_name

from ovaflow.dataset.dataset import open_dataset
from ovaflow.methods.rembrandt.projection import Projected
from ovaflow.model.training_file import Shard
from ovaflow.registry import ONE_VS_ALL, all_steps, find_method, import_reference
from ovaflow.sparse.csr import from_scipy

RECORDED = Path(__file__).with_name("revisions.json")
HOW_TO_RECORD = "record: OVAFLOW_RECORD=1 python -m pytest tests/contracts/test_revisions.py"
TOLERANCE = 1e-3
PROCESSOR = get_host_cpu_name()

_VARYING = re.compile("seconds|rss_bytes|checksum|xxh3|inputs|version|threads")
_CHECKSUM = re.compile(r"[0-9a-f]{32}")


def flatten_json(value, name="") -> Iterator[tuple[str, Any]]:
    """Yield numbers and texts of nested JSON by their paths, without positions in lists."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else [("", each) for each in value]
        for key, each in items:
            yield from flatten_json(each, f"{name}/{key}" if key else name)
    elif not _VARYING.search(name) and not _CHECKSUM.search(str(value)):
        yield name, value


def read_values(path) -> dict:
    """Read arrays and texts of an artifact by name."""
    values = {}
    if path.suffix == ".h5":

        def add(name, item) -> None:
            if isinstance(item, h5py.Dataset) and not _VARYING.search(name):
                values[name] = item[()]
            for key, value in item.attrs.items():
                if not _VARYING.search(key):
                    values[f"{name}.{key}"] = value

        with h5py.File(path) as file:
            add("", file)
            file.visititems(add)
        leaves = flatten_json(json.loads(values.pop(".parameters")))
    elif path.suffix == ".json":
        leaves = flatten_json(json.loads(path.read_text(encoding="utf-8")))
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        leaves = flatten_json(rows)
    else:
        numbers = re.findall(r"[\d.]+", path.read_text().rpartition("#")[0])
        leaves = [("", float(number)) for number in numbers]
    for name, value in leaves:
        values.setdefault(f"said{name}", []).append(value)
    return values


def summarize(values) -> list:
    """Summarize an array by size, sum and sum of absolute values, texts by size and checksum."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.dtype == np.uint8:
        return [array.size, crc32(repr(array.tolist()).encode())]
    numbers = array[np.isfinite(array)].astype(float)
    return [array.size, float(numbers.sum()), float(np.abs(numbers).sum())]


def is_as_recorded(ours, theirs) -> bool:
    """Return whether sums differ by no more than the tolerance, of all absolute values."""
    if len(ours) < 3 or len(theirs) < 3:
        return ours == theirs
    return ours[0] == theirs[0] and np.allclose(
        ours[1:], theirs[1:], rtol=0, atol=TOLERANCE * theirs[2] + 1e-12
    )


def summarize_results(finished, command) -> dict[str, list]:
    """Summarize all outputs of a command."""
    results = {}
    for name in OUTPUT_OPTION.findall(command):
        for key, values in sorted(read_values(finished[name]).items()):
            results[f"{name} {key}"] = summarize(values)
    return results


def find_step(command) -> str:
    return command.split()[0]


def find_revision(command) -> int:
    step = find_step(command)
    named = re.search(r"--method=(\S+)", command)
    method = find_method(named[1] if named else ONE_VS_ALL)
    if step in method.revisions:
        return method.find_revision(step, import_reference(method.settings)())
    return all_steps()[step].revision


def is_solved(command) -> bool:
    """Return whether a command runs the solver of one-vs-all problems, as all but trees do."""
    return find_step(command) in ("root", "train-shard") and "--method=fastxml" not in command


PREPARED = "prepare --format=csv --train={records} --label-separator=| --output={dataset}"
FURTHER = [
    "hold-out-fold {dataset} --fold=2 --folds=3 --output={fold}",
    "join-folds {metrics} {metrics} --model={model} --output={folds}",
    "choose-prune {held_shard} --dataset={held} --output={chosen_prune}",
    "doubts {held_model} --dataset={dataset} --held-out={held} --output={doubts}",
]
ENTRIES = {
    f"{find_step(command)} {OUTPUT_OPTION.search(command)[1]}": command
    for command in [PREPARED, *COMMANDS, *FURTHER]
    if OUTPUT_OPTION.search(command)
}
SOLVED = [key for key, command in ENTRIES.items() if is_solved(command)]
EVERYWHERE = [key for key in ENTRIES if key not in SOLVED]


def write_centroids(path, dataset) -> None:
    """Write a shard again with other weights: means of positives, less half the mean of all
    instances.
    """
    shard = Shard.open(path)
    X = dataset.train.X.to_scipy()
    positives = dataset.positives.to_scipy()[shard.labels]
    means = positives @ X / np.maximum(positives.sum(axis=1), 1)[:, None] - X.mean(axis=0) / 2
    weights = sp.csr_array(np.where(np.abs(means) > 0.02, means, 0).astype(np.float32))
    statistics = {name: np.zeros_like(values) for name, values in shard.statistics.items()}
    replace(shard, weights=from_scipy(weights), statistics=statistics).write(path)


@pytest.fixture(scope="module")
def unsolved(finished, tmp_path_factory):
    """A finished run whose weights no solver made, and all that follows from them."""
    folder = finished.copy(tmp_path_factory.mktemp("unsolved") / "run")
    dataset = open_dataset(folder["dataset"])
    held = open_dataset(folder["held"])
    projected = Projected.open(folder["projected"]).dataset
    datasets = {"shard0": dataset, "shard1": dataset, "held_shard": held, "decoder": projected}
    for name, trained_on in datasets.items():
        write_centroids(folder[name], trained_on)
    made = set(datasets)
    for command in [*COMMANDS, *FURTHER]:
        if find_step(command) == "hold-out-fold" or (
            made & {*list_inputs(command)} and not is_solved(command)
        ):
            ovaflow(folder.words(command))
            made |= {*OUTPUT_OPTION.findall(command)}
    return folder


def find_former_entries(recorded) -> list[tuple[str, str]]:
    """Find the place and key of entries of another revision than today's, or of no step."""
    former = []
    for place, entries in recorded.items():
        for key, entry in entries.items():
            if key not in ENTRIES or entry["revision"] != find_revision(ENTRIES[key]):
                former.append((place, key))
    return former


def record_results(recorded, finished, unsolved) -> None:
    """Record the results that are missing or of a former revision, and those that follow from them.

    Numbers that differ within the tolerance stay as they are.
    """
    former = find_former_entries(recorded)
    changed_files = set()
    for key, command in ENTRIES.items():
        place = PROCESSOR if key in SOLVED else "everywhere"
        folder = finished if key in SOLVED else unsolved
        entries = recorded.setdefault(place, {})
        follows = not changed_files.isdisjoint(list_inputs(command))
        if key in entries and (place, key) not in former and not follows:
            continue
        theirs = entries[key]["results"] if key in entries else {}
        results = {}
        for name, ours in summarize_results(folder, command).items():
            is_same = name in theirs and is_as_recorded(ours, theirs[name])
            results[name] = theirs[name] if is_same else ours
        entries[key] = {"revision": find_revision(command), "results": results}
        if results != theirs:
            changed_files.update(OUTPUT_OPTION.findall(command))
    # results of other processors can be recorded only there
    for place, key in find_former_entries(recorded):
        del recorded[place][key]


@pytest.fixture(scope="module")
def recorded(finished, unsolved):
    recorded = json.loads(RECORDED.read_text())
    if os.environ.get("OVAFLOW_RECORD"):
        record_results(recorded, finished, unsolved)
        text = json.dumps(recorded, indent=1)
        RECORDED.write_text(
            re.sub(r"\[\n\s+([^\[\]]*?)\n\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
            + "\n"
        )
    return recorded


def require_as_recorded(folder, key, theirs) -> None:
    ours = summarize_results(folder, ENTRIES[key])
    assert ours.keys() == theirs["results"].keys()
    other = {
        name: (ours[name], old)
        for name, old in theirs["results"].items()
        if not is_as_recorded(ours[name], old)
    }
    assert not other, (
        f"raise the revision of {find_step(ENTRIES[key])}, or of the step before it that makes other "
        f"results, then {HOW_TO_RECORD}"
    )


@pytest.mark.parametrize("key", EVERYWHERE)
def test_results_are_those_of_the_revision(unsolved, recorded, key) -> None:
    require_as_recorded(unsolved, key, recorded["everywhere"][key])


@pytest.mark.parametrize("key", SOLVED)
def test_results_of_the_solver_are_those_of_the_revision(finished, recorded, key) -> None:
    if key not in recorded.get(PROCESSOR, {}):
        pytest.skip(f"no results of {key} are recorded on a {PROCESSOR}")
    require_as_recorded(finished, key, recorded[PROCESSOR][key])


def test_results_are_recorded_for_the_revisions_of_today(recorded) -> None:
    assert not find_former_entries(recorded), HOW_TO_RECORD


def test_steps_with_raised_revisions_are_recorded() -> None:
    raised = {name for name, step in all_steps().items() if step.revision > 1}
    missing = raised - {find_step(command) for command in ENTRIES.values()}
    # those train many models by the solver, whose results differ between processors
    assert missing <= {"choose-c", "choose-features"}


def test_a_change_of_one_hundredth_is_found(finished) -> None:
    for name in ("model", "predictions", "metrics"):
        values = read_values(finished[name])
        for key, theirs in values.items():
            array = np.asarray(theirs)
            if array.dtype.kind == "f" and np.abs(array[np.isfinite(array)]).sum():
                assert not is_as_recorded(summarize(array * 1.01), summarize(theirs)), (name, key)
