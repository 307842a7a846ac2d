"""Boosted trees as plain arrays: fitted by scikit-learn, walked by a kernel of our own."""

from typing import NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from ovaflow.sparse.jit import strict_kernel

SETTINGS = {"max_iter": 200, "learning_rate": 0.05, "min_samples_leaf": 50, "l2_regularization": 10.0}
"""Measured on docstrings, kirjastonhoitaja and tibkat; more trees and other losses change nDCG@5 by 0.2 at most."""

_BLOCK = 1024
"""Rows that go down a tree before the next tree."""


class BoostedTrees(NamedTuple):
    """Trees one after the other; log-odds of a row are the sum of its leaves and the baseline."""

    starts: np.ndarray  # int64 (t + 1,); first node of each tree
    columns: np.ndarray  # int32 (m,); what the split of a node compares
    thresholds: np.ndarray  # float64 (m,); rows of at most this go left
    children: np.ndarray  # int32 (m, 2); left and right, counted from the tree's first node; 0 at a leaf
    values: np.ndarray  # float64 (m,); of leaves
    baseline: float

    def log_odds(self, rows):
        """Log-odds of rows (n, c): float64 (n,)."""
        out = np.full(len(rows), self.baseline)
        _add_leaves(rows, self.starts, self.columns, self.thresholds, self.children, self.values, out)
        return out


def fit_trees(rows, hits, threads=1):
    """Fit trees to rows of evidence (n, c) and whether their candidates are true."""
    model = HistGradientBoostingClassifier(**SETTINGS, early_stopping=False, random_state=0)
    with threadpool_limits(threads):
        model.fit(rows, hits)
        trees = _arrays_of(model)
        # nodes of scikit-learn's trees are not part of its interface
        np.testing.assert_allclose(trees.log_odds(rows[:1000]), model.decision_function(rows[:1000]), rtol=1e-9)
    return trees


def _arrays_of(model):
    nodes = [trees[0].nodes for trees in model._predictors]
    starts = np.cumsum([0, *map(len, nodes)])
    joined = np.concatenate(nodes)
    children = np.stack([joined["left"], joined["right"]], axis=1).astype(np.int32)
    children[joined["is_leaf"] == 1] = 0
    return BoostedTrees(
        starts.astype(np.int64),
        joined["feature_idx"].astype(np.int32),
        joined["num_threshold"].astype(np.float64),
        children,
        joined["value"].astype(np.float64),
        float(model._baseline_prediction.item()),
    )


@strict_kernel
def _add_leaves(rows, starts, columns, thresholds, children, values, out):
    """z_i = baseline + sum over trees of the value of the leaf that row i falls into."""
    for low in range(0, len(rows), _BLOCK):
        for tree in range(len(starts) - 1):
            first = starts[tree]
            for i in range(low, min(low + _BLOCK, len(rows))):
                node = first
                while children[node, 0] != 0:
                    right = not rows[i, columns[node]] <= thresholds[node]
                    node = first + children[node, np.int64(right)]
                out[i] += values[node]
