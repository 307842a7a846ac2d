"""The label-tree start: at the parent's solution (OVA-Primal++, Fang et al. 2019, sec. 3.4-3.6)."""

from collections.abc import Mapping
from threading import Lock

import numpy as np

from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.start import Solution, Start
from ovaflow.sparse.csr import CSR


class LabelTreeStart(Start):
    """Start of each label at its parent's solution, or at the root.

    Solutions are kept until the last child has started there.
    """

    parents: np.ndarray

    def __init__(self, root: np.ndarray, parents: np.ndarray) -> None:
        self.parents = parents
        self._root = root
        self._n_children = _count_children(parents, len(parents))
        self._solutions: dict[int, Solution] = {}
        self._lock = Lock()

    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
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

    def resume(self, labels: np.ndarray, solutions: Mapping[int, Solution]) -> None:
        self._n_children = _count_children(self.parents[labels], len(self.parents))
        for label, solution in solutions.items():
            if self._n_children[label]:
                self._solutions[label] = solution

    def keep(self, label: int, features: np.ndarray, weights: np.ndarray) -> Solution | None:
        if not self._n_children[label]:
            return None
        solution = features.astype(np.int32), weights.copy()
        self._solutions[label] = solution
        return solution


def _count_children(parents: np.ndarray, n_labels: int) -> np.ndarray:
    """Count how many of some labels start at each label, from the parents of those labels."""
    return np.bincount(parents[parents != ROOT_PARENT], minlength=n_labels)


def restrict_parents(parents: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Restrict parents to a job of some labels.

    ROOT_PARENT replaces the parent of a label where either is solved elsewhere.
    """
    is_in_job = np.zeros(len(parents) + 1, bool)
    is_in_job[labels] = True
    # index -1, the root, is the last entry
    return np.where(is_in_job[:-1] & is_in_job[parents], parents, ROOT_PARENT).astype(np.int32)


def add_ancestors(labels: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Add to labels, in their order, all others that must be solved before them."""
    is_needed = np.zeros(len(parents), bool)
    above = parents[labels]
    while (above := np.unique(above[above != ROOT_PARENT])).size:
        is_needed[above] = True
        above = parents[above]
    is_needed[labels] = False
    return np.concatenate([labels, np.flatnonzero(is_needed)])


def order_parents_first(labels: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Order labels so that each can be solved after its parent."""
    depth = np.zeros(len(parents), np.int64)
    above = parents.copy()
    while (has_ancestor := above != ROOT_PARENT).any():
        depth[has_ancestor] += 1
        above[has_ancestor] = parents[above[has_ancestor]]
    return labels[np.argsort(depth[labels], kind="stable")]
