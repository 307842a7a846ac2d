"""What one thread grows its trees in."""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.problem import Workspace, make_workspace


class Scratch(NamedTuple):
    """What one thread grows trees in: vectors as long as the root needs; nodes use the beginnings."""

    members: np.ndarray  # int32 (n,); instances, those of each node together
    moved: np.ndarray  # int32 (n,); for dividing them
    sides: np.ndarray  # int8 (n,); 1 for delta = +1, 0 for -1
    pull: np.ndarray  # float64 (n,); what the separator adds to the choice of side
    normalisers: np.ndarray  # float64 (n,)
    entries: np.ndarray  # int32 (nonzeros of Y,); labels of the node's instances, renumbered
    entry_start: np.ndarray  # int64 (n + 1,)
    labels: np.ndarray  # int64 (l,); labels of the node, in the order of their numbers
    label_number: np.ndarray  # int32 (l,); the reverse; -1 between uses
    worth: np.ndarray  # float64 (l,); g, and the difference of both sides' discounts
    lead: np.ndarray
    sums: np.ndarray  # int64 (2 l,); gains of the labels on each side
    keys: np.ndarray  # int64 (2 l,); sums and labels in order, for each side
    fresh: np.ndarray  # int64 (l,); for sorting
    changed: np.ndarray  # bool (l,); labels whose sums are others than when they were ranked
    reach: np.ndarray  # float32 (d, 2); bounds of each feature's gradient, from either side; 0 between uses
    uses: np.ndarray  # int32 (d,); entries of each feature; 0 between uses
    slots: np.ndarray  # int64 (d,); where the next entry of each feature goes; -1 between uses
    features: np.ndarray  # int64 (d,)
    problem: Workspace


def make_scratch(X, Y):
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
