"""The first two steps of a node: rank the labels of both sides, send each instance where it is
ranked better.

Algorithm 2 and eq. 11 and 13 of the paper, on the node's own labels renumbered.
Sums of gains are whole numbers, so that equal sums are equal whatever their
order, and an instance that changes sides takes its part along exactly. Ties
are broken by a random order of the labels that the node draws.
"""

import math

import numpy as np

from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.splitmix import mixed

GOLDEN_GAMMA = 0x9E3779B97F4A7C15

GAIN_RESOLUTION = 1 << 20
"""Gains are counted in units of 1/2^20: sums of all instances and a label's number share 63 bits.
"""

TIE_TOLERANCE = 1e-12
"""Costs of the two sides that differ by less are equal but for rounding."""

MAX_ASSIGNMENT_ROUNDS = 1000
"""The paper proves an end (theorem 1), in exact arithmetic; some tens are usual."""


@strict_kernel
def derive_seed(seed, number):
    """A seed for one of many, such as a tree of a forest or a node of a tree."""
    return mixed(np.uint64(seed) + (np.uint64(number) + np.uint64(1)) * np.uint64(GOLDEN_GAMMA))


@strict_kernel
def shuffle(items, seed) -> None:
    """Put items in a random order (Fisher-Yates)."""
    for place in range(len(items) - 1, 0, -1):
        # the high half times the range, since a remainder would cost a division
        other = ((derive_seed(seed, place) >> np.uint64(32)) * np.uint64(place + 1)) >> np.uint64(
            32
        )
        items[place], items[other] = items[other], items[place]


@strict_kernel
def gather_labels(Y, members, seed, scratch):
    """Number a node's labels in random order, as ``entries`` from ``entry_start``; returns how
    many.
    """
    labels = scratch.labels
    number = scratch.label_number
    entries = scratch.entries
    starts = scratch.entry_start
    count = used = 0
    for m in range(len(members)):
        starts[m] = used
        for k in range(Y.indptr[members[m]], Y.indptr[members[m] + 1]):
            label = Y.indices[k]
            if number[label] < 0:
                number[label] = count
                labels[count] = label
                count += 1
            entries[used] = label
            used += 1
    starts[len(members)] = used
    shuffle(labels[:count], seed)
    for c in range(count):
        number[labels[c]] = c
    for e in range(used):
        entries[e] = number[entries[e]]
    for c in range(count):
        number[labels[c]] = -1
    return count


@strict_kernel
def toss_sides(sides, seed) -> None:
    """delta: each instance on either side by a coin (1 for +1, 0 for -1)."""
    for m in range(len(sides)):
        sides[m] = derive_seed(seed, m) >> np.uint64(63)


@strict_kernel
def fill_separator_terms(scores, costs, pull) -> None:
    """What the separator adds to v_i^- - v_i^+ (eq. 13): C_delta(-1) log(1 + e^s) - C_delta(+1)
    log(1 + e^-s).
    """
    for m in range(len(scores)):
        pull[m] = costs[0] * _loss(-scores[m]) - costs[1] * _loss(scores[m])


@strict_kernel
def assign_sides(members, sides, pull, gains, C_r, n_labels, scratch):
    """Repeat both steps until no instance changes sides (eq. 11 and 13); returns how many are on
    side +1.
    """
    # g of the node's labels, and I(y) of its instances
    worth = scratch.worth[:n_labels]
    normalisers = scratch.normalisers[: len(members)]
    for c in range(n_labels):
        worth[c] = gains.labels[scratch.labels[c]]
    for m in range(len(members)):
        normalisers[m] = gains.normalisers[members[m]]
    sums = scratch.sums[: 2 * n_labels].reshape(2, n_labels)
    keys = scratch.keys[: 2 * n_labels].reshape(2, n_labels)
    lead = scratch.lead[:n_labels]
    changed = scratch.changed[:n_labels]
    _fill_sums(sides, worth, normalisers, sums, scratch)
    changed[:] = True
    for _ in range(MAX_ASSIGNMENT_ROUNDS):
        for side in range(2):
            update_ranking(sums[side], keys[side], changed, scratch.fresh)
        _fill_lead(keys, gains.discounts, lead)
        changed[:] = False
        if not _reassign(sides, pull, C_r, worth, normalisers, lead, sums, changed, scratch):
            break
    return sides.sum()


@strict_kernel
def to_gain_units(gain):
    return np.int64(gain * GAIN_RESOLUTION + 0.5)


@strict_kernel
def _fill_sums(sides, worth, normalisers, sums, scratch) -> None:
    """sum_i I(y_i) g_l y_il over the instances of each side."""
    sums[:] = 0
    for m in range(len(sides)):
        for e in range(scratch.entry_start[m], scratch.entry_start[m + 1]):
            c = scratch.entries[e]
            sums[sides[m], c] += to_gain_units(normalisers[m] * worth[c])


@strict_kernel
def update_ranking(sums, keys, changed, fresh) -> None:
    """Order by falling sum, ties to the smaller number (eq. 11): sums that changed are merged into
    ``keys``.
    """
    bits = _bits(len(sums))
    kept = n_fresh = 0
    for c in range(len(sums)):
        if changed[c]:
            fresh[n_fresh] = ((-sums[c]) << bits) | c
            n_fresh += 1
    # at first there are no keys to keep
    for place in range(len(keys) if n_fresh < len(keys) else 0):
        if not changed[keys[place] & ((np.int64(1) << bits) - 1)]:
            keys[kept] = keys[place]
            kept += 1
    fresh[:n_fresh].sort()
    left = kept - 1
    right = n_fresh - 1
    while right >= 0:
        if left >= 0 and keys[left] > fresh[right]:
            keys[left + right + 1] = keys[left]
            left -= 1
        else:
            keys[left + right + 1] = fresh[right]
            right -= 1


@strict_kernel
def decode_label(key, n):
    """Number in a key of :func:`update_ranking` among n."""
    return key & ((np.int64(1) << _bits(n)) - 1)


@strict_kernel
def _bits(n):
    bits = np.int64(1)
    while (np.int64(1) << bits) < n:
        bits += 1
    return bits


@strict_kernel
def _fill_lead(keys, discounts, lead) -> None:
    """How much more each label's discount is on side +1."""
    n = len(lead)
    mask = (np.int64(1) << _bits(n)) - 1
    for place in range(n):
        lead[keys[1, place] & mask] = discounts[place]
    for place in range(n):
        lead[keys[0, place] & mask] -= discounts[place]


@strict_kernel
def _reassign(sides, pull, C_r, worth, normalisers, lead, sums, changed, scratch):
    """delta_i = sign(v_i^- - v_i^+), unchanged on a tie; returns how many moved."""
    moved = 0
    for m in range(len(sides)):
        gain = 0.0
        start = scratch.entry_start[m]
        end = scratch.entry_start[m + 1]
        for e in range(start, end):
            c = scratch.entries[e]
            gain += worth[c] * lead[c]
        advantage = C_r * normalisers[m] * gain + pull[m]
        better = 1 if advantage > TIE_TOLERANCE else 0 if advantage < -TIE_TOLERANCE else sides[m]
        if better != sides[m]:
            for e in range(start, end):
                c = scratch.entries[e]
                amount = to_gain_units(normalisers[m] * worth[c])
                sums[better, c] += amount
                sums[1 - better, c] -= amount
                changed[c] = True
            sides[m] = better
            moved += 1
    return moved


@strict_kernel
def _loss(margin):
    """log(1 + exp(-m))."""
    return max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))
