"""OVA-MST: the minimum spanning tree over labels and the all-negative root.

Fang et al. 2019 (OVA-Primal++), sections 3.4-3.6. The vertices are the labels and the root, which
is a label without positives; the weight of an edge is the Hamming distance of two label columns,
|P_i| + |P_j| - 2 |P_i & P_j|, to the root |P_i|. The tree is unique here: among edges of equal
weight those to the root come first (short trees train in parallel), then those of smaller label
ids.

Two facts keep memory at O(l). In the cycle root, i, j the heaviest edge belongs to no tree, so a
pair counts only if 2 |P_i & P_j| > min(|P_i|, |P_j|). And the tree of a set of edges is the tree of
any part's tree and the rest, so whenever a buffer of edges is full, only the tree's stay.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.console.progress import Progress
from ovaflow.sparse.csr import CSR, transpose
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.artifact import Artifact

ROOT_PARENT = -1
"""Parent of the labels that are children of the all-negative root."""

_BUFFERED_EDGES = 1 << 22
"""Edges in memory, at 12 bytes each, or four per label if that is more; the tree does not depend on
it.
"""

_LABELS_PER_STEP = 4096
"""Labels between two reports of progress."""


@dataclass(frozen=True)
class LabelTree(Artifact, kind="label-tree", made_from=("dataset",)):
    """A spanning tree over labels, directed away from the all-negative root."""

    parent: np.ndarray  # ROOT_PARENT for children of the root
    distance: np.ndarray  # Hamming distance to the parent's column; to the root, the positives
    order: np.ndarray  # all labels depth first: parents before children, siblings ascending
    subtree: np.ndarray  # number of the label's subtree below the root, ascending along `order`
    depth: np.ndarray  # 1 for children of the root
    subtrees: int
    height: int  # edges on the longest path down from the root
    total_cost: int
    star_cost: int  # if all labels were children of the root: the (instance, label) pairs


class _Edges(NamedTuple):
    """Edges between labels, or from a label to the root, which is vertex l; int32."""

    head: np.ndarray
    tail: np.ndarray
    weight: np.ndarray


def compute_label_tree(Y: CSR) -> LabelTree:
    """Compute the exact minimum spanning tree of the labels and the all-negative root."""
    positives = transpose(Y)
    edges = _find_spanning_edges(Y, positives)
    return _direct_tree(edges, star_cost=int(positives.indptr[-1]))


def _find_spanning_edges(Y: CSR, positives: CSR) -> _Edges:
    """Find the l edges of the tree."""
    n_labels = Y.n_columns
    capacity = max(4 * n_labels, _BUFFERED_EDGES)
    edges = _Edges(
        np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    )
    edges.head[:n_labels] = np.arange(n_labels)
    edges.tail[:n_labels] = n_labels
    edges.weight[:n_labels] = np.diff(positives.indptr)
    shared = np.zeros(n_labels, np.int32)
    size = n_labels
    label = 0
    with Progress("label tree", n_labels, "labels") as progress:
        while label < n_labels:
            stop = min(label + _LABELS_PER_STEP, n_labels)
            reached, size = _append_pairs(
                Y.indices,
                Y.indptr,
                positives.indices,
                positives.indptr,
                label,
                stop,
                shared,
                edges,
                size,
            )
            if reached < stop:
                size = _keep_tree(edges, size, n_labels)
            progress.advance(reached - label)
            label = reached
    size = _keep_tree(edges, size, n_labels)
    return _Edges(edges.head[:size], edges.tail[:size], edges.weight[:size])


@strict_kernel
def _append_pairs(
    labels: np.ndarray,
    label_starts: np.ndarray,
    instances: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    shared: np.ndarray,
    edges: _Edges,
    size: int,
) -> tuple[int, int]:
    """Append the edges of labels first..last to smaller labels that may belong to the tree.

    These are (i, j, |P_i| + |P_j| - 2 |P_i & P_j|) for j < i with
    2 |P_i & P_j| > min(|P_i|, |P_j|). Returns the next label, less than last when the buffer is
    full, and the number of edges.

    Parameters
    ----------
    labels, label_starts
        Labels of each instance, ascending, and where they begin, (n + 1,).
    instances, starts
        Positives of each label, and where they begin, (l + 1,).
    shared
        Scratch of shape (l,), zero between uses.
    edges, size
        The buffer, and how many edges it holds.
    """
    touched = np.empty(len(shared), np.int32)
    for i in range(first, last):
        if size + i > len(edges.head):
            return i, size
        n_touched = 0
        for k in range(starts[i], starts[i + 1]):
            for m in range(label_starts[instances[k]], label_starts[instances[k] + 1]):
                j = labels[m]
                if j >= i:
                    break
                if shared[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                shared[j] += 1
        positives_i = starts[i + 1] - starts[i]
        for j in touched[:n_touched]:
            positives_j = starts[j + 1] - starts[j]
            if 2 * shared[j] > min(positives_i, positives_j):
                edges.head[size] = i
                edges.tail[size] = j
                edges.weight[size] = positives_i + positives_j - 2 * shared[j]
                size += 1
            shared[j] = 0
    return last, size


def _keep_tree(edges: _Edges, size: int, n_labels: int) -> int:
    """Move the edges of the minimum spanning tree to the front, and return their number."""
    # a step without a tree does not wait for it
    from scipy.sparse.csgraph import minimum_spanning_tree

    lightest_first = np.argsort(edges.weight[:size], kind="stable")
    # ranks instead of weights, so that ties are broken here
    ranks = np.empty(size)
    ranks[lightest_first] = np.arange(1, size + 1)
    shape = n_labels + 1, n_labels + 1
    graph = scipy.sparse.csr_array((ranks, (edges.head[:size], edges.tail[:size])), shape)
    chosen = np.sort(minimum_spanning_tree(graph).data).astype(np.int64) - 1
    tree = lightest_first[chosen]
    for array in edges:
        array[: len(tree)] = array[tree]
    return len(tree)


def _direct_tree(edges: _Edges, star_cost: int) -> LabelTree:
    """Direct the edges of a tree away from the root."""
    n_labels = len(edges.head)
    links = (np.ones(n_labels, np.bool_), (edges.head, edges.tail))
    one_way = scipy.sparse.coo_array(links, shape=(n_labels + 1, n_labels + 1))
    neighbours = (one_way + one_way.T).tocsr()
    neighbours.sort_indices()
    parent = np.zeros(n_labels + 1, np.int32)
    depth = np.zeros(n_labels + 1, np.int32)
    subtree = np.zeros(n_labels + 1, np.int32)
    order = np.empty(n_labels, np.int32)
    _walk_depth_first(neighbours.indices, neighbours.indptr, parent, depth, subtree, order)
    distance = np.empty(n_labels, np.int64)
    is_head_child = parent[edges.head] == edges.tail
    distance[np.where(is_head_child, edges.head, edges.tail)] = edges.weight
    parent[parent == n_labels] = ROOT_PARENT
    return LabelTree(
        parent=parent[:-1],
        distance=distance,
        order=order,
        subtree=subtree[:-1],
        depth=depth[:-1],
        subtrees=int(np.count_nonzero(parent[:-1] == ROOT_PARENT)),
        height=int(depth[:-1].max(initial=0)),
        total_cost=int(distance.sum()),
        star_cost=star_cost,
    )


@strict_kernel
def _walk_depth_first(
    neighbours: np.ndarray,
    starts: np.ndarray,
    parent: np.ndarray,
    depth: np.ndarray,
    subtree: np.ndarray,
    order: np.ndarray,
) -> None:
    """Visit all vertices from the last one, the root, and fill the arrays of a tree.

    The stack is explicit, since a path may be as long as l. ``neighbours`` of each vertex begin at
    ``starts`` (l + 2,); parent, depth and subtree have shape (l + 1,), order (l,).
    """
    root = len(parent) - 1
    parent[root] = root
    stack = np.empty(len(parent), np.int32)
    stack[0] = root
    height = 1
    n_visited = 0
    n_subtrees = 0
    while height > 0:
        height -= 1
        vertex = stack[height]
        above = parent[vertex]
        if vertex != root:
            order[n_visited] = vertex
            n_visited += 1
            depth[vertex] = depth[above] + 1
            subtree[vertex] = subtree[above]
            if above == root:
                subtree[vertex] = n_subtrees
                n_subtrees += 1
        # the last pushed is the first visited
        for k in range(starts[vertex + 1] - 1, starts[vertex] - 1, -1):
            child = neighbours[k]
            if child != above:
                parent[child] = vertex
                stack[height] = child
                height += 1
