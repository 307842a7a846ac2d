"""Boosted trees as plain arrays.

Predicting with them is a kernel of its own, which needs neither scikit-learn nor its pickles.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy

from ovaflow.model.top_k import NO_LABEL
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.artifact import MayBeInfinite

TREE_SETTINGS = {"max_features": 0.5, "min_samples_leaf": 50, "l2_regularization": 10.0}
"""Measured on docstrings, kirjastonhoitaja and tibkat; other losses change nDCG@5 by at most 0.2
points.
"""

LEARNING_RATE = 0.1
"""0.05 needs twice as many trees for the same log loss; with 0.15 the first labels differ by half a
point from seed to seed.
"""

MAX_TREES = 250
"""With 100 trees, probabilities of 50 % and more are 2 to 3 points too small; more than 250 change
nDCG@5 by at most 0.2 points.
"""

MAX_LEAVES = 31
"""Leaves of a tree: scikit-learn's default."""

_ROWS_PER_BLOCK = 256
"""Rows that go down a tree together."""


class BoostedTrees(NamedTuple):
    """Trees one after the other: log-odds of a row are the baseline and the sum of its leaves."""

    baseline: float
    roots: np.ndarray  # int64 (t,); first node of each tree
    depths: np.ndarray  # int64 (t,); most splits between the root and a leaf
    columns: np.ndarray  # int32 (m,); column that the split of a node compares
    thresholds: MayBeInfinite  # float64 (m,); rows with at most this value go left
    children: np.ndarray  # int32 (m, 2); left and right; a leaf is its own child
    values: np.ndarray  # float64 (m,); of leaves

    def select(self, start: int, end: int) -> "BoostedTrees":
        """Select the trees start..end; only the first tree keeps the baseline."""
        baseline = self.baseline if start == 0 else 0.0
        return self._replace(
            roots=self.roots[start:end], depths=self.depths[start:end], baseline=baseline
        )

    def compute_log_odds(self, rows: np.ndarray) -> np.ndarray:
        """Compute the log-odds of rows (n, c): float64 (n,)."""
        out = np.full(len(rows), self.baseline)
        _add_leaves(
            rows,
            self.roots,
            self.depths,
            self.columns,
            self.thresholds,
            self.children,
            self.values,
            out,
        )
        return out

    def compute_probabilities(self, evidence: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Compute the probabilities of candidates.

        Parameters
        ----------
        evidence : float32 (n, k, c)
        ids : int32 (n, k)
            The candidates; -1 where there is none.

        Returns
        -------
        float64 (n, k)
            0 where there is no candidate.
        """
        probabilities = np.zeros(ids.shape)
        exists = ids != NO_LABEL
        probabilities[exists] = scipy.special.expit(self.compute_log_odds(evidence[exists]))
        return probabilities


def rank_candidates(
    trees: BoostedTrees, evidence: np.ndarray, ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rank candidates (n, k) by probability; ties keep the order of their scores.

    Returns the sorted probabilities, float32, and the order that sorts the candidates.
    """
    probabilities = trees.compute_probabilities(evidence, ids).astype(np.float32)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    return np.take_along_axis(probabilities, order, axis=1), order


def fit_trees(
    rows: np.ndarray,
    hits: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    threads: int = 1,
    n_trees: int = MAX_TREES,
    leaves: int = MAX_LEAVES,
    rate: float = LEARNING_RATE,
    directions: Mapping[int, int] | None = None,
) -> BoostedTrees:
    """Fit trees that tell true candidates from others.

    Parameters
    ----------
    rows : float32 (n, c)
        Evidence about each candidate.
    hits : bool (n,)
        Whether the candidate is true.
    weights : float (n,), optional
        Weights of the candidates, by default all the same.
    threads : int
    n_trees : int
    leaves : int
        Most leaves of a tree.
    rate : float
        Learning rate.
    directions : dict, optional
        The columns that the trees may use, by default all. The log-odds rise with a column of
        direction 1, fall with one of direction -1, and do either with one of direction 0.
    """
    # predicting loads neither
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    if directions is None:
        directions = dict.fromkeys(range(rows.shape[1]), 0)
    # a split chooses among a random half of the columns: constant ones would only take places
    columns = np.array([column for column in directions if np.ptp(rows[:, column])], np.int32)
    model = HistGradientBoostingClassifier(
        max_iter=n_trees,
        max_leaf_nodes=leaves,
        learning_rate=rate,
        monotonic_cst=[directions[column] for column in columns],
        early_stopping=False,
        random_state=0,
        **TREE_SETTINGS,
    )
    with threadpool_limits(threads):
        model.fit(rows[:, columns], hits, weights)
        trees = _convert_from_scikit_learn(model)
        trees = trees._replace(columns=columns[trees.columns])
        # nodes of scikit-learn's trees are not part of its interface, so check what was read
        theirs = model.decision_function(rows[:1000, columns])
        np.testing.assert_allclose(trees.compute_log_odds(rows[:1000]), theirs, rtol=1e-9)
    return trees


def _convert_from_scikit_learn(model: Any) -> BoostedTrees:
    """Convert a fitted ``HistGradientBoostingClassifier`` of two classes."""
    trees = [trees[0].nodes for trees in model._predictors]
    nodes = np.concatenate(trees)
    sizes = [len(tree) for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    children = np.stack([nodes["left"], nodes["right"]], axis=1) + np.repeat(roots, sizes)[:, None]
    leaves = nodes["is_leaf"] == 1
    children[leaves] = np.flatnonzero(leaves)[:, None]
    return BoostedTrees(
        baseline=float(model._baseline_prediction.item()),
        roots=roots.astype(np.int64),
        depths=np.array([tree["depth"].max() for tree in trees], np.int64),
        columns=nodes["feature_idx"].astype(np.int32),
        thresholds=np.where(leaves, np.inf, nodes["num_threshold"]),
        children=children.astype(np.int32),
        values=nodes["value"].astype(np.float64),
    )


@strict_kernel
def _add_leaves(
    rows: np.ndarray,
    roots: np.ndarray,
    depths: np.ndarray,
    columns: np.ndarray,
    thresholds: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add to out_i the value of the leaf of each tree that row i falls into.

    ``rows`` is (n, c), ``out`` (n,); the others are those of :class:`BoostedTrees`.
    """
    nodes = np.empty(_ROWS_PER_BLOCK, np.int32)
    for low in range(0, len(rows), _ROWS_PER_BLOCK):
        size = min(_ROWS_PER_BLOCK, len(rows) - low)
        for tree in range(len(roots)):
            nodes[:] = roots[tree]
            # rows go down together, and those at a leaf stay: a truth value as an index needs no
            # branch, and unsigned indices need no check for negative ones
            for _ in range(depths[tree]):
                for i in range(np.uint64(size)):
                    node = np.uint32(nodes[i])
                    right = rows[low + i, np.uint32(columns[node])] > thresholds[node]
                    nodes[i] = children[node, np.uint64(right)]
            for i in range(size):
                out[low + i] += values[nodes[i]]
