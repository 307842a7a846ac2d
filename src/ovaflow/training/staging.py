"""A copy of the dataset on a disk of the machine that trains, for file systems that are slow or far away.

The first job on a machine makes the copy, jobs that run at the same time share it, and the last one removes it. What
killed jobs leave behind is removed by the next job.
"""

import contextlib
import os
import shutil
import sys

from ovaflow.data.dataset import KIND
from ovaflow.machine.shared_files import SharedFile, private_folder, remove_unused
from ovaflow.storage.artifact import checksum_of, open_artifact

_SPARE = 1 << 28


@contextlib.contextmanager
def staged(path, scratch=None):
    """The path to read a dataset from while the block runs: a copy in ``scratch``, made unless another job has done so.

    The same folder is given to all jobs. Without one, or without room for a copy, it is ``path`` itself, which costs
    only time and is reported.
    """
    if scratch is None:
        yield path
        return
    with open_artifact(path, KIND) as file:
        name = checksum_of(file)
    try:
        folder = private_folder(scratch)
        remove_unused(folder, ".h5")
        copy = SharedFile(folder / f"{name}.h5", lambda partial: _copy(path, partial))
    except OSError as error:
        _say(f"no copy of {path} on {scratch}, read where it is: {error.strerror}")
        copy = None
    if copy is None:
        yield path
        return
    try:
        yield copy.path
    finally:
        copy.release()


def _copy(source, partial):
    size, free = os.stat(source).st_size, shutil.disk_usage(partial.parent).free
    if free < size + _SPARE:
        raise OSError(0, f"{free / 1e6:,.0f} MB free, {size / 1e6:,.0f} MB needed and some to spare")
    shutil.copyfile(source, partial)
    _say(f"{size / 1e6:,.0f} MB copied to {partial.parent}")


def _say(text):
    print(f"scratch: {text}", file=sys.stderr, flush=True)
