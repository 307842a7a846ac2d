"""Trees as arrays, one after the other."""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR, offsets
from ovaflow.storage.arrays import create_array, map_array, read_csr, write_csr

_ARRAYS, _MATRICES = ("starts", "children", "sizes"), ("separators", "distributions")


class Forest(NamedTuple):
    """Trees as arrays: children of a node are adjacent, those with <w, x> > 0 first; 0 marks a leaf."""

    starts: np.ndarray  # int64 (T + 1,); first node of each tree
    children: np.ndarray  # int32 (m,)
    sizes: np.ndarray  # int32 (m,); training instances of each node
    separators: CSR  # (m, d); w of each node; empty at leaves
    distributions: CSR  # (m, l); label scores of each leaf

    @property
    def n_trees(self):
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
    return Forest(
        offsets(_joined([np.diff(tree.starts) for tree in trees], np.int64)),
        _joined([tree.children for tree in trees], np.int32),
        _joined([tree.sizes for tree in trees], np.int32),
        _stacked([tree.separators for tree in trees], d),
        _stacked([tree.distributions for tree in trees], n_labels),
    )


def _stacked(matrices, n_columns):
    return CSR(
        _joined([matrix.data for matrix in matrices], np.float32),
        _joined([matrix.indices for matrix in matrices], np.int32),
        offsets(_joined([np.diff(matrix.indptr) for matrix in matrices], np.int64)),
        n_columns,
    )


def _joined(parts, dtype):
    return np.concatenate([np.empty(0, dtype), *parts])


def write_forest(group, forest):
    for name in _ARRAYS:
        create_array(group, name, getattr(forest, name))
    for name in _MATRICES:
        write_csr(group.create_group(name), getattr(forest, name))


def read_forest(group):
    arrays = {name: map_array(group[name]) for name in _ARRAYS}
    return Forest(**arrays, **{name: read_csr(group[name]) for name in _MATRICES})
