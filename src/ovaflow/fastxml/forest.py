"""Trees as arrays, one after the other."""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import create_array, map_vector, read_csr, read_offsets, write_csr
from ovaflow.storage.refusals import damaged


class Forest(NamedTuple):
    """Trees as arrays: children of a node are adjacent, those with <w, x> > 0 first; 0 marks a leaf."""

    starts: np.ndarray  # int64 (T + 1,); first node of each tree
    children: np.ndarray  # int32 (m,)
    sizes: np.ndarray  # int32 (m,); training instances of each node
    separators: CSR  # (m, d); w of each node; empty at leaves
    distributions: CSR  # (m, l); label scores of each leaf

    @property
    def n_trees(self):
        """Number of trees."""
        return len(self.starts) - 1

    def tree(self, number):
        """One tree, as a forest of its own."""
        first, last = self.starts[number : number + 2]
        return Forest(
            np.array([0, last - first]),
            self.children[first:last],
            self.sizes[first:last],
            self.separators.part(first, last),
            self.distributions.part(first, last),
        )


def join_trees(trees, d, n_labels):
    """One forest of the trees of several."""
    return Forest(
        _offsets([np.diff(tree.starts) for tree in trees]),
        _joined([tree.children for tree in trees], np.int32),
        _joined([tree.sizes for tree in trees], np.int32),
        _stacked([tree.separators for tree in trees], d),
        _stacked([tree.distributions for tree in trees], n_labels),
    )


def _stacked(matrices, n_columns):
    return CSR(
        _joined([matrix.data for matrix in matrices], np.float32),
        _joined([matrix.indices for matrix in matrices], np.int32),
        _offsets([np.diff(matrix.indptr) for matrix in matrices]),
        n_columns,
    )


def _joined(parts, dtype):
    return np.concatenate([np.empty(0, dtype), *parts])


def _offsets(lengths):
    return np.cumsum(_joined([[0], *lengths], np.int64))


def write_forest(group, forest):
    for name in ("starts", "children", "sizes"):
        create_array(group, name, getattr(forest, name))
    for name in ("separators", "distributions"):
        write_csr(group.create_group(name), getattr(forest, name))


def read_forest(group):
    """A group's forest, arrays mapped; refused where a way down a tree leads out of it or in a circle."""
    starts = read_offsets(group["starts"])
    children, sizes = (map_vector(group[name], np.int32, 0) for name in ("children", "sizes"))
    forest = Forest(starts, children, sizes, read_csr(group["separators"]), read_csr(group["distributions"]))
    if not starts[-1] == len(children) == len(sizes) == forest.separators.n_rows == forest.distributions.n_rows:
        raise damaged(group, f"{group.name}: arrays of different lengths")
    if (np.diff(starts) < 1).any() or not _leads_down(starts, children):
        raise damaged(group, f"{group.name}: a node whose children are not below it")
    return forest


def _leads_down(starts, children):
    """Whether both children of each node come after it in its tree."""
    place = np.arange(len(children)) - np.repeat(starts[:-1], np.diff(starts))
    size = np.repeat(np.diff(starts), np.diff(starts))
    inner = children != 0
    return bool(((children > place) & (children < size - 1))[inner].all())
