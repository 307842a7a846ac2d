"""The k best labels of each instance: blocked dense products of projected instances and the decoder."""

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.rembrandt.panels import in_blocks, row_blocks
from ovaflow.sparse.best import NO_LABEL, insert_label
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

_INSTANCES = 256
"""Instances of a block, a whole of which is projected and scored at a time."""

_LABELS = 4096
"""Labels of a block: 4 MiB of scores."""


def predict_embedded(projection, decoder, trained, X, k, threads=1, quiet=False):
    """Best k trained labels: ids int32 (n, k), -1 where there are fewer, and scores float32 (n, k)."""
    if X.n_columns != projection.panels.shape[1]:
        raise ValueError(f"instances have {X.n_columns} features, the model has {projection.panels.shape[1]}")
    ids = np.full((X.n_rows, k), NO_LABEL, np.int32)
    best = np.full((X.n_rows, k), -np.inf, np.float32)

    def score(rows):
        features = projection.features(_rows(X, rows))
        for labels in row_blocks(len(decoder), _LABELS):
            scores = features @ decoder[labels].T
            scores[:, ~trained[labels]] = -np.inf
            _keep_best(scores, labels.start, ids[rows], best[rows])
        return rows.stop - rows.start

    with in_blocks(threads) as each, Progress("predicting", X.n_rows, "instances", quiet=quiet) as progress:
        for n_scored in each(score, row_blocks(X.n_rows, _INSTANCES)):
            progress.advance(n_scored)
    return ids, best


def scores_of(projection, decoder, X, labels):
    """Scores of chosen labels: float32 (n, m)."""
    with in_blocks(1):
        return projection.features(X) @ decoder[labels].T


def load_kernels():
    _keep_best(np.zeros((1, 1), np.float32), 0, np.full((1, 1), NO_LABEL, np.int32), np.zeros((1, 1), np.float32))


def _rows(X, rows):
    start, end = X.indptr[rows.start], X.indptr[rows.stop]
    indptr = X.indptr[rows.start : rows.stop + 1] - start
    return CSR(X.data[start:end], X.indices[start:end], indptr, X.n_columns)


@strict_kernel
def _keep_best(scores, first, ids, best):
    """Insert scores above the last of the best of each instance."""
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            if scores[i, j] > best[i, -1]:
                insert_label(scores[i, j], first + j, ids[i], best[i])
