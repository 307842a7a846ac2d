"""Assign the instances of a node to its two sides: the first two steps of FastXML.

Labels are ranked for each side, and each instance moves to the side that ranks its labels better
(Algorithm 2, eq. 11 and 13 of the paper), on the node's own labels renumbered.

Sums of gains are whole numbers, so that equal sums are equal whatever their order, and an instance
that changes sides takes exactly its contribution along. Ties are broken by a random order of the
labels that the node draws.
"""

import math

import numpy as np

from ovaflow.methods.fastxml.gains import Gains
from ovaflow.methods.fastxml.scratch import TreeScratch
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_callee, strict_kernel
from ovaflow.sparse.splitmix import mix_bits

GOLDEN_GAMMA = 0x9E3779B97F4A7C15
"""Increment between seeds, 2^64 over the golden ratio, as in SplitMix64."""

GAIN_RESOLUTION = 1 << 20
"""Gains are counted in units of 1/2^20: a sum over all instances and a label's number share 63
bits.
"""

TIE_TOLERANCE = 1e-12
"""Advantages of a side below this are rounding errors, and the instance stays on its side."""

MAX_ASSIGNMENT_ROUNDS = 1000
"""Theorem 1 of the paper proves termination in exact arithmetic; some tens are usual."""


@strict_kernel
def derive_seed(seed: int, number: int) -> np.uint64:
    """Derive the seed of one of many, such as a tree of a forest or a node of a tree."""
    return mix_bits(np.uint64(seed) + (np.uint64(number) + np.uint64(1)) * np.uint64(GOLDEN_GAMMA))


@strict_callee
def shuffle(items: np.ndarray, seed: int) -> None:
    """Put items in a random order (Fisher-Yates)."""
    for last in range(len(items) - 1, 0, -1):
        # the high half times the range, since a remainder would cost a division
        random = derive_seed(seed, last) >> np.uint64(32)
        other = (random * np.uint64(last + 1)) >> np.uint64(32)
        items[last], items[other] = items[other], items[last]


@strict_kernel
def gather_labels(Y: CSR, members: np.ndarray, seed: int, scratch: TreeScratch) -> int:
    """Assign numbers to a node's labels in random order; return their count.

    Member m has the renumbered labels ``entries[entry_start[m] : entry_start[m + 1]]``.
    """
    labels = scratch.labels
    number = scratch.label_number
    entries = scratch.entries
    starts = scratch.entry_start
    n_labels = 0
    n_entries = 0
    for m in range(len(members)):
        starts[m] = n_entries
        for k in range(Y.indptr[members[m]], Y.indptr[members[m] + 1]):
            label = Y.indices[k]
            if number[label] < 0:
                number[label] = n_labels
                labels[n_labels] = label
                n_labels += 1
            entries[n_entries] = label
            n_entries += 1
    starts[len(members)] = n_entries
    shuffle(labels[:n_labels], seed)
    for c in range(n_labels):
        number[labels[c]] = c
    for e in range(n_entries):
        entries[e] = number[entries[e]]
    for c in range(n_labels):
        number[labels[c]] = -1
    return n_labels


@strict_kernel
def toss_sides(sides: np.ndarray, seed: int) -> None:
    """Put each instance on a random side: 1 for delta = +1, 0 for -1."""
    for m in range(len(sides)):
        sides[m] = derive_seed(seed, m) >> np.uint64(63)


@strict_kernel
def fill_separator_terms(
    scores: np.ndarray, costs: tuple[float, float], separator_terms: np.ndarray
) -> None:
    """Compute the separator's part of v_i^- - v_i^+ (eq. 13).

    It is C_delta(-1) log(1 + e^s) - C_delta(+1) log(1 + e^-s) for the score s of an instance.
    """
    for m in range(len(scores)):
        separator_terms[m] = costs[0] * _logistic_loss(-scores[m]) - costs[1] * _logistic_loss(
            scores[m]
        )


@strict_kernel
def assign_sides(
    members: np.ndarray,
    sides: np.ndarray,
    separator_terms: np.ndarray,
    gains: Gains,
    C_r: float,
    n_labels: int,
    scratch: TreeScratch,
) -> int:
    """Rank labels and reassign instances until none changes sides (eq. 11 and 13).

    Parameters
    ----------
    members : ndarray of int32, shape (m,)
        Instances of the node.
    sides : ndarray of int8, shape (m,)
        Side of each instance, 1 for +1 and 0 for -1; changed in place.
    separator_terms : ndarray of float64, shape (m,)
        Contribution of the separator to the choice of side.
    gains : Gains
    C_r : float
        Weight of the rankings.
    n_labels : int
        Number of the node's labels, by :func:`gather_labels`.
    scratch : TreeScratch

    Returns
    -------
    int
        Number of instances on side +1.
    """
    label_gains = scratch.label_gains[:n_labels]
    normalizers = scratch.normalizers[: len(members)]
    for c in range(n_labels):
        label_gains[c] = gains.labels[scratch.labels[c]]
    for m in range(len(members)):
        normalizers[m] = gains.normalizers[members[m]]
    sums = scratch.sums[: 2 * n_labels].reshape(2, n_labels)
    keys = scratch.keys[: 2 * n_labels].reshape(2, n_labels)
    discount_differences = scratch.discount_differences[:n_labels]
    changed = scratch.changed[:n_labels]
    _fill_sums(sides, label_gains, normalizers, sums, scratch)
    changed[:] = True
    for _ in range(MAX_ASSIGNMENT_ROUNDS):
        for side in range(2):
            update_ranking(sums[side], keys[side], changed, scratch.changed_keys)
        _fill_discount_differences(keys, gains.discounts, discount_differences)
        changed[:] = False
        n_moved = _reassign(
            sides,
            separator_terms,
            C_r,
            label_gains,
            normalizers,
            discount_differences,
            sums,
            changed,
            scratch,
        )
        if not n_moved:
            break
    return sides.sum()


@strict_callee
def to_gain_units(gain: float) -> np.int64:
    """Round a gain to a whole number of units of 1/2^20."""
    return np.int64(gain * GAIN_RESOLUTION + 0.5)


@strict_callee
def _fill_sums(
    sides: np.ndarray,
    label_gains: np.ndarray,
    normalizers: np.ndarray,
    sums: np.ndarray,
    scratch: TreeScratch,
) -> None:
    """Sum I(y_i) g_l y_il over the instances of each side."""
    sums[:] = 0
    for m in range(len(sides)):
        for e in range(scratch.entry_start[m], scratch.entry_start[m + 1]):
            c = scratch.entries[e]
            sums[sides[m], c] += to_gain_units(normalizers[m] * label_gains[c])


@strict_kernel
def update_ranking(
    sums: np.ndarray, keys: np.ndarray, changed: np.ndarray, changed_keys: np.ndarray
) -> None:
    """Order labels by falling sum, ties by number (eq. 11).

    A key holds a negative sum in its high bits and the label's number in its low bits. Keys of
    ``changed`` labels are sorted in the buffer ``changed_keys`` and merged into ``keys``, which
    holds the order before.
    """
    bits = _count_bits(len(sums))
    n_kept = 0
    n_changed = 0
    for c in range(len(sums)):
        if changed[c]:
            changed_keys[n_changed] = ((-sums[c]) << bits) | c
            n_changed += 1
    # the first ranking has no keys to keep
    if n_changed < len(keys):
        for rank in range(len(keys)):
            if not changed[keys[rank] & ((np.int64(1) << bits) - 1)]:
                keys[n_kept] = keys[rank]
                n_kept += 1
    changed_keys[:n_changed].sort()
    left = n_kept - 1
    right = n_changed - 1
    while right >= 0:
        if left >= 0 and keys[left] > changed_keys[right]:
            keys[left + right + 1] = keys[left]
            left -= 1
        else:
            keys[left + right + 1] = changed_keys[right]
            right -= 1


@strict_kernel
def decode_label(key: int, n: int) -> int:
    """Return the number of the label in a key of :func:`update_ranking`, one of n."""
    return key & ((np.int64(1) << _count_bits(n)) - 1)


@strict_callee
def _count_bits(n: int) -> np.int64:
    """Return the number of bits that hold numbers below n, at least 1."""
    bits = np.int64(1)
    while (np.int64(1) << bits) < n:
        bits += 1
    return bits


@strict_callee
def _fill_discount_differences(
    keys: np.ndarray, discounts: np.ndarray, differences: np.ndarray
) -> None:
    """Compute each label's discount on side +1 minus that on side -1."""
    n = len(differences)
    mask = (np.int64(1) << _count_bits(n)) - 1
    for rank in range(n):
        differences[keys[1, rank] & mask] = discounts[rank]
    for rank in range(n):
        differences[keys[0, rank] & mask] -= discounts[rank]


@strict_callee
def _reassign(
    sides: np.ndarray,
    separator_terms: np.ndarray,
    C_r: float,
    label_gains: np.ndarray,
    normalizers: np.ndarray,
    discount_differences: np.ndarray,
    sums: np.ndarray,
    changed: np.ndarray,
    scratch: TreeScratch,
) -> int:
    """Set delta_i = sign(v_i^- - v_i^+), unchanged on a tie; return how many instances moved."""
    n_moved = 0
    for m in range(len(sides)):
        gain = 0.0
        start = scratch.entry_start[m]
        end = scratch.entry_start[m + 1]
        for e in range(start, end):
            c = scratch.entries[e]
            gain += label_gains[c] * discount_differences[c]
        advantage = C_r * normalizers[m] * gain + separator_terms[m]
        better = sides[m]
        if advantage > TIE_TOLERANCE:
            better = 1
        elif advantage < -TIE_TOLERANCE:
            better = 0
        if better != sides[m]:
            for e in range(start, end):
                c = scratch.entries[e]
                amount = to_gain_units(normalizers[m] * label_gains[c])
                sums[better, c] += amount
                sums[1 - better, c] -= amount
                changed[c] = True
            sides[m] = better
            n_moved += 1
    return n_moved


@strict_callee
def _logistic_loss(margin: float) -> float:
    """Return log(1 + exp(-m)) of a margin m."""
    return max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))
