"""Parts of a job's output, written while it runs, so that a job that was killed continues.

``shards/3.parts/0007.h5`` holds labels or trees that were finished within some seconds, and is an artifact like the
output. When one shard of a group fails, Snakemake removes the finished ones, too. So a finished output replaces its
parts by a second name for itself, a hard link, until the outputs are merged. Two processes at the same output do each
other no harm: what one of them finishes has the bytes that the other would give it.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact
from ovaflow.storage.writing import write_atomically

KIND = "part"

SECONDS = 5.0
"""Between two parts."""


def digest_of(*things):
    """Hash of what a job depends on: arrays, and whatever is JSON-able."""
    digest = hashlib.blake2b(digest_size=16)
    for thing in things:
        if isinstance(thing, np.ndarray):
            digest.update(f"{thing.dtype.str}{thing.shape}\n".encode())
            digest.update(np.ascontiguousarray(thing))
        else:
            digest.update(json.dumps(thing, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


class Parts:
    """What a job has finished: pieces of the same named one-dimensional arrays each, by number.

    Without an output nothing is kept; pieces with another digest are removed.
    """

    def __init__(self, output=None, digest=""):
        self._folder = None if output is None else parts_folder(output)
        self._digest, self._held, self._written = digest, [], 0
        self._before, self._began, self._last = 0.0, time.process_time(), time.perf_counter()

    @property
    def core_seconds(self):
        """Processor time of the process since then, of this and of earlier attempts."""
        return self._before + time.process_time() - self._began

    def earlier(self):
        """Pieces that earlier attempts finished: a dict of dicts of arrays."""
        pieces = {}
        for path in [] if self._folder is None else sorted(self._folder.glob("*.h5")):
            self._written = max(self._written, int(path.stem))
            found = _unless_damaged(self._read, path)
            if found is None:
                path.unlink()
            else:
                pieces |= found
        return pieces

    def _read(self, path):
        with open_artifact(path, KIND) as file:
            if inputs_of(file)["job"] != self._digest:
                return None
            self._before = max(self._before, float(file.attrs["core_seconds"]))
            columns = {
                name: np.split(np.array(map_array(group["values"])), map_array(group["ends"])[:-1])
                for name, group in file["pieces"].items()
            }
            numbers = map_array(file["numbers"]).tolist()
        return {number: {name: of[row] for name, of in columns.items()} for row, number in enumerate(numbers)}

    def keep(self, number, **arrays):
        """Keep a finished piece; every few seconds those that are held are written."""
        if self._folder is not None:
            self._held.append((number, arrays))
            if time.perf_counter() - self._last > SECONDS:
                self.write()

    def write(self):
        """Write what is held."""
        if not self._held:
            return
        numbers, pieces = zip(*self._held, strict=True)
        self._written += 1
        with create_artifact(self._folder / f"{self._written:04d}.h5", KIND, inputs={"job": self._digest}) as file:
            create_array(file, "numbers", np.array(numbers))
            for name in pieces[0]:
                group = file.create_group(f"pieces/{name}")
                create_array(group, "values", np.concatenate([piece[name] for piece in pieces]))
                create_array(group, "ends", np.cumsum([len(piece[name]) for piece in pieces]))
            file.attrs["core_seconds"] = self.core_seconds
        self._held, self._last = [], time.perf_counter()


def _unless_damaged(read, path):
    try:
        return read(path)
    except InputError as error:
        print(f"{error}; made again now", file=sys.stderr)
        return None


@contextlib.contextmanager
def open_parts(output, digest):
    """The :class:`Parts` of a job while it runs; its output replaces them, what is held when it fails is written."""
    parts = Parts(output, digest)
    try:
        yield parts
    finally:
        parts.write()
    finished = parts_folder(output) / f"{digest}.finished"
    # on a file system without hard links the parts stay
    with contextlib.suppress(OSError):
        finished.unlink(missing_ok=True)
        os.link(output, finished)
        for path in finished.parent.glob("*.h5"):
            path.unlink()


def restore(output, digest, read):
    """Whether the job finished before, so that its output is there again; what other jobs finished is removed."""
    for finished in parts_folder(output).glob("*.finished"):
        if finished.stem == digest and _unless_damaged(read, finished) is not None:
            with write_atomically(output) as temporary:
                temporary.unlink()
                os.link(finished, temporary)
                # newer than the inputs, as Snakemake expects
                os.utime(temporary)
            print(f"{output}: finished earlier", file=sys.stderr)
            return True
        finished.unlink(missing_ok=True)
    return False


def parts_folder(output):
    """Where the parts of a file are: ``3.parts`` next to ``3.h5``."""
    return Path(output).with_suffix(".parts")


def remove_parts(outputs):
    """Remove the parts of outputs that are merged, and of those of another division into shards next to them."""
    for output in outputs:
        neighbours = [path for path in Path(output).parent.glob("*.parts") if re.fullmatch(r"\d+", path.stem)]
        for folder in [parts_folder(output), *neighbours]:
            shutil.rmtree(folder, ignore_errors=True)
