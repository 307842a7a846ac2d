"""Trees as arrays, one after the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR, offsets


class Forest(NamedTuple):
    """Trees as arrays of their nodes.

    The children of a node are adjacent: instances with <w, x> > 0 go to the first one. Children
    are numbered within their tree, and 0 marks a leaf.
    """

    starts: np.ndarray  # int64 (T + 1,); first node of each tree
    children: np.ndarray  # int32 (m,)
    sizes: np.ndarray  # int32 (m,); training instances of each node
    separators: CSR  # (m, d); w of each node; empty at leaves
    distributions: CSR  # (m, l); label scores of each leaf

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.starts) - 1

    def tree(self, number: int) -> "Forest":
        """Return one tree as a forest, sharing memory."""
        first, last = self.starts[number : number + 2]
        return Forest(
            np.array([0, last - first]),
            self.children[first:last],
            self.sizes[first:last],
            self.separators.part(first, last),
            self.distributions.part(first, last),
        )


def join_trees(trees: Sequence[Forest], n_features: int, n_labels: int) -> Forest:
    """Join forests to one, in their order."""
    return Forest(
        offsets(_concatenate([np.diff(tree.starts) for tree in trees], np.int64)),
        _concatenate([tree.children for tree in trees], np.int32),
        _concatenate([tree.sizes for tree in trees], np.int32),
        _stack_rows([tree.separators for tree in trees], n_features),
        _stack_rows([tree.distributions for tree in trees], n_labels),
    )


def _stack_rows(matrices: Sequence[CSR], n_columns: int) -> CSR:
    """Stack matrices with the same columns below one another."""
    return CSR(
        _concatenate([matrix.data for matrix in matrices], np.float32),
        _concatenate([matrix.indices for matrix in matrices], np.int32),
        offsets(_concatenate([np.diff(matrix.indptr) for matrix in matrices], np.int64)),
        n_columns,
    )


def _concatenate(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    """Concatenate arrays, of which there may be none."""
    return np.concatenate([np.empty(0, dtype), *arrays])
