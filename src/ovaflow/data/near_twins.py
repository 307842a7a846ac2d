"""Near twins: instances that share most of their features, such as editions, series and copies.

A split that parts them measures memory. Pairs whose smallest hashes agree (Broder 1997) are compared feature by
feature, in time linear in the data.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.splitmix import mixed

SIMILAR = 0.7
"""Jaccard index from which on two instances are near twins."""

FEWEST = 10
"""Features that near twins have in common: what is shorter is alike by chance."""

_BANDS, _HASHES = 16, 4
"""A pair is compared if all hashes of a band agree: with a Jaccard index of 0.7 99 in 100, with 0.2 3 in 100."""

_LARGEST = 0.02
"""Share of all rows above which a group falls apart. Measured: 0.016 of docstrings, 0.012 of Debian's packages."""


def near_twins(X):
    """First row of each row's group, int64 (n,): with a row all are in its group to which near twins lead."""
    n, pairs = X.n_rows, []
    for band in range(_BANDS):
        hashes = _band_hashes(X.indices, X.indptr, band * _HASHES, (band + 1) * _HASHES)
        order = np.argsort(hashes, kind="stable")
        equal = np.flatnonzero(np.diff(hashes[order]) == 0)
        rows, others = order[equal], order[equal + 1]
        similar = _are_near_twins(X.indices, X.indptr, rows, others)
        pairs.append(np.stack([rows[similar], others[similar]]))
    ends = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(ends.shape[1], bool), ends), shape=(n, n))
    _, groups = connected_components(graph, directed=False)
    _, firsts, sizes = np.unique(groups, return_index=True, return_counts=True)
    return np.where(sizes[groups] > _LARGEST * n, np.arange(n), firsts[groups])


@strict_kernel
def _band_hashes(indices, indptr, first, end):
    """The smallest hash of each row's features by each of some hash functions, in one number."""
    hashes = np.zeros(len(indptr) - 1, np.uint64)
    for i in range(len(hashes)):
        for function in range(first, end):
            seed, least = mixed(np.uint64(function + 1)), np.uint64(2**64 - 1)
            for k in range(indptr[i], indptr[i + 1]):
                least = min(least, mixed(seed ^ np.uint64(indices[k])))
            hashes[i] = mixed(hashes[i] ^ least)
    return hashes


@strict_kernel
def _are_near_twins(indices, indptr, rows, others):
    """|A n B| >= 0.7 |A u B| and |A n B| >= 10 for the features of pairs of rows."""
    similar = np.empty(len(rows), np.bool_)
    for pair in range(len(rows)):
        a, a_end = indptr[rows[pair]], indptr[rows[pair] + 1]
        b, b_end = indptr[others[pair]], indptr[others[pair] + 1]
        total, common = a_end - a + b_end - b, 0
        while a < a_end and b < b_end:
            feature, other = indices[a], indices[b]
            common += feature == other
            a += feature <= other
            b += other <= feature
        similar[pair] = common >= FEWEST and common >= SIMILAR * (total - common)
    return similar
