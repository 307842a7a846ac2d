"""Labels by how often they occur in training: who is found, who is missed."""

from dataclasses import dataclass

from ovaflow.evaluation.groups import frequency_groups

NAMES = {1: "tail", 6: "torso", 101: "head"}
"""Fewest training positives of a group and its name."""

BIN_STARTS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1001, 10001, 100001)
"""Fewest training positives of each bin of the figure."""

_SUMS = ("labels", "true", "predicted", "hits")


@dataclass(frozen=True)
class Group:
    """Labels with similar numbers of training positives.

    Attributes
    ----------
    name : str
        Empty for the bins of the figure.
    range : str
        Numbers of training positives, in words.
    labels : int
    true, predicted, hits : int
        (instance, label) pairs of the test set: true, predicted, both.
    """

    name: str
    range: str
    labels: int
    true: int
    predicted: int
    hits: int

    @property
    def recall(self):
        """Share of the group's true pairs that were predicted; None without any."""
        return self.hits / self.true if self.true else None

    @property
    def precision(self):
        """Share of the group's predicted pairs that are true; None without any."""
        return self.hits / self.predicted if self.predicted else None


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


def group(ids, hits, Y, counts, starts):
    """Sum up predictions over groups of labels.

    Parameters
    ----------
    ids : ndarray of int, shape (n, k)
        Predictions, -1 where there is none.
    hits : ndarray of bool, shape (n, k)
        Which of them are true.
    Y : CSR, shape (n, l)
    counts : ndarray of int, shape (l,)
        Training positives.
    starts : sequence of int
        Fewest training positives of each group, from 1.

    Returns
    -------
    list of Group
        Those with labels, rarest first.
    """
    rows = frequency_groups(ids, hits, Y, counts, ids.shape[1], (0, *starts))
    return [
        Group(NAMES.get(row["from"], ""), words(row["from"], row["to"]), *(row[key] for key in _SUMS))
        for row in rows
        if row["from"] > 0
    ]
