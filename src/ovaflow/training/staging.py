"""A copy of the dataset on a local disk of the machine that trains, for slow or remote file
systems.

The first job on a machine makes the copy, concurrent jobs share it, and the last one removes it.
Copies that killed jobs left are removed by the next job.
"""

import contextlib
import os
import shutil
import sys

from ovaflow.dataset.dataset import DATASET_KIND
from ovaflow.machine.shared_files import SharedFile, private_folder
from ovaflow.storage.hdf5 import open_artifact, read_checksum

_SPARE = 1 << 28


@contextlib.contextmanager
def copy_to_scratch(path, scratch=None):
    """The path to read a dataset from: a copy in ``scratch``, or ``path`` without room."""
    with contextlib.ExitStack() as stack:
        place = path
        if scratch is not None:
            with open_artifact(path, DATASET_KIND) as file:
                name = read_checksum(file)
            try:
                target = private_folder(scratch) / f"{name}.h5"
                copy = SharedFile(target, lambda partial: _copy(path, partial))
                stack.callback(copy.release)
                place = copy.path
            except OSError as error:
                _log(f"no copy of {path} on {scratch}, it is read in place: {error.strerror}")
        yield place


def _copy(source, partial) -> None:
    size = os.stat(source).st_size
    free = shutil.disk_usage(partial.parent).free
    if free < size + _SPARE:
        raise OSError(0, f"{free / 1e6:,.0f} MB free, more than {size / 1e6:,.0f} MB needed")
    shutil.copyfile(source, partial)
    _log(f"{size / 1e6:,.0f} MB copied to {partial.parent}")


def _log(text) -> None:
    print(f"scratch: {text}", file=sys.stderr, flush=True)
