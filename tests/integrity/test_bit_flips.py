"""Every artifact of a finished run is damaged: that is found, or changes nothing."""

import os
import random
import shutil

import pytest
from finished_run import (
    OUTPUT_OPTION,
    STEPS,
    list_inputs,
    make_output_paths,
    read_artifact,
    read_report_page,
    run_command,
)

from ovaflow.storage.arrays import PAGE_BYTES

SEED, FLIPS = (
    int(os.environ.get(f"OVAFLOW_BIT_FLIPS{end}", given))
    for end, given in (("_SEED", "0"), ("", "1"))
)
"""Of the damage, and bits flipped of each artifact."""

MORE = [
    "predict {model} --text=word11 --output={answers}",
    "explain {model} --text=word11",
    "predict {forest} --text=word11 --output={answers}",
    "predict {embedded} --text=word11 --output={answers}",
    "explain {embedded} --text=word11",
    "predict {model} --text=word11 --fit --reranker={reranker} --output={answers}",
    "convert {model} --to=npz --output={npz}",
    "prune {model} --threshold=0.3 --output={pruned}",
]

READERS = [step for step in [*STEPS, *MORE] if not step.startswith("index")]

REPORTED = ["metrics", "analysis", "reliability", "training", "predictions", "model"]
REPORTED += [
    f"{run}_{name}"
    for run in ("forest", "embedded")
    for name in ("training", "predictions", "metrics")
]
REPORTED += ["forest", "embedded", "described", "dataset"]
"""What the report reads."""


def readers_of(name):
    """Commands that read an artifact, and what reads it in the report."""
    found = [step for step in READERS if name in list_inputs(step)]
    if name == "index":
        found.append(MORE[0])
    return found + ["report"] * (name in REPORTED)


class Bench:
    """A copy of a finished run whose artifacts are damaged one at a time."""

    def __init__(self, finished, folder) -> None:
        self.folder = finished.copy(folder / "tiny")
        self.out = folder / "out"
        self._sound = {}

    def outcome(self, step):
        """How a command ends, and what it writes."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        if step == "report":
            runs = [self.folder.path / name for name in ("msi", "forest", "embedded")]
            done = run_command(
                "report", *runs, "--sweep=C=msi", f"--output={self.out / 'report.html'}"
            )
        else:
            done = run_command(*self.folder.words(step, **make_output_paths(step, self.out)))
        # what is finished of a shard stays next to it until the shards are merged
        files = [
            path
            for path in self.out.rglob("*")
            if path.is_file() and path.parent.suffix != ".parts"
        ]
        return done, {path.name: _said(path) for path in files}

    def sound(self, step):
        """What it writes when its files are not damaged."""
        if step not in self._sound:
            done, self._sound[step] = self.outcome(step)
            assert done.status == 0, done.written
        return self._sound[step]


def _said(path):
    return (
        read_report_page(path)
        if path.suffix == ".html"
        else path.read_bytes()
        if path.name == "npz.h5"
        else read_artifact(path)
    )


@pytest.fixture(scope="module")
def bench(finished, tmp_path_factory):
    return Bench(finished, tmp_path_factory.mktemp("bench"))


def artifacts():
    """Names of all artifacts that something reads."""
    written = {name for step in STEPS for name in OUTPUT_OPTION.findall(step)} | {
        "dataset",
        "index",
    }
    return sorted(name for name in written if readers_of(name))


def test_every_artifact_of_the_run_is_read_by_something(bench) -> None:
    files = {
        path for path in bench.folder.path.rglob("*") if path.suffix in (".h5", ".json", ".tsv")
    }
    known = {bench.folder[name] for name in artifacts()}
    assert files - known == {bench.folder["held_training"]}


def damaged(whole, damage, place, bit):
    found = bytearray(whole)
    page = slice(place // PAGE_BYTES * PAGE_BYTES, place // PAGE_BYTES * PAGE_BYTES + PAGE_BYTES)
    if damage == "flip":
        found[place] ^= 1 << bit
    elif damage == "cut":
        del found[place:]
    else:
        found[page] = bytes(len(found[page]))
    return found


@pytest.mark.parametrize("name", artifacts())
def test_damage_is_found_or_changes_nothing(bench, name) -> None:
    chance = random.Random(f"{SEED} {name}")
    path = bench.folder[name]
    whole = path.read_bytes()
    times = path.stat()

    def put(content) -> None:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    for damage in ["cut", "zeros"] + FLIPS * ["flip"]:
        place = chance.randrange(len(whole))
        bit = chance.randrange(8)
        step = chance.choice(readers_of(name))
        sound = bench.sound(step)
        put(found := damaged(whole, damage, place, bit))
        done, written = bench.outcome(step)
        put(whole)
        where = f"seed {SEED}, {damage} at byte {place}, bit {bit}, {step}: {done.status}, {done.written}"
        if done.status == 0:
            assert written == sound, f"{where}: another outcome, and nothing was said"
            # of a text the last line break alone may be missing
            assert damage != "cut" or found == whole.rstrip(b"\n"), where
        else:
            assert done.refused, where
            assert path.name in done.written, where
            assert not written, where
