"""Labels by how often they occur in training: who is found, who is missed."""

from dataclasses import dataclass

import numpy as np

GROUPS = (("tail", 1, 5), ("torso", 6, 100), ("head", 101, None))
"""Name, fewest and most training positives of each group."""

BIN_STARTS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1001, 10001, 100001)
"""Fewest training positives of each bin of the figure."""


@dataclass(frozen=True)
class Tally:
    """What happened to each label in the test set.

    Attributes
    ----------
    true, predicted, hits : ndarray of int64, shape (l,)
        Instances that have it, instances for which it was among the first k,
        both.
    """

    true: np.ndarray
    predicted: np.ndarray
    hits: np.ndarray


@dataclass(frozen=True)
class Group:
    """Labels with similar numbers of training positives.

    Attributes
    ----------
    name : str
    range : str
        Numbers of training positives, in words.
    labels : int
    true, predicted, hits : int
        Sums of the tally.
    """

    name: str
    range: str
    labels: int
    true: int
    predicted: int
    hits: int

    @property
    def recall(self):
        """Share of the group's true (instance, label) pairs that were predicted; None without any."""
        return self.hits / self.true if self.true else None

    @property
    def precision(self):
        """Share of the group's predicted (instance, label) pairs that are true; None without any."""
        return self.hits / self.predicted if self.predicted else None


def hit_matrix(Y, ids):
    """Which predictions are true.

    Parameters
    ----------
    Y : CSR, shape (n, l)
    ids : ndarray of int, shape (n, k)
        -1 where nothing was predicted.

    Returns
    -------
    ndarray of bool, shape (n, k)
    """
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    true = rows * Y.n_columns + Y.indices
    predicted = np.arange(len(ids))[:, None] * Y.n_columns + ids
    return (ids >= 0) & np.isin(predicted, true)


def tally(Y, ids):
    """Count each label's true, predicted and matching occurrences.

    Parameters
    ----------
    Y : CSR, shape (n, l)
    ids : ndarray of int, shape (n, k)

    Returns
    -------
    Tally
    """
    hits = ids[hit_matrix(Y, ids)]
    return Tally(*(np.bincount(each, minlength=Y.n_columns) for each in (Y.indices, ids[ids >= 0], hits)))


def words(low, high):
    """A range of counts in words.

    Parameters
    ----------
    low : int
    high : int or None
        None: no upper end.

    Returns
    -------
    str
        Such as ``"1–5"``, ``"1"`` or ``"over 100"``.
    """
    if high is None:
        return f"over {low - 1:,}"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def group(counts, seen, ranges=GROUPS):
    """Sum a tally over ranges of training counts.

    Parameters
    ----------
    counts : ndarray of int, shape (l,)
        Training positives.
    seen : Tally
    ranges : sequence of (str, int, int or None)

    Returns
    -------
    list of Group
    """
    groups = []
    for name, low, high in ranges:
        members = (counts >= low) & (counts <= (np.inf if high is None else high))
        sums = (int(each[members].sum()) for each in (seen.true, seen.predicted, seen.hits))
        groups.append(Group(name, words(low, high), int(members.sum()), *sums))
    return groups


def bins(counts):
    """Narrow ranges of training counts for the figure, up to the most frequent label.

    Parameters
    ----------
    counts : ndarray of int, shape (l,)

    Returns
    -------
    list of (str, int, int)
        As ``ranges`` of :func:`group`.
    """
    most = int(counts.max(initial=1))
    starts = [start for start in BIN_STARTS if start <= most]
    ends = [start - 1 for start in starts[1:]] + [most]
    return [(words(low, high), low, high) for low, high in zip(starts, ends, strict=True)]
