"""The label-tree start: at the parent's solution (OVA-Primal++, Fang et al. 2019, sec. 3.4-3.6)."""

from threading import Lock

import numpy as np

from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.start import Start


class LabelTreeStart(Start):
    """Labels start at their parent's solution, kept for its last child, or at the root."""

    def __init__(self, root, parents) -> None:
        self.parents = parents
        self._root = root
        self._n_children = _children(parents, parents)
        self._solutions = {}
        self._lock = Lock()

    def fill(self, label, X, positives, weights) -> None:
        parent = int(self.parents[label])
        if parent == ROOT_PARENT:
            weights[:] = self._root
            return
        features, values = self._solutions[parent]
        weights[:] = 0.0
        weights[features] = values
        with self._lock:
            self._n_children[parent] -= 1
            if not self._n_children[parent]:
                del self._solutions[parent]

    def resume(self, labels, solutions) -> None:
        self._n_children = _children(self.parents[labels], self.parents)
        for label, solution in solutions.items():
            if self._n_children[label]:
                self._solutions[label] = solution

    def keep(self, label, features, weights):
        if not self._n_children[label]:
            return None
        self._solutions[label] = features.astype(np.int32), weights.copy()
        return self._solutions[label]


def _children(above, parents):
    """How many of some labels start at each label, from the parents of those labels."""
    return np.bincount(above[above != ROOT_PARENT], minlength=len(parents))


def restrict_parents(parents, labels):
    """Parents within a job of some labels: ROOT where parent or label is solved elsewhere."""
    here = np.zeros(len(parents) + 1, bool)
    here[labels] = True
    # index -1, the root, is the last entry
    return np.where(here[:-1] & here[parents], parents, ROOT_PARENT).astype(np.int32)


def add_ancestors(labels, parents):
    """Labels in their order, then all others that must be solved before them."""
    needed = np.zeros(len(parents), bool)
    above = parents[labels]
    while (above := np.unique(above[above != ROOT_PARENT])).size:
        needed[above] = True
        above = parents[above]
    needed[labels] = False
    return np.concatenate([labels, np.flatnonzero(needed)])


def order_parents_first(labels, parents):
    """Labels in an order in which each can be solved after its parent."""
    depth = np.zeros(len(parents), np.int64)
    above = parents.copy()
    while (below := above != ROOT_PARENT).any():
        depth[below] += 1
        above[below] = parents[above[below]]
    return labels[np.argsort(depth[labels], kind="stable")]
