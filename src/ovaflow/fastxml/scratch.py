"""What one thread grows its trees in."""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.problem import Workspace, make_workspace


class Scratch(NamedTuple):
    """Vectors as long as the root needs them; a node uses the beginnings.

    Attributes
    ----------
    members : ndarray of int32, shape (n,)
        Instances, those of each node together.
    moved : ndarray of int32, shape (n,)
        For dividing them.
    sides : ndarray of int8, shape (n,)
        1 for delta = +1, 0 for -1.
    pull : ndarray of float64, shape (n,)
        What the separator adds to the choice of side.
    normalisers : ndarray of float64, shape (n,)
    entries : ndarray of int32, shape (nonzeros of Y,)
        Labels of the node's instances, renumbered.
    entry_start : ndarray of int64, shape (n + 1,)
    labels : ndarray of int64, shape (l,)
        Labels of the node, in the order of their numbers.
    label_number : ndarray of int32, shape (l,)
        The reverse; -1 between uses.
    worth, lead : ndarray of float64, shape (l,)
        g, and the difference of both sides' discounts.
    sums : ndarray of int64, shape (2 l,)
        Gains of the labels on each side.
    keys : ndarray of int64, shape (2 l,)
        Sums and labels in order, for each side.
    fresh : ndarray of int64, shape (l,)
        For sorting.
    changed : ndarray of bool, shape (l,)
        Labels whose sums are others than when they were ranked.
    reach : ndarray of float32, shape (d, 2)
        Bounds of each feature's gradient, from either side; 0 between uses.
    uses : ndarray of int32, shape (d,)
        Entries of each feature; 0 between uses.
    slots : ndarray of int64, shape (d,)
        Where the next entry of each feature goes; -1 between uses.
    features : ndarray of int64, shape (d,)
    problem : Workspace
    """

    members: np.ndarray
    moved: np.ndarray
    sides: np.ndarray
    pull: np.ndarray
    normalisers: np.ndarray
    entries: np.ndarray
    entry_start: np.ndarray
    labels: np.ndarray
    label_number: np.ndarray
    worth: np.ndarray
    lead: np.ndarray
    sums: np.ndarray
    keys: np.ndarray
    fresh: np.ndarray
    changed: np.ndarray
    reach: np.ndarray
    uses: np.ndarray
    slots: np.ndarray
    features: np.ndarray
    problem: Workspace


def make_scratch(X, Y):
    """Allocate what one thread grows trees in.

    Parameters
    ----------
    X : CSR, shape (n, d)
    Y : CSR, shape (n, l)

    Returns
    -------
    Scratch
    """
    n, d, labels = X.n_rows, X.n_columns, Y.n_columns
    return Scratch(
        members=np.empty(n, np.int32),
        moved=np.empty(n, np.int32),
        sides=np.empty(n, np.int8),
        pull=np.empty(n),
        normalisers=np.empty(n),
        entries=np.empty(len(Y.indices), np.int32),
        entry_start=np.empty(n + 1, np.int64),
        labels=np.empty(labels, np.int64),
        label_number=np.full(labels, -1, np.int32),
        worth=np.empty(labels),
        lead=np.empty(labels),
        sums=np.empty(2 * labels, np.int64),
        keys=np.empty(2 * labels, np.int64),
        fresh=np.empty(labels, np.int64),
        changed=np.empty(labels, bool),
        reach=np.zeros((d, 2), np.float32),
        uses=np.zeros(d, np.int32),
        slots=np.full(d, -1, np.int64),
        features=np.empty(d, np.int64),
        problem=make_workspace(n, d),
    )
