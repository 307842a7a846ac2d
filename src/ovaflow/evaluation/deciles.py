"""Deciles of the labels by training frequency."""

import numpy as np

TENTHS = np.arange(1, 10) / 10


def decile_starts(counts):
    """Smallest counts of ten groups of about equally many labels, rarest first, and the deciles that each covers."""
    known = np.asarray(counts)[np.asarray(counts) > 0]
    if not len(known):
        return [], []
    # a group ends with the label that stands at the tenth, its equals included
    ends = np.floor(np.quantile(known, [*TENTHS, 1])).astype(np.int64)
    members = {int(end): [] for end in ends}
    for decile, end in enumerate(ends.tolist(), 1):
        members[end].append(decile)
    present = np.unique(known)
    starts, deciles, first = [], [], 0
    for end, covered in members.items():
        inside = present[(present > first) & (present <= end)]
        if len(inside):
            starts.append(int(inside[0]))
            deciles.append((covered[0], covered[-1]))
        first = end
    return starts, deciles
