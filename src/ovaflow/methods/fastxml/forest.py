"""Trees as arrays, one after the other."""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR, offsets


class Forest(NamedTuple):
    """Trees as arrays: children of a node are adjacent, those with <w, x> > 0 first; 0 marks a
    leaf.
    """

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
