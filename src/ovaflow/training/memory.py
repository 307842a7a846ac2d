"""Memory of a training job: one formula, for the workflow and for ``ovaflow estimate``.

::

    job = program + features + labels + screen + earlier + max(threads * thread + 8 w, 16 w)

with w the weights of the job's labels after pruning: 8 bytes each while labels
are solved, and twice that while they are joined, when no thread works any more.
The terms are fields of :class:`JobMemory`. The features are mapped from the
dataset file, so that jobs on one machine share their pages; each job counts
them all the same, as its resident size does.
"""

import math
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ovaflow.data.dataset import open_dataset
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.screening import STRIPE
from ovaflow.sparse.panel import WIDTH
from ovaflow.training.fast_path import FAST_PATHS, LARGEST_SAMPLE, LARGEST_WORKING_SET, Samples
from ovaflow.training.shard_request import LABEL, with_margin

PROGRAM = 215_000_000
"""Interpreter, libraries and kernels, and what the allocator holds back (CPython 3.11, Numba 0.68).

A job with nearly no data takes 190 MB; up to 25 MB more than the sum of their
arrays were seen with many labels.
"""

HUGE_PAGE = 1 << 21
"""NumPy asks for pages of this size: the first touch makes so much of an array resident."""

_WEIGHTS_PER_ENTRY = 4
_FEATURES_TAKEN = 0.1


class Shape(NamedTuple):
    """What the memory of training depends on.

    Attributes
    ----------
    n, d : int
        Training instances and features.
    entries : int
        Stored entries of X.
    labels : int
    positives : int
        Nonzeros of Y.
    """

    n: int
    d: int
    entries: int
    labels: int
    positives: int

    @property
    def full(self):
        """Whether rows are stored in full; their indices are then not read."""
        return self.entries == self.n * self.d

    @classmethod
    def of(cls, dataset):
        """Shape of an open dataset.

        Parameters
        ----------
        dataset : Dataset

        Returns
        -------
        Shape
        """
        X, Y = dataset.train.X, dataset.train.Y
        return cls(X.n_rows, X.n_columns, len(X.data), Y.n_columns, len(Y.data))


class Touched(NamedTuple):
    """How much of a thread's arrays its labels reach, at the largest of them.

    Attributes
    ----------
    rows, features : int
        Working set, and features of its rows, of the largest label of a column.
    entries : int
        Nonzeros of the largest working set of all columns.
    screened, plain, sampled : bool
        Whether labels are solved on working sets, by the plain solver, and on samples.
    transposed : bool
        Whether X is transposed for L1 problems.
    """

    rows: int
    features: int
    entries: int
    screened: bool = True
    plain: bool = True
    sampled: bool = False
    transposed: bool = False


@dataclass(frozen=True)
class JobMemory:
    """Bytes of a training job, by what takes them.

    Attributes
    ----------
    program : int
    features : int
        X as mapped.
    labels : int
        Y as mapped and transposed, and the means.
    screen : int
        Second copy of X, divided into popular and rare features, or transposed.
    thread : int
        Scratch of each thread.
    weights : int
        What the labels' weights add to the peak.
    threads : int
    earlier : int
        The labels' weights in the model that they start from, as mapped.
    """

    program: int
    features: int
    labels: int
    screen: int
    thread: int
    weights: int
    threads: int
    earlier: int = 0

    @property
    def total(self):
        """Peak resident size of the job."""
        shared = self.program + self.features + self.labels + self.screen + self.earlier
        return shared + self.threads * self.thread + self.weights


def job_memory(shape, threads, labels, weights, touched, pretrained=False):
    """Peak resident size of a training job.

    Parameters
    ----------
    shape : Shape
    threads : int
    labels : int
        Labels of the job.
    weights : int
        Their weights after pruning.
    touched : Touched
    pretrained : bool
        The labels start from an earlier model, which is taken to have as many weights.

    Returns
    -------
    JobMemory
    """
    n, d, entries, all_labels, positives = shape
    in_flight = min(WIDTH, math.ceil(labels / threads))
    screened, sampled = (
        touched.screened * _screened(shape, touched, in_flight),
        touched.sampled * _sampled(shape, touched),
    )
    alone = plain_thread(n, d) + touched.transposed * _on_features(shape)
    thread = max(screened, sampled, touched.plain * alone)
    copies = touched.screened * (8 * entries + 12 * n + 13 * d), touched.sampled * (8 * entries + 16 * d)
    peak = max(threads * thread + 8 * weights, 16 * weights) + LABEL * labels
    return JobMemory(
        program=PROGRAM,
        features=(4 if shape.full else 8) * entries + 8 * n,
        labels=16 * positives + 8 * n + 56 * all_labels + 12 * d,
        screen=max(*copies, touched.transposed * (8 * entries + 16 * d)),
        thread=thread,
        weights=peak - threads * thread,
        threads=threads,
        earlier=8 * weights if pretrained else 0,
    )


def plain_thread(n, d):
    """Scratch of the plain solver: six vectors over instances and seven over features.

    Parameters
    ----------
    n, d : int

    Returns
    -------
    int
        Bytes.
    """
    return 4 * (6 * n + 7 * d)


def _on_features(shape):
    """Scratch of L1 problems beside that of the plain solver: lists, flags, gradient, and columns of features."""
    return 8 * shape.n + 25 * shape.d + math.ceil(8 * _FEATURES_TAKEN * shape.entries)


def _screened(shape, touched, in_flight):
    """Scratch of the fast path: columns of the labels in flight, and the problem of one working set."""
    n, d = shape.n, shape.d
    rows, features = _resident(4 * n, 4 * touched.rows), _resident(4 * d, 4 * touched.features)
    bounds = WIDTH * 4 * min(n, STRIPE)
    # candidates (nearly all instances for some labels), working set, support and weights
    columns = in_flight * (4 * n + rows + 2 * features)
    return bounds + columns + _local(shape, touched)


def _sampled(shape, touched):
    """Scratch of the fast path of the logistic loss: panels of weights, gradients and slopes, and one problem."""
    n, d = shape.n, shape.d
    return WIDTH * 8 * (n + d) + 16 * d + _local(shape, touched)


def _local(shape, touched):
    """Scratch of one problem on some of the rows."""
    n, d = shape.n, shape.d
    gathered = (1 if shape.full else 2) * _resident(4 * shape.entries, 4 * touched.entries)
    # numbers, weights and start by feature; first numbers and scores by instance; the solver's vectors
    return gathered + 16 * d + 9 * n + 4 * (6 * touched.rows + 7 * touched.features)


def _resident(size, touched):
    return min(size, HUGE_PAGE * math.ceil(touched / HUGE_PAGE))


def requested_megabytes(path, threads, shards, pretrained=False, loss="squared-hinge"):
    """Memory to ask a scheduler for, before anything is known about the labels.

    Parameters
    ----------
    path : path-like
        The dataset file.
    threads, shards : int
    pretrained : bool
        See :func:`job_memory`.
    loss : str

    Returns
    -------
    int
        The formula with all arrays of a thread in full, but for the rows that
        are copied, which are a certain share of the instances at most.
        A label is taken to have four times as many weights as its positives
        have entries (1.8 to 3.7 times were seen), and as many as there are
        features at most.
    """
    shape = Shape.of(open_dataset(path))
    sampled = FAST_PATHS[LOSSES[loss]] is Samples
    entries = math.ceil((LARGEST_SAMPLE if sampled else LARGEST_WORKING_SET) * shape.entries)
    touched = Touched(shape.n, shape.d, entries, screened=not sampled, sampled=sampled)
    entries_of_positives = shape.positives * shape.entries / max(shape.n, 1)
    weights = min(shape.labels * shape.d, _WEIGHTS_PER_ENTRY * entries_of_positives)
    job = job_memory(shape, threads, math.ceil(shape.labels / shards), math.ceil(weights / shards), touched, pretrained)
    return megabytes_to_request(job)


def megabytes_to_request(job):
    """A job's memory with a margin, and what a scheduler's own processes take in the same job.

    Parameters
    ----------
    job : JobMemory

    Returns
    -------
    int
    """
    return with_margin(job.total)


def peak_rss_bytes():
    """Largest resident memory of this process so far.

    Returns
    -------
    int
        From ``/proc`` where there is one: what getrusage says may stem from the
        parent, whose memory counts until the process replaces its image.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    peaks = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return peaks[0] if peaks else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
