"""Memory of a job that grows trees, for schedulers.

::

    job = program + features + labels + gains + threads * (scratch + columns + tree) + trees

All but the trees follow from the shape of the data; a tree holds at most about
as many numbers as the training set has entries, and in all cases seen a tenth
of that.
"""

from ovaflow.data.dataset import open_dataset
from ovaflow.training.memory import PROGRAM, Shape
from ovaflow.training.shard_request import with_margin


def job_bytes(shape, threads):
    """Peak resident size of a job.

    Parameters
    ----------
    shape : ovaflow.training.memory.Shape
    threads : int

    Returns
    -------
    int
    """
    mapped = 8 * (shape.entries + shape.positives) + 16 * shape.n
    gains = 8 * shape.n + 16 * shape.labels
    return PROGRAM + mapped + gains + threads * (scratch_bytes(shape) + _growing_bytes(shape))


def scratch_bytes(shape):
    """Vectors of :class:`ovaflow.fastxml.scratch.Scratch`, with the solver's workspace.

    Parameters
    ----------
    shape : Shape

    Returns
    -------
    int
    """
    return 57 * shape.n + 4 * shape.positives + 48 * shape.labels + 52 * shape.d


def _growing_bytes(shape):
    """The root's features by column, and the tree's nodes, of which there are less than two an instance."""
    return 8 * shape.entries + 72 * shape.n + (shape.entries + shape.positives)


def requested_megabytes(path, threads):
    """Memory to ask a scheduler for.

    Parameters
    ----------
    path : path-like
        The dataset file.
    threads : int

    Returns
    -------
    int
    """
    return with_margin(job_bytes(Shape.of(open_dataset(path)), threads))
