"""Journals: finished parts of a job, beside its output, so that a job that was killed continues.

One line names the format and digests all that the parts depend on; then a
record a part follows, with its length and checksum. Records are handed to the
kernel when their parts are finished, those of a tenth of a second's work at a
time, so SIGKILL takes no more than that; every few seconds they are forced to
disk, for the power to fail. What a kill tore is cut off when the job continues.
A lock, which the kernel releases however its holder ends, keeps two processes
from the same parts.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import struct
import sys
import threading
import time
from pathlib import Path

import numpy as np
from xxhash import xxh3_64_intdigest

from ovaflow.console.errors import InputError
from ovaflow.machine.stopping import at_stop
from ovaflow.storage.writing import explained

SYNC_SECONDS = 5.0
"""Between two of a journal's writes to disk."""

HELD_SECONDS = 0.1
"""Work whose records may wait for each other: a write each would cost a label that is solved in 1 ms 2 %."""

_FORMAT = b"ovaflow journal 1 "
_FRAME = struct.Struct("<QQ")
_PART = struct.Struct("<qdBB")
_ARRAY = struct.Struct("<2sQ")
_DTYPES = {code: np.dtype(code.decode()) for code in (b"f4", b"f8", b"i4", b"i8")}
_CODES = {dtype.num: code for code, dtype in _DTYPES.items()}


def digest_of(*things):
    """Hash of what a job depends on.

    Parameters
    ----------
    *things : ndarray, or JSON-able

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    digest = hashlib.blake2b(digest_size=16)
    for thing in things:
        if isinstance(thing, np.ndarray):
            digest.update(f"{thing.dtype.str}{thing.shape}\n".encode())
            digest.update(np.ascontiguousarray(thing))
        else:
            digest.update(json.dumps(thing, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def journal_of(output):
    """Where the journal of a file stands.

    Parameters
    ----------
    output : path-like

    Returns
    -------
    pathlib.Path
    """
    return Path(output).with_name(f".{Path(output).name}.finished")


class Journal:
    """Finished parts of a job; made by :func:`open_journal`, written by one thread.

    Attributes
    ----------
    kept : int
        Parts that are written.
    core_seconds : float
        What all attempts took, as the last part said.
    """

    def __init__(self, path, handle, digest, total, unit):
        self._path, self._handle, self._total, self._unit = path, handle, total, unit
        self._head = _FORMAT + digest.encode() + b"\n"
        self._size, self._synced = 0, time.monotonic()
        self._held, self._held_seconds, self._lock = [], 0.0, threading.Lock()
        self.kept, self.core_seconds = 0, 0.0

    def finished(self):
        """Parts that earlier attempts finished; what follows the last whole one is cut off.

        Returns
        -------
        list of tuple
            Number of the part, its note, and its arrays.
        """
        parts = []
        with explained(self._path), open(self._handle, "rb", closefd=False) as file:
            file.seek(0)
            self._size = len(self._head) if file.read(len(self._head)) == self._head else 0
            if self._size:
                for size, (number, core_seconds, *content) in _records(file):
                    parts.append((number, *content))
                    self._size, self.core_seconds = self._size + size, core_seconds
            os.ftruncate(self._handle, self._size)
            if not self._size:
                self._append(self._head)
        self.kept = len(parts)
        return parts

    def add(self, number, seconds, core_seconds, note, arrays):
        """Keep a finished part.

        Parameters
        ----------
        number : int
        seconds : float
            What it took.
        core_seconds : float
            What all attempts took so far.
        note : bytes
            At most 255.
        arrays : sequence of ndarray, one-dimensional
            Of float32, float64, int32 or int64.

        Raises
        ------
        InputError
            If there is no space; it says what is kept.
        """
        record = _record(number, core_seconds, note, arrays)
        with self._lock:
            self._held.append(record)
            self._held_seconds += seconds
        if self._held_seconds > HELD_SECONDS:
            self.write(sync=time.monotonic() - self._synced > SYNC_SECONDS)

    def write(self, sync=False):
        """Hand all that is kept to the kernel.

        Parameters
        ----------
        sync : bool
            And to the disk.

        Raises
        ------
        InputError
            If there is no space; it says what is kept.
        """
        try:
            with self._lock:
                self._write_held()
            if sync:
                os.fdatasync(self._handle)
                self._synced = time.monotonic()
        except OSError as error:
            with explained(self._path, self._needed(), f"{self._words()}, and the same command continues"):
                raise error

    def _write_held(self):
        try:
            self._append(b"".join(self._held))
            self.kept, self._held = self.kept + len(self._held), []
        except OSError:
            # as many as there is space for
            while self._held:
                self._append(self._held[0])
                self.kept, self._held = self.kept + 1, self._held[1:]
        self._held_seconds = 0.0

    def _append(self, data):
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError:
            os.ftruncate(self._handle, self._size)
            raise
        self._size += len(data)

    def _needed(self):
        """Bytes of the parts that are missing, and of the output, which holds all."""
        return self._size / max(self.kept, 1) * (2 * self._total - self.kept)

    def _words(self):
        return f"{self.kept:,} {self._unit} are kept"

    def stop(self):
        """Bring all to safety at once.

        Returns
        -------
        str
            What is kept.
        """
        self.write(sync=True)
        return self._words()


class CoreTime:
    """Threads times wall seconds of a job, and of earlier attempts at it.

    Parameters
    ----------
    threads : int

    Attributes
    ----------
    before : float
        Of earlier attempts.
    """

    def __init__(self, threads):
        self._threads, self._began, self.before = threads, time.perf_counter(), 0.0

    @property
    def core_seconds(self):
        """Of all attempts, so far."""
        return self.before + self._threads * (time.perf_counter() - self._began)


@contextlib.contextmanager
def open_journal(output, digest, total, unit, title):
    """Hold the journal of a job while it runs; it stays when the job ends, see :func:`remove_journals`.

    Parameters
    ----------
    output : path-like
        What the job writes when all its parts are finished.
    digest : str
        Of all that the parts depend on: a journal with another one is
        overwritten.
    total : int
        Parts of the job.
    unit : str
        What they are, such as ``"labels"``.
    title : str
        Of the job.

    Yields
    ------
    Journal
    """
    path = journal_of(output)
    with explained(output):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _open_alone(path, title)
    try:
        journal = Journal(path, handle, digest, total, unit)
        with at_stop(journal.stop):
            try:
                yield journal
            except BaseException:
                with contextlib.suppress(InputError):
                    journal.write()
                raise
            journal.write()
    finally:
        os.close(handle)


def remove_journals(outputs):
    """Remove the journals of files that are not needed to make anything any more, but for those of living jobs.

    Parameters
    ----------
    outputs : sequence of path-like
        Files beside them once were parts of the same, with another number of parts: their journals go, too.
    """
    for folder in {Path(output).parent for output in outputs}:
        for path in folder.glob(journal_of(folder / "*").name):
            with contextlib.suppress(OSError):
                handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                with contextlib.closing(os.fdopen(handle)):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if _is_at(handle, path):
                        path.unlink()


def _open_alone(path, title):
    """Descriptor of the journal, locked unless the file system has no locks: then the records' checksums must do."""
    mode = fcntl.LOCK_EX | fcntl.LOCK_NB
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, mode)
        except BlockingIOError:
            os.close(handle)
            print(
                f"{title}: another process works on it and holds {path}; waiting for its end",
                file=sys.stderr,
                flush=True,
            )
            mode = fcntl.LOCK_EX
            continue
        except OSError:
            return handle
        if _is_at(handle, path):
            return handle
        # who held it has made the output and what follows, and removed it
        os.close(handle)


def _is_at(handle, path):
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _record(number, core_seconds, note, arrays):
    heads = [_ARRAY.pack(_CODES[array.dtype.num], array.size) for array in arrays]
    payload = b"".join([_PART.pack(number, core_seconds, len(note), len(arrays)), note, *heads, *arrays])
    return _FRAME.pack(len(payload), xxh3_64_intdigest(payload, len(payload))) + payload


def _records(file):
    """Size and content of each record from here on, to the first that is not whole."""
    end = os.fstat(file.fileno()).st_size
    while len(frame := file.read(_FRAME.size)) == _FRAME.size:
        length, checksum = _FRAME.unpack(frame)
        if length > end - file.tell():
            return
        payload = file.read(length)
        if xxh3_64_intdigest(payload, length) != checksum:
            return
        yield _FRAME.size + length, _content(payload)


def _content(payload):
    number, core_seconds, note_size, count = _PART.unpack_from(payload)
    heads = _PART.size + note_size
    place, arrays = heads + count * _ARRAY.size, []
    for code, size in _ARRAY.iter_unpack(payload[heads:place]):
        arrays.append(np.frombuffer(payload, _DTYPES[code], size, place).copy())
        place += arrays[-1].nbytes
    return number, core_seconds, payload[_PART.size : heads], arrays
