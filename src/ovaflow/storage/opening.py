"""Files that users name, opened for reading."""

import io
import os
import stat
from typing import Any

from ovaflow.console.errors import InputError, StrPath
from ovaflow.storage.errors import read_error

READ_BUFFER_BYTES = 1 << 17
"""Bytes that are read from a file at a time."""


class _Input(io.FileIO):
    """A file whose read errors contain its name, unlike those of the system."""

    def readinto(self, buffer: Any) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise read_error(self.name, error) from None

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise read_error(self.name, error) from None


def open_regular(path: StrPath, *, pipes: bool = False) -> io.BufferedReader:
    """Open a regular file for reading.

    Devices are refused, since they never end. Pipes can be read only once: ``pipes`` allows them
    for readers that read only once. A folder fails with the system's own error.
    """
    mode = os.stat(path).st_mode
    is_allowed = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    if pipes:
        is_allowed = is_allowed or stat.S_ISFIFO(mode)
    if not is_allowed:
        raise InputError("is not a regular file", path=path, remedy="write its content to a file")
    return io.BufferedReader(_Input(os.fspath(path)), READ_BUFFER_BYTES)
