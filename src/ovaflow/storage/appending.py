"""Lines that several processes add to one file: complete lines, and all of a call or none."""

import contextlib
import fcntl
import functools
import os
from collections.abc import Callable, Iterable, Iterator

from ovaflow.console.errors import InputError, StrPath


def require_appendable(path: StrPath) -> None:
    """Refuse a file to which nothing can be added; create one that does not exist."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError("is not a regular file", path=path, remedy="give the name of a file")
    try:
        os.close(_open(path))
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        remedy = "give a file where you may write"
        raise InputError(message, path=path, remedy=remedy) from None


@contextlib.contextmanager
def locked_for_appending(path: StrPath) -> Iterator[Callable[[Iterable[str]], None]]:
    """Keep other processes from adding lines to a file; give a function that adds lines.

    It waits until the lines are on the disk; at an OSError none is added.
    """
    # opened for each call, so that the file may be moved away in between
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield functools.partial(_append_lines, handle)
    finally:
        os.close(handle)


def _append_lines(handle: int, lines: Iterable[str]) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    size = os.fstat(handle).st_size
    # a crash may have cut off the last line
    if size and os.pread(handle, 1, size - 1) != b"\n":
        content = b"\n" + content
    try:
        _write(handle, content)
        os.fsync(handle)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, size)
        raise


def _open(path: StrPath) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)


def _write(handle: int, content: bytes) -> None:
    while content:
        content = content[os.write(handle, content) :]
