"""A copy of the dataset on a local disk of the machine that trains, for slow or remote file
systems.

The first job on a machine makes the copy, concurrent jobs share it, and the last one removes it.
Copies that killed jobs left are removed by the next job.
"""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from ovaflow.dataset.dataset import DATASET_KIND
from ovaflow.machine.shared_files import SharedFile, private_folder
from ovaflow.storage.hdf5 import open_artifact, read_checksum

_SPARE_BYTES = 1 << 28
"""Free space that a copy leaves on the disk, for other programs."""


@contextlib.contextmanager
def copy_to_scratch(path: str | Path, scratch: str | Path | None = None) -> Iterator[str | Path]:
    """Copy a dataset to the folder ``scratch``, and yield the path to read it from.

    This is ``path`` itself without a folder, or where the disk is full.
    """
    with contextlib.ExitStack() as stack:
        copied_path = path
        if scratch is not None:
            with open_artifact(path, DATASET_KIND) as file:
                name = read_checksum(file)
            try:
                target = private_folder(scratch) / f"{name}.h5"
                copy = SharedFile(target, lambda partial: _copy(path, partial))
                stack.callback(copy.release)
                copied_path = copy.path
            except OSError as error:
                _log(f"no copy of {path} on {scratch}, it is read in place: {error.strerror}")
        yield copied_path


def _copy(source: str | Path, partial: Path) -> None:
    size = os.stat(source).st_size
    free = shutil.disk_usage(partial.parent).free
    if free < size + _SPARE_BYTES:
        raise OSError(0, f"{free / 1e6:,.0f} MB free, more than {size / 1e6:,.0f} MB needed")
    shutil.copyfile(source, partial)
    _log(f"{size / 1e6:,.0f} MB copied to {partial.parent}")


def _log(text: str) -> None:
    print(f"scratch: {text}", file=sys.stderr, flush=True)
