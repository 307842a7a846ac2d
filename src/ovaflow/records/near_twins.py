"""Near twins: instances that share most of their features, such as editions, series and copies.

Short ones are near twins only if they are copies, which numbers tell: all words of their texts, or
all features, are the same. A split that parts near twins measures memory. Pairs whose smallest
hashes agree (Broder 1997) are compared feature by feature, in time linear in the data.
"""

import numpy as np
import scipy

from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.splitmix import mix_bits

MIN_JACCARD = 0.7
"""Jaccard index from which on two instances are near twins."""

MIN_COMMON_FEATURES = 10
"""Features that near twins have in common: shorter instances are alike by chance."""

_BANDS = 16
_HASHES_PER_BAND = 4
"""A pair is compared if all hashes of a band agree: with a Jaccard index of 0.7 99 in 100, with 0.2
3 in 100.
"""

_LARGEST_GROUP_SHARE = 0.02
"""Share of all rows above which a group falls apart. Measured: 0.016 of docstrings, 0.012 of
Debian's packages.
"""

_MOST_COMPARED = 4
"""Rows of the same hashes that a row is compared with. Of docstrings 739 of 740 are found, with 1
734.
"""


def group_near_twins(X: CSR, *numbers: np.ndarray) -> np.ndarray:
    """Group the rows that are connected by near twins.

    Parameters
    ----------
    X : CSR (n, d)
    numbers : arrays (n,)
        Each groups rows, too: those with the same number that is not negative.

    Returns
    -------
    int64 (n,)
        The first row of each row's group. A group that is too large falls apart, but rows with the
        same number stay together.
    """
    n = X.n_rows
    pairs = []
    for band in range(_BANDS):
        rows, others = _pair_equal_rows(_hash_band(X.indices, X.indptr, band))
        similar = _are_near_twins(X.indices, X.indptr, rows, X.indices, X.indptr, others)
        pairs.append(np.stack([rows[similar], others[similar]]))
    firsts_of_equal = group_equal_rows(*numbers, np.full(n, -1))
    pairs.append(np.stack([np.arange(n), firsts_of_equal]))
    firsts = _find_first_rows(pairs, n)
    too_large = np.bincount(firsts, minlength=n) > _LARGEST_GROUP_SHARE * n
    return np.where(too_large[firsts], firsts_of_equal, firsts)


def group_equal_rows(*numbers: np.ndarray | None) -> np.ndarray:
    """Group the rows with the same number that is not negative, in any array.

    Parameters
    ----------
    numbers : arrays (n,) or None

    Returns
    -------
    int64 (n,)
        The first row of each row's group.
    """
    arrays = [each for each in numbers if each is not None]
    pairs = [_pair_equal_rows(each) for each in arrays]
    return _find_first_rows(pairs, len(arrays[0]))


def _pair_equal_rows(numbers: np.ndarray) -> np.ndarray:
    """Pair rows so that pairs (2, m) connect all with the same number that is not negative."""
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    equal = np.flatnonzero((ascending[:-1] == ascending[1:]) & (ascending[1:] >= 0))
    return np.stack([order[equal], order[equal + 1]])


def _find_first_rows(pairs: list[np.ndarray], n: int) -> np.ndarray:
    """Find the first of the rows that pairs connect with each of n rows."""
    # steps without texts do not wait for it
    from scipy.sparse.csgraph import connected_components

    ends = np.concatenate([np.empty((2, 0), np.int64), *pairs], axis=1)
    graph = scipy.sparse.coo_array((np.ones(ends.shape[1], bool), ends), shape=(n, n))
    _, components = connected_components(graph, directed=False)
    _, firsts = np.unique(components, return_index=True)
    return firsts[components]


def find_near_twins(X: CSR, others: CSR) -> np.ndarray:
    """Mark the rows that have a near twin among other rows: bool (n,)."""
    found = np.zeros(X.n_rows, bool)
    for band in range(_BANDS):
        hashes = _hash_band(X.indices, X.indptr, band)
        other_hashes = _hash_band(others.indices, others.indptr, band)
        order = np.argsort(other_hashes, kind="stable")
        starts = np.searchsorted(other_hashes[order], hashes, "left")
        ends = np.searchsorted(other_hashes[order], hashes, "right")
        for place in range(_MOST_COMPARED):
            rows = np.flatnonzero(~found & (starts + place < ends))
            candidates = order[starts[rows] + place]
            found[rows] = _are_near_twins(
                X.indices, X.indptr, rows, others.indices, others.indptr, candidates
            )
    return found


@strict_kernel
def _hash_band(indices: np.ndarray, indptr: np.ndarray, band: int) -> np.ndarray:
    """Combine the smallest hashes of each row's features for a band: uint64 (n,)."""
    hashes = np.zeros(len(indptr) - 1, np.uint64)
    for i in range(len(hashes)):
        for function in range(band * _HASHES_PER_BAND, (band + 1) * _HASHES_PER_BAND):
            seed = mix_bits(np.uint64(function + 1))
            least = np.uint64(2**64 - 1)
            for k in range(indptr[i], indptr[i + 1]):
                least = min(least, mix_bits(seed ^ np.uint64(indices[k])))
            hashes[i] = mix_bits(hashes[i] ^ least)
    return hashes


@strict_kernel
def _are_near_twins(
    indices: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    other_indices: np.ndarray,
    other_indptr: np.ndarray,
    others: np.ndarray,
) -> np.ndarray:
    """Compare pairs of rows: |A n B| >= 0.7 |A u B| and |A n B| >= 10 for their features.

    Parameters
    ----------
    indices, indptr : arrays
        Features of the rows A, ascending.
    rows : int64 (m,)
        The row A of each pair.
    other_indices, other_indptr, others : arrays
        The same of the rows B.

    Returns
    -------
    bool (m,)
    """
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
            # sums of comparisons instead of branches, which could not be predicted
            common += feature == other
            a += feature <= other
            b += other <= feature
        similar[pair] = common >= MIN_COMMON_FEATURES and common >= MIN_JACCARD * (total - common)
    return similar
