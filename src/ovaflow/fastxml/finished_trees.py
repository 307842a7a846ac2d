"""Trees that a shard job has finished: what its journal keeps of them, and what the job that continues makes of it."""

import struct
import sys
from typing import NamedTuple

import numpy as np

from ovaflow.fastxml.forest import Forest
from ovaflow.sparse.csr import CSR
from ovaflow.storage.journal import CoreTime

_SECONDS = struct.Struct("<d")


class FinishedTree(NamedTuple):
    """A tree.

    Attributes
    ----------
    forest : Forest
        Of this tree alone.
    seconds : float
        Time spent on it.
    """

    forest: Forest
    seconds: float


class FinishedTrees:
    """Trees of a shard as they are finished, and those that earlier attempts finished.

    Parameters
    ----------
    journal : Journal or None
        None keeps nothing.
    threads : int
    d, n_labels : int
    """

    def __init__(self, journal, threads, d, n_labels):
        self._journal, self._d, self._n_labels = journal, d, n_labels
        self._time = CoreTime(threads)

    @property
    def core_seconds(self):
        """Of all attempts, so far."""
        return self._time.core_seconds

    def earlier(self, numbers, title):
        """What earlier attempts finished.

        Parameters
        ----------
        numbers : sequence of int
        title : str
            Of the job, for the log.

        Returns
        -------
        dict of int to FinishedTree
        """
        parts = [] if self._journal is None else self._journal.finished()
        if parts:
            self._time.before = self._journal.core_seconds
            print(f"{title}: continues, {len(parts)} of {len(numbers)} trees were finished", file=sys.stderr)
        return {number: self._tree(*_SECONDS.unpack(note), *arrays) for number, note, arrays in parts}

    def keep(self, number, grown, seconds):
        """Keep a finished tree.

        Parameters
        ----------
        number : int
        grown : tuple
            By :func:`ovaflow.fastxml.growing.grow_tree`.
        seconds : float

        Returns
        -------
        FinishedTree
        """
        children, sizes, separators, distributions = grown
        arrays = [children, sizes, *separators, *distributions]
        if self._journal is not None:
            self._journal.add(number, seconds, self.core_seconds, _SECONDS.pack(seconds), arrays)
        return self._tree(seconds, *arrays)

    def _tree(self, seconds, children, sizes, *matrices):
        separators, distributions = CSR(*matrices[:3], self._d), CSR(*matrices[3:], self._n_labels)
        forest = Forest(np.array([0, len(children)]), children, sizes, separators, distributions)
        return FinishedTree(forest, seconds)
