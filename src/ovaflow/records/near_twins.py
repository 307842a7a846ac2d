"""Near twins: instances that share most of their features, such as editions, series and copies.

Short ones are near twins only if they are copies, which numbers tell: all words of their texts, or
all features, are the same. A split that parts near twins measures memory. Pairs whose smallest
hashes agree (Broder 1997) are compared feature by feature, in time linear in the data.
"""

import numpy as np
import scipy

from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.splitmix import mix_bits

MIN_JACCARD = 0.7
"""Jaccard index from which on two instances are near twins."""

MIN_COMMON_FEATURES = 10
"""Features that near twins have in common: what is shorter is alike by chance."""

_BANDS = 16
_HASHES = 4
"""A pair is compared if all hashes of a band agree: with a Jaccard index of 0.7 99 in 100, with 0.2
3 in 100.
"""

_LARGEST = 0.02
"""Share of all rows above which a group falls apart. Measured: 0.016 of docstrings, 0.012 of
Debian's packages.
"""

_TRIED = 4
"""Rows of the same hashes that a row is compared with. Of docstrings 739 of 740 are found, with 1
734.
"""


def group_near_twins(X, *numbers):
    """First row of each row's group, int64 (n,): all rows to which near twins lead are in one
    group.

    Arrays of numbers (n,) group rows, too: those with the same number that is not negative. A group
    that is too large falls apart, but rows with the same number stay together.
    """
    n = X.n_rows
    pairs = []
    for band in range(_BANDS):
        rows, others = _equal_pairs(_band_hashes(X.indices, X.indptr, band))
        similar = _are_near_twins(X.indices, X.indptr, rows, X.indices, X.indptr, others)
        pairs.append(np.stack([rows[similar], others[similar]]))
    firsts_of_equal = group_equal_rows(*numbers, np.full(n, -1))
    pairs.append(np.stack([np.arange(n), firsts_of_equal]))
    firsts = _first_rows(pairs, n)
    too_large = np.bincount(firsts, minlength=n) > _LARGEST * n
    return np.where(too_large[firsts], firsts_of_equal, firsts)


def group_equal_rows(*numbers):
    """First row of each row's group, int64 (n,): those with the same number that is not negative,
    in any array.
    """
    arrays = [each for each in numbers if each is not None]
    return _first_rows([_equal_pairs(each) for each in arrays], len(arrays[0]))


def _equal_pairs(numbers):
    """Pairs (2, m) that lead from each row to all with the same number, if it is not negative."""
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    equal = np.flatnonzero((ascending[:-1] == ascending[1:]) & (ascending[1:] >= 0))
    return np.stack([order[equal], order[equal + 1]])


def _first_rows(pairs, n):
    """First of the rows to which pairs lead from each row."""
    # steps without texts do not wait for it
    from scipy.sparse.csgraph import connected_components

    ends = np.concatenate([np.empty((2, 0), np.int64), *pairs], axis=1)
    graph = scipy.sparse.coo_array((np.ones(ends.shape[1], bool), ends), shape=(n, n))
    _, components = connected_components(graph, directed=False)
    _, firsts = np.unique(components, return_index=True)
    return firsts[components]


def find_near_twins(X, others):
    """Mark the rows that have a near twin among other rows: bool (n,)."""
    found = np.zeros(X.n_rows, bool)
    for band in range(_BANDS):
        hashes, theirs = (_band_hashes(each.indices, each.indptr, band) for each in (X, others))
        order = np.argsort(theirs, kind="stable")
        starts, ends = (np.searchsorted(theirs[order], hashes, side) for side in ("left", "right"))
        for place in range(_TRIED):
            rows = np.flatnonzero(~found & (starts + place < ends))
            candidates = order[starts[rows] + place]
            pairs = X.indices, X.indptr, rows, others.indices, others.indptr, candidates
            found[rows] = _are_near_twins(*pairs)
    return found


@strict_kernel
def _band_hashes(indices, indptr, band):
    """The smallest hash of each row's features by each function of a band, in one number."""
    hashes = np.zeros(len(indptr) - 1, np.uint64)
    for i in range(len(hashes)):
        for function in range(band * _HASHES, (band + 1) * _HASHES):
            seed = mix_bits(np.uint64(function + 1))
            least = np.uint64(2**64 - 1)
            for k in range(indptr[i], indptr[i + 1]):
                least = min(least, mix_bits(seed ^ np.uint64(indices[k])))
            hashes[i] = mix_bits(hashes[i] ^ least)
    return hashes


@strict_kernel
def _are_near_twins(indices, indptr, rows, other_indices, other_indptr, others):
    """|A n B| >= 0.7 |A u B| and |A n B| >= 10 for the features of pairs of rows."""
    similar = np.empty(len(rows), np.bool_)
    for pair in range(len(rows)):
        a = indptr[rows[pair]]
        a_end = indptr[rows[pair] + 1]
        b = other_indptr[others[pair]]
        b_end = other_indptr[others[pair] + 1]
        total = a_end - a + b_end - b
        common = 0
        while a < a_end and b < b_end:
            feature = indices[a]
            other = other_indices[b]
            common += feature == other
            a += feature <= other
            b += other <= feature
        similar[pair] = common >= MIN_COMMON_FEATURES and common >= MIN_JACCARD * (total - common)
    return similar
