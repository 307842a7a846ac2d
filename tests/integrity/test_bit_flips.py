"""Damage to any artifact of a finished run is found, or changes nothing."""

import os
import random
import shutil

import pytest
from finished_run import (
    OUTPUT_OPTION,
    STEPS,
    CommandResult,
    list_inputs,
    make_output_paths,
    read_artifact,
    read_report_page,
    run_command,
)

from ovaflow.storage.arrays import PAGE_BYTES

SEED = int(os.environ.get("OVAFLOW_BIT_FLIPS_SEED", "0"))
"""Seed of the damage."""
FLIPS = int(os.environ.get("OVAFLOW_BIT_FLIPS", "1"))
"""Bits flipped of each artifact."""

MORE_STEPS = [
    "predict {model} --text=word11 --output={answers}",
    "explain {model} --text=word11",
    "predict {forest} --text=word11 --output={answers}",
    "predict {embedded} --text=word11 --output={answers}",
    "explain {embedded} --text=word11",
    "predict {model} --text=word11 --fit --reranker={reranker} --output={answers}",
    "convert {model} --to=npz --output={npz}",
    "prune {model} --threshold=0.3 --output={pruned}",
]

READERS = [step for step in [*STEPS, *MORE_STEPS] if not step.startswith("index")]

REPORTED = ["metrics", "analysis", "reliability", "training", "predictions", "model"]
for method in ("forest", "embedded"):
    REPORTED += [f"{method}_training", f"{method}_predictions", f"{method}_metrics"]
REPORTED += ["forest", "embedded", "described", "dataset"]
"""Artifacts that the report reads."""


def list_readers(name) -> list[str]:
    """List the commands that read an artifact, and ``report`` if the report reads it."""
    readers = [step for step in READERS if name in list_inputs(step)]
    if name == "index":
        readers.append(MORE_STEPS[0])
    if name in REPORTED:
        readers.append("report")
    return readers


class Bench:
    """A copy of a finished run whose artifacts are damaged one at a time."""

    def __init__(self, finished, folder) -> None:
        self.folder = finished.copy(folder / "tiny")
        self.out = folder / "out"
        self._sound = {}

    def run(self, step) -> tuple[CommandResult, dict]:
        """Run a command; return its result, and the content of each file that it writes."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        if step == "report":
            run = self.folder.path
            output = f"--output={self.out / 'report.html'}"
            done = run_command(
                "report", run / "msi", run / "forest", run / "embedded", "--sweep=C=msi", output
            )
        else:
            done = run_command(self.folder.words(step, **make_output_paths(step, self.out)))
        contents = {}
        for path in self.out.rglob("*"):
            # finished parts of a shard stay next to it until the shards are merged
            if path.is_file() and path.parent.suffix != ".parts":
                contents[path.name] = _read_content(path)
        return done, contents

    def run_undamaged(self, step) -> dict:
        """Return the contents that a command writes when its files are not damaged."""
        if step not in self._sound:
            done, contents = self.run(step)
            assert done.status == 0, done.written
            self._sound[step] = contents
        return self._sound[step]


def _read_content(path) -> str | bytes | dict:
    if path.suffix == ".html":
        return read_report_page(path)
    if path.name == "npz.h5":
        return path.read_bytes()
    return read_artifact(path)


@pytest.fixture(scope="module")
def bench(finished, tmp_path_factory) -> Bench:
    """A copy of the finished run."""
    return Bench(finished, tmp_path_factory.mktemp("bench"))


def list_artifacts() -> list[str]:
    """List the names of all artifacts that a command reads."""
    written = {"dataset", "index"}
    for step in STEPS:
        written |= set(OUTPUT_OPTION.findall(step))
    return sorted(name for name in written if list_readers(name))


def test_every_artifact_of_the_run_is_read_by_a_command(bench) -> None:
    files = set()
    for ending in ("h5", "json", "tsv"):
        files |= set(bench.folder.path.rglob(f"*.{ending}"))
    known = {bench.folder[name] for name in list_artifacts()}
    assert files - known == {bench.folder["held_training"]}


def damage_content(content, damage, place, bit) -> bytearray:
    """Flip a bit, cut the content off, or set a page to zeros."""
    damaged = bytearray(content)
    if damage == "flip":
        damaged[place] ^= 1 << bit
    elif damage == "cut":
        del damaged[place:]
    else:
        start = place // PAGE_BYTES * PAGE_BYTES
        page = slice(start, start + PAGE_BYTES)
        damaged[page] = bytes(len(damaged[page]))
    return damaged


@pytest.mark.parametrize("name", list_artifacts())
def test_damage_is_found_or_changes_nothing(bench, name) -> None:
    chance = random.Random(f"{SEED} {name}")
    path = bench.folder[name]
    whole = path.read_bytes()
    times = path.stat()

    def put(content) -> None:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    for damage in ["cut", "zeros", *["flip"] * FLIPS]:
        place = chance.randrange(len(whole))
        bit = chance.randrange(8)
        step = chance.choice(list_readers(name))
        sound = bench.run_undamaged(step)
        damaged = damage_content(whole, damage, place, bit)
        put(damaged)
        done, written = bench.run(step)
        put(whole)
        where = f"seed {SEED}, {damage} at byte {place}, bit {bit}, {step}"
        where += f": {done.status}, {done.written}"
        if done.status == 0:
            assert written == sound, f"{where}: another outcome without an error"
            # only the last line break of a text may be missing
            assert damage != "cut" or damaged == whole.rstrip(b"\n"), where
        else:
            assert done.refused, where
            assert path.name in done.written, where
            assert not written, where
