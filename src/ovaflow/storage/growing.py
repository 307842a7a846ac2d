"""A vector that grows, on disk, so that making it takes no memory, or in memory."""

import io
import tempfile

import numpy as np


class GrowingVector:
    """Values are appended to a temporary file without a name, and mapped; without a folder they are in memory."""

    def __init__(self, dtype, folder=None):
        self._dtype, self._length = np.dtype(dtype), 0
        self._file = io.BytesIO()
        if folder is not None:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, closed with the last array that maps it

    def __len__(self):
        return self._length

    def extend(self, values):
        """Append an array, in this vector's dtype."""
        self._file.write(np.ascontiguousarray(values, self._dtype))
        self._length += len(values)

    def mapped(self):
        """All values; they last as long as the array."""
        if self._length == 0:
            return np.empty(0, self._dtype)
        if isinstance(self._file, io.BytesIO):
            return np.frombuffer(self._file.getbuffer(), self._dtype)
        self._file.flush()
        return np.memmap(self._file, self._dtype, "r")
