"""Hashes and random numbers: SplitMix64 (Steele, Lea and Flood 2014)."""

import numpy as np

from ovaflow.sparse.jit import strict_callee


@strict_callee
def mix_bits(state: np.uint64) -> np.uint64:
    """Compute the output for a state."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
