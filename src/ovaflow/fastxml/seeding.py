"""Random numbers that depend on the seed, the tree and the node alone."""

import numpy as np

from ovaflow.sparse.jit import strict_kernel

GOLDEN = 0x9E3779B97F4A7C15


@strict_kernel
def mixed(state):
    """Next output of SplitMix64 (Steele, Lea and Flood 2014) for a state."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@strict_kernel
def seed_of(seed, number):
    """A seed for one of many, such as a tree of a forest or a node of a tree."""
    return mixed(np.uint64(seed) + (np.uint64(number) + np.uint64(1)) * np.uint64(GOLDEN))


@strict_kernel
def toss(seed, number):
    """0 or 1, each as likely: coin number ``number`` of a seed."""
    return seed_of(seed, number) >> np.uint64(63)


@strict_kernel
def shuffle(items, seed):
    """Put items in a random order (Fisher-Yates)."""
    for place in range(len(items) - 1, 0, -1):
        # the high half times the range, since a remainder would cost a division
        other = ((seed_of(seed, place) >> np.uint64(32)) * np.uint64(place + 1)) >> np.uint64(32)
        items[place], items[other] = items[other], items[place]
