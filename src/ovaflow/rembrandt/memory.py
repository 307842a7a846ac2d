"""Memory of the jobs that embed and project, by what they hold."""

from ovaflow.data.dataset import open_dataset
from ovaflow.rembrandt.least_squares import DIRECT
from ovaflow.rembrandt.projected_file import SOFTMAX, open_projected
from ovaflow.sparse.panel import WIDTH
from ovaflow.training.memory import PROGRAM, Shape, requested_megabytes
from ovaflow.training.shard_request import with_margin


def embedding_megabytes(path, columns, threads):
    """Memory to ask a scheduler for, for ``ovaflow embed``.

    Parameters
    ----------
    path : path-like
        The dataset file.
    columns : int
        Rank and oversampling.
    threads : int

    Returns
    -------
    int
        Features and labels with their transposes, right-hand sides and fits in
        panels, each thread's panel of conjugate gradients, and the matrices
        that are orthogonalised in double precision.
    """
    n, d, entries, labels, positives = Shape.of(open_dataset(path))
    columns = WIDTH * -(-columns // WIDTH)
    matrices = 16 * entries + 24 * positives
    panels = 4 * columns * (3 * n + 2 * d + 2 * labels) + 4 * 8 * labels * columns
    descent = 4 * WIDTH * (3 * n + 6 * d) if d > DIRECT else 8 * (3 * d * d + 4096 * d)
    return with_margin(PROGRAM + matrices + panels + threads * descent)


def projecting_megabytes(path, rank, features, threads):
    """Memory to ask a scheduler for, for ``ovaflow project``.

    Parameters
    ----------
    path : path-like
        The dataset file.
    rank : int
    features : int
        D.
    threads : int

    Returns
    -------
    int
    """
    n, d, entries, _, positives = Shape.of(open_dataset(path))
    columns = WIDTH * -(-rank // WIDTH)
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
        are kept; the softmax decoder holds its weights some 40 times (L-BFGS).
    """
    opened = open_projected(path)
    if opened.decoder != SOFTMAX:
        return requested_megabytes(path, threads, shards, loss="logistic")
    n, d, entries, labels, _ = Shape.of(opened.dataset)
    blocks = (4 + threads) * 4 * (2048 * labels + d * labels)
    return with_margin(PROGRAM + 20 * entries + 8 * n + 40 * 8 * d * labels + blocks)
