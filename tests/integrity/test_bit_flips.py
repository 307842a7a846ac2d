"""Every artifact of a finished run is damaged: that is found, or changes nothing."""

import os
import random
import shutil

import pytest
from finished_run import NAMES, STEPS, WRITTEN, Folder, content, inputs_of_step, page, run

SEED, FLIPS = (int(os.environ.get(f"OVAFLOW_BIT_FLIPS{end}", given)) for end, given in (("_SEED", "0"), ("", "1")))
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

REPORTED = ["metrics", "analysis", "prune", "reliability", "training", "predictions", "model"]
REPORTED += [f"{run}_{name}" for run in ("forest", "embedded") for name in ("training", "predictions", "metrics")]
REPORTED += ["forest", "embedded", "tree_curve", "described", "dataset"]
"""What the report reads."""


def readers_of(name):
    """Commands that read an artifact, and what reads it in the report."""
    found = [step for step in READERS if name in inputs_of_step(step)]
    if name == "index":
        found.append(MORE[0])
    return found + ["report"] * (name in REPORTED)


class Bench:
    """A copy of a finished run whose artifacts are damaged one at a time."""

    def __init__(self, finished, folder):
        self.folder = Folder(folder / "tiny")
        shutil.copytree(finished.path, self.folder.path)
        self.out, self._sound = folder / "out", {}

    def outcome(self, step):
        """How a command ends, and what it writes."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        if step == "report":
            runs = [self.folder.path / name for name in ("msi", "forest", "embedded")]
            done = run("report", *runs, "--sweep=C=msi", f"--output={self.out / 'report.html'}")
        else:
            outputs = {name: self.out / NAMES.get(name, f"{name}.h5") for name in WRITTEN.findall(step)}
            done = run(*self.folder.words(step, **outputs))
        written = {path.name: _said(path) for path in self._written()}
        return done, written

    def _written(self):
        # what is finished of a shard stays next to it until the shards are merged
        return [path for path in sorted(self.out.rglob("*")) if path.is_file() and path.parent.suffix != ".parts"]

    def sound(self, step):
        """The outcome on undamaged files."""
        if step not in self._sound:
            done, self._sound[step] = self.outcome(step)
            assert done.status == 0, done.written
        return self._sound[step]

    def judge(self, name, step):
        """Whether damage of an artifact was found or changed nothing."""
        self.sound(step)
        done, written = self.outcome(step)
        if done.status == 0:
            assert written == self.sound(step), f"{step}: another outcome, and nothing was said"
            return "harmless"
        assert done.refused, f"{step}: {done.status}, {done.written}"
        assert self.folder[name].name in done.written, done.written
        assert not written, f"{step} wrote {list(written)} in spite of it"
        return "found"


def _said(path):
    if path.suffix == ".html":
        return page(path)
    if path.suffix == ".jsonl" or path.name == "npz.h5":
        return path.read_bytes()
    return content(path)


@pytest.fixture(scope="module")
def bench(finished, tmp_path_factory):
    return Bench(finished, tmp_path_factory.mktemp("bench"))


def artifacts():
    """Names of all artifacts that something reads."""
    written = {name for step in STEPS for name in WRITTEN.findall(step)} | {"dataset", "index"}
    return sorted(name for name in written if readers_of(name))


def test_every_artifact_of_the_run_is_read_by_something(bench):
    files = {path for path in bench.folder.path.rglob("*") if path.suffix in (".h5", ".json", ".tsv")}
    known = {bench.folder[name] for name in artifacts()}
    assert files - known == {bench.folder["held_training"]}


def flipped(content, place, bit):
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def zeroed(content, place, page=4096):
    low = place // page * page
    return content[:low] + bytes(len(content[low : low + page])) + content[low + page :]


@pytest.mark.parametrize("name", artifacts())
def test_damage_is_found_or_changes_nothing(bench, name):
    chance, path = random.Random(f"{SEED} {name}"), bench.folder[name]
    whole, times = path.read_bytes(), path.stat()
    for damage in ["cut", "zeros"] + FLIPS * ["flip"]:
        place, bit, step = chance.randrange(len(whole)), chance.randrange(8), chance.choice(readers_of(name))
        bench.sound(step)
        damaged = {"cut": whole[:place], "zeros": zeroed(whole, place), "flip": flipped(whole, place, bit)}[damage]
        path.write_bytes(damaged)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        try:
            found = bench.judge(name, step)
            # of a text the last line break alone may be missing
            assert found == "found" or damage != "cut" or damaged == whole.rstrip(b"\n")
        except AssertionError as error:
            raise AssertionError(f"seed {SEED}, {damage} at byte {place}, bit {bit}: {error}") from None
        finally:
            path.write_bytes(whole)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
