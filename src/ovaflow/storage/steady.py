"""Files that the HDF5 library can always write to, since it crashes where a disk is full or a limit is met."""

import contextlib
import io

_METADATA = 1 << 16


class _Steady(io.FileIO):
    """A file whose first error is kept, not raised; what is written after it is only pretended to be."""

    error = None

    def __init__(self, path):
        super().__init__(path, "r+")
        self._lost = {}

    def write(self, data):
        """As of :class:`io.FileIO`, but for all of the data."""
        left = memoryview(data).cast("B")
        size, place = len(left), self.tell()
        with self._kept():
            while left and self.error is None:
                left = left[super().write(left) :]
        if left and size <= _METADATA:
            # the library may read its own bookkeeping again
            self._lost[place] = bytes(data)
        return size

    def readinto(self, buffer):
        """As of :class:`io.FileIO`."""
        lost = self._lost.get(self.tell())
        if lost is None:
            return super().readinto(buffer)
        found = lost[: len(buffer)]
        memoryview(buffer).cast("B")[: len(found)] = found
        return len(found)

    def truncate(self, size=None):
        """As of :class:`io.FileIO`."""
        with self._kept():
            if self.error is None:
                super().truncate(size)
        return size

    @contextlib.contextmanager
    def _kept(self):
        try:
            yield
        except OSError as error:
            self.error = error


@contextlib.contextmanager
def steadily(path):
    """Open a file for the HDF5 library to write.

    Parameters
    ----------
    path : path-like
        An empty file.

    Yields
    ------
    file-like
        It reports no error.

    Raises
    ------
    OSError
        When the block has ended, if something could not be written.
    """
    with _Steady(path) as file:
        yield file
        if file.error is not None:
            raise file.error
