"""Boosted trees as plain arrays, walked by a kernel; predicting with them does not load
scikit-learn.
"""

from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.model.top_k import NO_LABEL
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.artifact import MayBeInfinite

TREE_SETTINGS = {"max_features": 0.5, "min_samples_leaf": 50, "l2_regularization": 10.0}
"""Measured on docstrings, kirjastonhoitaja and tibkat; other losses change nDCG@5 by 0.2 at most.
"""

LEARNING_RATE = 0.1
"""Learning rate; 0.05 needs twice as many trees for the same log loss, and first labels by 0.15
differ by half a point from seed to seed."""

MAX_TREES = 250
"""With 100 of them probabilities of 50 % and more are 2 to 3 points too small; more change nDCG@5
by 0.2 at most.
"""

MAX_LEAVES = 31
"""Leaves of a tree."""

_ROWS_PER_BLOCK = 256
"""Rows that go down a tree side by side."""


class BoostedTrees(NamedTuple):
    """Trees one after the other; the log-odds of a row are the sum of its leaves and the baseline."""

    baseline: float
    roots: np.ndarray  # int64 (t,); first node of each tree
    depths: np.ndarray  # int64 (t,); most splits on the way to a leaf
    columns: np.ndarray  # int32 (m,); what the split of a node compares
    thresholds: MayBeInfinite  # float64 (m,); rows of at most this go left
    children: np.ndarray  # int32 (m, 2); left and right; a leaf is its own child
    values: np.ndarray  # float64 (m,); of leaves

    def part(self, start, end):
        """Some of the trees; the baseline belongs to the first one."""
        baseline = self.baseline if start == 0 else 0.0
        return self._replace(
            roots=self.roots[start:end], depths=self.depths[start:end], baseline=baseline
        )

    def log_odds(self, rows):
        """Log-odds of rows (n, c): float64 (n,)."""
        out = np.full(len(rows), self.baseline)
        _add_leaves(rows, *self[1:], out)
        return out

    def probabilities(self, columns, ids):
        """Probabilities of candidates (n, k) by their rows of evidence, 0 where there is none:
        float64 (n, k).
        """
        probabilities = np.zeros(ids.shape)
        known = ids != NO_LABEL
        probabilities[known] = scipy.special.expit(self.log_odds(columns[known]))
        return probabilities


def rank_candidates(trees, columns, ids):
    """Probabilities of candidates (n, k), float32, and their order; ties keep the order of their
    scores.
    """
    probabilities = trees.probabilities(columns, ids).astype(np.float32)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    return np.take_along_axis(probabilities, order, axis=1), order


def fit_trees(
    rows, hits, threads=1, n_trees=MAX_TREES, leaves=MAX_LEAVES, rate=LEARNING_RATE, directions=None
):
    """Fit trees to rows of evidence (n, c) and whether their candidates are true.

    ``directions``: the columns that they may use, and whether log-odds rise with each (1), fall
    (-1), or do both (0).
    """
    # predicting loads neither
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    directions = dict.fromkeys(range(rows.shape[1]), 0) if directions is None else directions
    # a split chooses among some columns, and those that are alike everywhere would take places
    columns = np.array([column for column in directions if np.ptp(rows[:, column])], np.int32)
    shape = {
        "max_iter": n_trees,
        "max_leaf_nodes": leaves,
        "learning_rate": rate,
        "monotonic_cst": [directions[column] for column in columns],
    }
    model = HistGradientBoostingClassifier(
        **TREE_SETTINGS, **shape, early_stopping=False, random_state=0
    )
    with threadpool_limits(threads):
        model.fit(rows[:, columns], hits)
        trees = _from_scikit_learn(model)
        trees = trees._replace(columns=columns[trees.columns])
        # nodes of scikit-learn's trees are not part of its interface
        theirs = model.decision_function(rows[:1000, columns])
        np.testing.assert_allclose(trees.log_odds(rows[:1000]), theirs, rtol=1e-9)
    return trees


def _from_scikit_learn(model):
    trees = [trees[0].nodes for trees in model._predictors]
    nodes = np.concatenate(trees)
    sizes = [len(tree) for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    children = np.stack([nodes["left"], nodes["right"]], axis=1) + np.repeat(roots, sizes)[:, None]
    leaves = nodes["is_leaf"] == 1
    children[leaves] = np.flatnonzero(leaves)[:, None]
    return BoostedTrees(
        float(model._baseline_prediction.item()),
        roots.astype(np.int64),
        np.array([tree["depth"].max() for tree in trees], np.int64),
        nodes["feature_idx"].astype(np.int32),
        np.where(leaves, np.inf, nodes["num_threshold"]),
        children.astype(np.int32),
        nodes["value"].astype(np.float64),
    )


@strict_kernel
def _add_leaves(rows, roots, depths, columns, thresholds, children, values, out) -> None:
    """z_i = baseline + sum over trees of the value of the leaf that row i falls into."""
    nodes = np.empty(_ROWS_PER_BLOCK, np.int32)
    for low in range(0, len(rows), _ROWS_PER_BLOCK):
        size = min(_ROWS_PER_BLOCK, len(rows) - low)
        for tree in range(len(roots)):
            nodes[:] = roots[tree]
            # without a branch, rows go down side by side; those at a leaf stay
            for _ in range(depths[tree]):
                for i in range(np.uint64(size)):
                    node = np.uint32(nodes[i])
                    right = rows[low + i, np.uint32(columns[node])] > thresholds[node]
                    nodes[i] = children[node, np.uint64(right)]
            for i in range(size):
                out[low + i] += values[nodes[i]]
