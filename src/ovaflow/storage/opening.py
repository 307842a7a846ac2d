"""Files that users name, opened for reading."""

import io
import os
import stat
from typing import Any

from ovaflow.console.errors import InputError, StrPath
from ovaflow.storage.errors import read_error

_BUFFER_BYTES = 1 << 17


class _Input(io.FileIO):
    """A file whose errors of reading name it, unlike those of the system."""

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


def open_regular(path: StrPath, pipes: bool = False) -> io.BufferedReader:
    """Open a file; devices never end, and pipes, which can be read only once, are for readers that
    do no more.
    """
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or (pipes and stat.S_ISFIFO(mode))):
        raise InputError("is not a regular file", path=path, remedy="write its content to a file")
    return io.BufferedReader(_Input(os.fspath(path)), _BUFFER_BYTES)
