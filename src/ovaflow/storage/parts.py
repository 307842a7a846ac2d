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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError, StrPath, UnreadableError
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.hdf5 import create_artifact, open_artifact, read_inputs
from ovaflow.storage.writing import write_atomically

PART_KIND = "part"
"""Kind of a file of parts."""

PART_SECONDS = 5.0
"""Time between two parts, in seconds."""

Pieces = dict[int, dict[str, np.ndarray]]
"""Named arrays of pieces, by the number of the piece."""


def compute_digest(*values: Any) -> str:
    """Hash what a job depends on: arrays, and values that JSON can hold."""
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        if isinstance(value, np.ndarray):
            digest.update(f"{value.dtype.str}{value.shape}\n".encode())
            digest.update(np.ascontiguousarray(value).data)
        else:
            digest.update(json.dumps(value, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


class Parts:
    """Finished pieces of a job, by number: each has the same named one-dimensional arrays.

    Parameters
    ----------
    output : path-like, optional
        Output of the job. Without one nothing is kept.
    digest : str
        Hash of what the job depends on. Pieces with another digest are removed.
    """

    def __init__(self, output: StrPath | None = None, digest: str = "") -> None:
        self._folder = None if output is None else parts_folder(output)
        self._digest = digest
        self._pending: list[tuple[int, dict[str, np.ndarray]]] = []
        self._last_number = 0
        self._earlier_seconds = 0.0
        self._start = time.process_time()
        self._last_write = time.perf_counter()

    @property
    def core_seconds(self) -> float:
        """Processor time of this attempt and the earlier ones, in seconds."""
        return self._earlier_seconds + time.process_time() - self._start

    def read_earlier(self) -> Pieces:
        """Read the pieces that earlier attempts finished."""
        if self._folder is None:
            return {}
        pieces: Pieces = {}
        for path in sorted(self._folder.glob("*.h5")):
            self._last_number = max(self._last_number, int(path.stem))
            pieces_of_file = _read_unless_damaged(self._read, path)
            if pieces_of_file is None:
                path.unlink()
            else:
                pieces |= pieces_of_file
        return pieces

    def _read(self, path: Path) -> Pieces | None:
        with open_artifact(path, PART_KIND) as file:
            if read_inputs(file)["job"] != self._digest:
                return None
            self._earlier_seconds = max(self._earlier_seconds, float(file.attrs["core_seconds"]))
            pieces: Pieces = {}
            for number in map_array(file["numbers"]).tolist():
                pieces[number] = {}
            for name, group in file["pieces"].items():
                values = np.array(map_array(group["values"]))
                ends = map_array(group["ends"])
                for piece, array in zip(pieces.values(), np.split(values, ends[:-1]), strict=True):
                    piece[name] = array
        return pieces

    def keep(self, number: int, **arrays: np.ndarray) -> None:
        """Keep a finished piece; pending pieces are written every few seconds."""
        if self._folder is not None:
            self._pending.append((number, arrays))
            if time.perf_counter() - self._last_write > PART_SECONDS:
                self.write()

    def write(self) -> None:
        """Write the pending pieces to a file of their own, if there are any."""
        if self._folder is None or not self._pending:
            return
        numbers = [number for number, _ in self._pending]
        pieces = [arrays for _, arrays in self._pending]
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


def _read_unless_damaged(read: Callable[[Path], Any], path: Path) -> Any:
    """Read a file; None for a damaged one, which is reported and has to be made again."""
    try:
        return read(path)
    except UnreadableError:
        raise
    except InputError as error:
        print(f"{error}; made again now", file=sys.stderr)
        return None


@contextlib.contextmanager
def open_parts(output: StrPath, digest: str) -> Iterator[Parts]:
    """Open the :class:`Parts` of a job while it runs.

    When the block ends without an error, the output replaces its parts. Pending pieces survive a
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


def restore_output(output: StrPath, digest: str, read: Callable[[Path], Any]) -> bool:
    """Restore the output of a job that finished before, and remove outputs of other jobs.

    Parameters
    ----------
    output : path-like
        Output of the job.
    digest : str
        Hash of what the job depends on.
    read : callable
        Reads the output, and raises InputError for a damaged one.

    Returns
    -------
    is_restored : bool
        Whether the output exists again.
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


def parts_folder(output: StrPath) -> Path:
    """Return the folder of the parts of a file: ``3.parts`` next to ``3.h5``."""
    return Path(output).with_suffix(".parts")


def remove_parts(outputs: Iterable[StrPath]) -> None:
    """Remove the parts of merged outputs, and those of other shards next to them.

    Another division into shards may have left parts there.
    """
    for output in outputs:
        folders = [parts_folder(output)]
        for path in Path(output).parent.glob("*.parts"):
            if re.fullmatch(r"\d+", path.stem):
                folders.append(path)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
