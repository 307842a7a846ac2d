"""Arrays in which a thread grows trees."""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.problem import Workspace, make_workspace
from ovaflow.sparse.csr import CSR


class TreeScratch(NamedTuple):
    """Working arrays of one thread, long enough for the root; other nodes use their beginnings."""

    members: np.ndarray  # int32 (n,); instances, ordered by node
    sides_before: np.ndarray  # int8 (n,); sides before the last update
    sides: np.ndarray  # int8 (n,); 1 for delta = +1, 0 for -1
    separator_terms: np.ndarray  # float64 (n,); the separator's part in the choice of side
    normalizers: np.ndarray  # float64 (n,); I(y) of the node's instances
    entries: np.ndarray  # int32 (nonzeros of Y,); labels of the node's instances, renumbered
    entry_start: np.ndarray  # int64 (n + 1,); the first entry of each instance
    labels: np.ndarray  # int64 (l,); labels of the node, in the order of their numbers
    label_number: np.ndarray  # int32 (l,); inverse of ``labels``; -1 between uses
    label_gains: np.ndarray  # float64 (l,); g of the node's labels
    discount_differences: np.ndarray  # float64 (l,); discounts on side +1 minus those on side -1
    sums: np.ndarray  # int64 (2 l,); gains of the labels on each side
    keys: np.ndarray  # int64 (2 l,); sums and labels in order, for each side
    changed_keys: np.ndarray  # int64 (l,); keys of the labels whose sums have changed
    changed: np.ndarray  # bool (l,); labels whose sums have changed since they were ranked
    # float32 (d, 2); bounds of each feature's gradient in both directions; 0 between uses
    gradient_bounds: np.ndarray
    entry_counts: np.ndarray  # int32 (d,); entries of each feature; 0 between uses
    slots: np.ndarray  # int64 (d,); position of each feature's next entry; -1 between uses
    features: np.ndarray  # int64 (d,); features of the node's separator
    problem: Workspace


def make_tree_scratch(X: CSR, Y: CSR) -> TreeScratch:
    """Allocate the working arrays for trees over X (n, d) and Y (n, l)."""
    n = X.n_rows
    d = X.n_columns
    n_labels = Y.n_columns
    return TreeScratch(
        members=np.empty(n, np.int32),
        sides_before=np.empty(n, np.int8),
        sides=np.empty(n, np.int8),
        separator_terms=np.empty(n),
        normalizers=np.empty(n),
        entries=np.empty(len(Y.indices), np.int32),
        entry_start=np.empty(n + 1, np.int64),
        labels=np.empty(n_labels, np.int64),
        label_number=np.full(n_labels, -1, np.int32),
        label_gains=np.empty(n_labels),
        discount_differences=np.empty(n_labels),
        sums=np.empty(2 * n_labels, np.int64),
        keys=np.empty(2 * n_labels, np.int64),
        changed_keys=np.empty(n_labels, np.int64),
        changed=np.empty(n_labels, bool),
        gradient_bounds=np.zeros((d, 2), np.float32),
        entry_counts=np.zeros(d, np.int32),
        slots=np.full(d, -1, np.int64),
        features=np.empty(d, np.int64),
        problem=make_workspace(n, d),
    )
