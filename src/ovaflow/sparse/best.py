"""Keeping the best labels of an instance, best first."""

import numpy as np

from ovaflow.sparse.jit import strict_kernel

NO_LABEL = -1
"""Fills the places of labels where fewer have a score than were asked for; its score is -inf."""


def no_labels(*shape):
    """Lists of best labels without any: ids int32 and scores float32."""
    return np.full(shape, NO_LABEL, np.int32), np.full(shape, -np.inf, np.float32)


@strict_kernel
def insert_label(score, label, ids, best):
    """Put a label in its place: by falling score, ties by the smaller id; the last falls out."""
    place = len(best) - 1
    while place > 0 and (best[place - 1] < score or (best[place - 1] == score and ids[place - 1] > label)):
        best[place] = best[place - 1]
        ids[place] = ids[place - 1]
        place -= 1
    best[place] = score
    ids[place] = label
