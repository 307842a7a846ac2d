"""Parts of a job's output, written while it runs, so that a job that was killed continues.

``shards/3.parts/0007.h5`` holds labels or trees that were finished within some seconds. When one
shard of a group fails, Snakemake removes the finished ones, too. So a finished output replaces its
parts with a second name for itself, a hard link, until the outputs are merged.
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

from ovaflow.console.errors import InputError, UnreadableError
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.hdf5 import create_artifact, open_artifact, read_inputs
from ovaflow.storage.writing import write_atomically

PART_KIND = "part"

PART_SECONDS = 5.0
"""Time between two parts."""


def compute_digest(*things):
    """Hash of what a job depends on: arrays, and values that JSON can hold."""
    digest = hashlib.blake2b(digest_size=16)
    for thing in things:
        if isinstance(thing, np.ndarray):
            digest.update(f"{thing.dtype.str}{thing.shape}\n".encode())
            digest.update(np.ascontiguousarray(thing))
        else:
            digest.update(json.dumps(thing, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


class Parts:
    """Finished pieces of a job, by number: each has the same named one-dimensional arrays.

    Without an output nothing is kept; pieces with another digest are removed.
    """

    def __init__(self, output=None, digest="") -> None:
        self._folder = None if output is None else parts_folder(output)
        self._digest = digest
        self._pending = []
        self._last_number = 0
        self._earlier_seconds = 0.0
        self._start = time.process_time()
        self._last_write = time.perf_counter()

    @property
    def core_seconds(self):
        return self._earlier_seconds + time.process_time() - self._start

    def earlier(self):
        """Pieces that earlier attempts finished: a dict of dicts of arrays."""
        if self._folder is None:
            return {}
        pieces = {}
        for path in sorted(self._folder.glob("*.h5")):
            self._last_number = max(self._last_number, int(path.stem))
            pieces_of_file = _read_unless_damaged(self._read, path)
            if pieces_of_file is None:
                path.unlink()
            else:
                pieces |= pieces_of_file
        return pieces

    def _read(self, path):
        with open_artifact(path, PART_KIND) as file:
            if read_inputs(file)["job"] != self._digest:
                return None
            self._earlier_seconds = max(self._earlier_seconds, float(file.attrs["core_seconds"]))
            pieces = {number: {} for number in map_array(file["numbers"]).tolist()}
            for name, group in file["pieces"].items():
                values = np.array(map_array(group["values"]))
                ends = map_array(group["ends"])
                for piece, array in zip(pieces.values(), np.split(values, ends[:-1]), strict=True):
                    piece[name] = array
        return pieces

    def keep(self, number, **arrays) -> None:
        """Keep a finished piece; pending pieces are written every few seconds."""
        if self._folder is not None:
            self._pending.append((number, arrays))
            if time.perf_counter() - self._last_write > PART_SECONDS:
                self.write()

    def write(self) -> None:
        if not self._pending:
            return
        numbers, pieces = zip(*self._pending, strict=True)
        self._last_number += 1
        path = self._folder / f"{self._last_number:04d}.h5"
        with create_artifact(path, PART_KIND, inputs={"job": self._digest}) as file:
            create_array(file, "numbers", np.array(numbers))
            for name in pieces[0]:
                group = file.create_group(f"pieces/{name}")
                create_array(group, "values", np.concatenate([piece[name] for piece in pieces]))
                create_array(group, "ends", np.cumsum([len(piece[name]) for piece in pieces]))
            file.attrs["core_seconds"] = self.core_seconds
        self._pending = []
        self._last_write = time.perf_counter()


def _read_unless_damaged(read, path):
    try:
        return read(path)
    except UnreadableError:
        raise
    except InputError as error:
        print(f"{error}; made again now", file=sys.stderr)
        return None


@contextlib.contextmanager
def open_parts(output, digest):
    """The :class:`Parts` of a job while it runs; its output replaces them; pending pieces survive a
    failure.
    """
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


def restore_output(output, digest, read):
    """Whether the job finished before, so that its output exists again; outputs of other jobs are
    removed.
    """
    for finished in parts_folder(output).glob("*.finished"):
        if finished.stem == digest and _read_unless_damaged(read, finished) is not None:
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
    """Folder of the parts of a file: ``3.parts`` next to ``3.h5``."""
    return Path(output).with_suffix(".parts")


def remove_parts(outputs) -> None:
    """Remove the parts of merged outputs, and those that another division into shards left next to
    them.
    """
    for output in outputs:
        neighbours = [
            path for path in Path(output).parent.glob("*.parts") if re.fullmatch(r"\d+", path.stem)
        ]
        for folder in [parts_folder(output), *neighbours]:
            shutil.rmtree(folder, ignore_errors=True)
