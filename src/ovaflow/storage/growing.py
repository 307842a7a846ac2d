"""A vector that grows on disk, so that making it takes no memory."""

import tempfile

import numpy as np


class GrowingVector:
    """Values are appended to a temporary file without a name, and mapped."""

    def __init__(self, dtype, folder=None):
        self._dtype, self._length = np.dtype(dtype), 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, closed with the last array that maps it

    def __len__(self):
        return self._length

    def extend(self, values):
        """Append an array, in this vector's dtype."""
        self._file.write(np.ascontiguousarray(values, self._dtype))
        self._length += len(values)

    def mapped(self):
        """All values; they last as long as the array."""
        self._file.flush()
        return np.memmap(self._file, self._dtype, "r") if self._length else np.empty(0, self._dtype)
