"""How trees came out: balance, depth, leaves (table 6 of the paper)."""

import numpy as np

from ovaflow.sparse.jit import strict_kernel

SHAPE = {
    "nodes": np.int64,
    "leaves": np.int64,
    "depth": np.int64,
    "mean_depth": np.float64,
    "balance": np.float64,
    "largest_leaf": np.int64,
    "labels_per_leaf": np.float64,
    "nonzeros": np.int64,
}
"""Names and dtypes of what is said of each tree."""


def shape_of(tree, max_leaf):
    """Describe one tree; balance is mean depth over log2(n / max_leaf), 1 when perfectly balanced."""
    depths = np.zeros(len(tree.children), np.int64)
    _fill_depths(tree.children, depths)
    leaf = tree.children == 0
    n = int(tree.sizes[0])
    mean_depth = float((depths[leaf] * tree.sizes[leaf]).sum() / max(n, 1))
    return {
        "nodes": len(leaf),
        "leaves": int(leaf.sum()),
        "depth": int(depths.max()),
        "mean_depth": mean_depth,
        "balance": mean_depth / float(np.log2(n / max_leaf)) if n > max_leaf else 1.0,
        "largest_leaf": int(tree.sizes[leaf].max()),
        "labels_per_leaf": len(tree.distributions.data) / int(leaf.sum()),
        "nonzeros": len(tree.separators.data),
    }


@strict_kernel
def _fill_depths(children, depths):
    for node in range(len(children)):
        if children[node]:
            depths[children[node]] = depths[children[node] + 1] = depths[node] + 1
