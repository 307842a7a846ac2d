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
            _rows(self.separators, first, last),
            _rows(self.distributions, first, last),
        )


def _rows(matrix, first, last):
    start, end = matrix.indptr[first], matrix.indptr[last]
    return CSR(
        matrix.data[start:end], matrix.indices[start:end], matrix.indptr[first : last + 1] - start, matrix.n_columns
    )


def join_trees(trees, d, n_labels):
    nothing = np.empty(0, np.int32)
    return Forest(
        _ends([tree.starts[1:] for tree in trees]),
        np.concatenate([nothing, *(tree.children for tree in trees)]),
        np.concatenate([nothing, *(tree.sizes for tree in trees)]),
        _stacked([tree.separators for tree in trees], d),
        _stacked([tree.distributions for tree in trees], n_labels),
    )


def _stacked(matrices, n_columns):
    return CSR(
        np.concatenate([np.empty(0, np.float32), *(matrix.data for matrix in matrices)]),
        np.concatenate([np.empty(0, np.int32), *(matrix.indices for matrix in matrices)]),
        _ends([matrix.indptr[1:] for matrix in matrices]),
        n_columns,
    )


def _ends(parts):
    """Where parts end once they stand one after the other, from the ends within each."""
    before = np.cumsum([0, *(part[-1] if len(part) else 0 for part in parts)])
    return np.concatenate([[0], *(part + shift for part, shift in zip(parts, before[:-1], strict=True))]).astype(
        np.int64
    )


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
    """Whether both children of each node stand behind it in its tree."""
    place = np.arange(len(children)) - np.repeat(starts[:-1], np.diff(starts))
    size = np.repeat(np.diff(starts), np.diff(starts))
    inner = children != 0
    return bool(((children > place) & (children < size - 1))[inner].all())
