"""Trees as arrays, one after the other."""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import create_array, map_vector, read_csr, read_offsets, write_csr
from ovaflow.storage.damage import damaged


class Forest(NamedTuple):
    """Trees as arrays.

    A node's two children stand side by side, at ``children`` and the place
    after it, counted from the first node of the tree; instances with
    <w, x> > 0 go to the first. 0 marks a leaf.

    Attributes
    ----------
    starts : ndarray of int64, shape (T + 1,)
        First node of each tree.
    children : ndarray of int32, shape (m,)
    sizes : ndarray of int32, shape (m,)
        Training instances of each node.
    separators : CSR, shape (m, d)
        w of each node; empty at leaves.
    distributions : CSR, shape (m, l)
        Label scores of each leaf.
    """

    starts: np.ndarray
    children: np.ndarray
    sizes: np.ndarray
    separators: CSR
    distributions: CSR

    @property
    def n_trees(self):
        """Number of trees."""
        return len(self.starts) - 1

    def tree(self, number):
        """One tree, as a forest of its own.

        Parameters
        ----------
        number : int

        Returns
        -------
        Forest
        """
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
    """Put trees one after the other.

    Parameters
    ----------
    trees : sequence of Forest
    d, n_labels : int

    Returns
    -------
    Forest
    """
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
    """Store a forest in a group.

    Parameters
    ----------
    group : h5py.Group
    forest : Forest
    """
    for name in ("starts", "children", "sizes"):
        create_array(group, name, getattr(forest, name))
    for name in ("separators", "distributions"):
        write_csr(group.create_group(name), getattr(forest, name))


def read_forest(group):
    """Forest of a group; arrays are mapped.

    Parameters
    ----------
    group : h5py.Group

    Returns
    -------
    Forest

    Raises
    ------
    InputError
        If its arrays do not fit together, or a way down a tree leads out of it or in a circle.
    """
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
