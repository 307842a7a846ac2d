"""Memory of the jobs that embed and project, by what they hold."""

import math

from ovaflow.data.dataset import open_dataset
from ovaflow.rembrandt.least_squares import DIRECT
from ovaflow.rembrandt.projected_file import SOFTMAX, open_projected
from ovaflow.rembrandt.softmax import LARGEST_BLOCKS, MANY
from ovaflow.rembrandt.tuning import MOST_LABELS
from ovaflow.sparse.panel import WIDTH
from ovaflow.training.memory import PROGRAM, Shape, requested_megabytes
from ovaflow.training.shard_request import with_margin

_ROWS = 4096


def embedding_megabytes(path, columns, threads):
    """Memory to ask a scheduler for, for ``ovaflow embed``.

    Parameters
    ----------
    path : path-like
        The dataset file.
    columns : int or None
        Rank and oversampling; None where nothing is embedded.
    threads : int

    Returns
    -------
    int
        Features and labels with their transposes, right-hand sides and fits in
        panels, each thread's panel of conjugate gradients, and the matrices
        that are orthogonalised in double precision.
    """
    n, d, entries, labels, positives = Shape.of(open_dataset(path))
    columns = WIDTH * -(-(d if columns is None else columns) // WIDTH)
    matrices = 16 * entries + 24 * positives
    panels = 4 * columns * (3 * n + 2 * d + 2 * labels) + 4 * 8 * labels * columns
    descent = 4 * WIDTH * (3 * n + 6 * d) if d > DIRECT else 8 * (3 * d * d + 4096 * d)
    return with_margin(PROGRAM + matrices + panels + threads * descent)


def projecting_megabytes(path, rank, random, threads):
    """Memory to ask a scheduler for, for ``ovaflow project``.

    Parameters
    ----------
    path : path-like
        The dataset file.
    rank : int or None
        None where nothing is embedded.
    random : int or None
        Number of random features, if any.
    threads : int

    Returns
    -------
    int
    """
    n, d, entries, _, positives = Shape.of(open_dataset(path))
    rank = d if rank is None else rank
    columns, features = WIDTH * -(-rank // WIDTH), 1 + (rank if random is None else random)
    return with_margin(
        PROGRAM + 8 * entries + 16 * positives + 8 * columns * (n + d) + 8 * n * features + threads * 8192 * features
    )


def decoding_megabytes(path, threads, shards):
    """Memory to ask a scheduler for, for ``ovaflow train-decoder``.

    Parameters
    ----------
    path : path-like
        The projected training set.
    threads, shards : int

    Returns
    -------
    int
        That of one-vs-all training with the logistic loss, where all weights
        are kept; the softmax decoder holds its weights some 60 times (L-BFGS),
        beside the labels' blocks of the Hessian.
    """
    opened = open_projected(path)
    if opened.decoder != SOFTMAX:
        return requested_megabytes(path, threads, shards, loss="logistic")
    return with_margin(_softmax_bytes(Shape.of(opened.dataset), threads))


def tuning_megabytes(path, threads):
    """Memory to ask a scheduler for, for ``ovaflow tune-decoder``.

    Parameters
    ----------
    path : path-like
        The projected training set.
    threads : int

    Returns
    -------
    int
        That of training with a copy of the features; logistic losses are those of a sample of the labels.
    """
    opened = open_projected(path)
    shape = Shape.of(opened.dataset)
    copies = 12 * shape.entries + 16 * shape.positives
    if opened.decoder == SOFTMAX:
        return with_margin(_softmax_bytes(shape, threads) + copies)
    shards = max(1, shape.labels // MOST_LABELS)
    scores = 16 * _ROWS * min(shape.labels, MOST_LABELS)
    return requested_megabytes(path, threads, shards, loss="logistic") + math.ceil((copies + scores) / 1e6)


def _softmax_bytes(shape, threads):
    n, d, entries, labels, _ = shape
    blocks = (4 + threads) * 4 * (2048 * labels + d * labels)
    curved = 2 * 12 * n * min(labels, MANY)
    hessian = 8 * d * d * labels if d * d * labels <= LARGEST_BLOCKS else 0
    return PROGRAM + 20 * entries + 8 * n + 60 * 8 * d * labels + blocks + curved + hessian
