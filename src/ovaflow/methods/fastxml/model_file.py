"""Models of trees: their file, and prediction by the mean of the leaves that an instance reaches.

This is Algorithm 3 and eq. 6 of the paper. A block of instances goes down a tree together. At each
node the separator is unpacked once for all instances that reach it, and an instance costs its own
entries: near the root separators have hundreds of times as many weights as near the leaves.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Split
from ovaflow.methods.fastxml.forest import Forest
from ovaflow.model.model_file import MethodModel
from ovaflow.model.top_k import insert_label, keep_first_allowed, make_empty_ranking
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_callee, strict_kernel

METHOD = "fastxml"
"""Name of the method in configs and models."""

INSTANCES_PER_BLOCK = 512
"""Instances that a thread takes at a time."""


@dataclass(frozen=True)
class ForestModel(MethodModel):
    """An open model of trees; arrays are mapped."""

    forest: Forest
    of_method: ClassVar[str] = METHOD
    why_unexplainable: ClassVar[str] = (
        "a label's score is a mean over the leaves that an instance reaches"
    )

    @classmethod
    def what_scores_are(cls, settings: Mapping[str, Any]) -> str:
        """Explain the scores to people."""
        return (
            "A score of FastXML is the share of the label in the leaves that an instance reaches,"
            " averaged over all trees; it is not the probability of the label, and labels outside"
            " these leaves cannot be predicted."
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.forest.separators.n_columns

    def instances(self, split: Split) -> CSR:
        """Return the features of a split as the trees were trained on them."""
        if self.transform.get("unscaled"):
            return split.unscale_rows(self.bias)
        return split.X

    @property
    def nonzeros(self) -> int:
        """Number of the separators' weights and of the leaves' scores."""
        return len(self.forest.separators.data) + len(self.forest.distributions.data)

    def prepare(self) -> None:
        """Compile the kernels of prediction."""
        row = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), 1)
        leaf = Forest(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32), row, row)
        predict_trees(leaf, row, 1, quiet=True)

    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        allowed: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the best k labels, of those that are allowed; see :func:`predict_trees`."""
        if allowed is None:
            return predict_trees(self.forest, X, k, threads, quiet=quiet)
        # enough for k allowed labels, but not more than leaves name
        n_named = self.forest.n_trees * int(np.diff(self.forest.distributions.indptr).max())
        n_predicted = min(k + int(np.count_nonzero(~allowed)), n_named)
        ids, scores = predict_trees(self.forest, X, n_predicted, threads, quiet=quiet)
        return keep_first_allowed(ids, scores, allowed, k)

    def score(self, X: CSR, labels: np.ndarray) -> np.ndarray:
        """Compute scores of chosen labels, float32 (n, m); 0 where no leaf names the label."""
        scores = np.empty((X.n_rows, len(labels)), np.float32)
        _score_labels(X._replace(places=None), self.forest, labels, scores)
        return scores


def predict_trees(
    forest: Forest, X: CSR, k: int, threads: int = 1, *, quiet: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Find the best k labels of each instance; scores are summed tree after tree.

    Returns
    -------
    ids : ndarray of int32, shape (n, k)
        Best labels first; -1 where the leaves name fewer.
    scores : ndarray of float32, shape (n, k)
        Their scores; -inf where the leaves name fewer.
    """
    X = X._replace(places=None)
    ids, scores = make_empty_ranking(X.n_rows, k)

    def score_block(start: int) -> int:
        end = min(start + INSTANCES_PER_BLOCK, X.n_rows)
        _score_rows(X, start, end, forest, ids, scores)
        return end - start

    starts = range(0, X.n_rows, INSTANCES_PER_BLOCK)
    progress = Progress("predicting", X.n_rows, "instances", quiet=quiet)
    with progress, ThreadPoolExecutor(threads) as pool:
        for n_scored in pool.map(score_block, starts):
            progress.advance(n_scored)
    return ids, scores


@strict_kernel
def _score_rows(
    X: CSR, low: int, high: int, forest: Forest, ids: np.ndarray, scores: np.ndarray
) -> None:
    """Find the best labels of the instances from low to high."""
    n_trees = len(forest.starts) - 1
    leaves = _find_leaves(X, low, high, forest)
    totals = np.zeros(forest.distributions.n_columns, np.float32)
    named = np.empty(forest.distributions.n_columns, np.int32)
    for i in range(low, high):
        n_named = 0
        for tree in range(n_trees):
            n_named = _add_leaf(forest.distributions, leaves[tree, i - low], totals, named, n_named)
        _keep_best(totals, named[:n_named], np.float32(n_trees), ids[i], scores[i])
        for c in range(n_named):
            totals[named[c]] = 0


@strict_kernel
def _score_labels(X: CSR, forest: Forest, labels: np.ndarray, out: np.ndarray) -> None:
    """Compute the scores of chosen labels for all instances."""
    n_trees = len(forest.starts) - 1
    leaves = _find_leaves(X, 0, len(out), forest)
    totals = np.zeros(forest.distributions.n_columns, np.float32)
    named = np.empty(forest.distributions.n_columns, np.int32)
    for i in range(len(out)):
        n_named = 0
        for tree in range(n_trees):
            n_named = _add_leaf(forest.distributions, leaves[tree, i], totals, named, n_named)
        for c in range(len(labels)):
            out[i, c] = totals[labels[c]] / np.float32(n_trees)
        for c in range(n_named):
            totals[named[c]] = 0


@strict_callee
def _find_leaves(X: CSR, low: int, high: int, forest: Forest) -> np.ndarray:
    """Find the leaf that each instance of a block reaches: int64 (T, high - low)."""
    n_trees = len(forest.starts) - 1
    size = high - low
    leaves = np.empty((n_trees, size), np.int64)
    weights = np.zeros(X.n_columns, np.float32)
    rows = np.arange(size)
    other_rows = np.empty(size, np.int64)
    # node, first and last row of each pending node, which all have instances of their own
    pending = np.empty((size + 1, 3), np.int64)
    for tree in range(n_trees):
        pending[0, 0] = forest.starts[tree]
        pending[0, 1] = 0
        pending[0, 2] = size
        n_pending = min(size, 1)
        while n_pending:
            n_pending -= 1
            node, start, end = pending[n_pending]
            child = forest.children[node]
            if child == 0:
                for r in range(start, end):
                    leaves[tree, rows[r]] = node
                continue
            middle = start + _divide(
                X, low, rows[start:end], other_rows, forest.separators, node, weights
            )
            child += forest.starts[tree]
            for side, first, last in ((0, start, middle), (1, middle, end)):
                if last > first:
                    pending[n_pending, 0] = child + side
                    pending[n_pending, 1] = first
                    pending[n_pending, 2] = last
                    n_pending += 1
    return leaves


@strict_callee
def _divide(
    X: CSR,
    low: int,
    rows: np.ndarray,
    other_rows: np.ndarray,
    separators: CSR,
    node: int,
    weights: np.ndarray,
) -> int:
    """Move rows with <w, x> > 0 to the front; return how many these are.

    ``other_rows`` (n,) is a buffer, and ``weights`` (d,) are 0 between uses.
    """
    start = np.uint64(separators.indptr[node])
    end = np.uint64(separators.indptr[node + 1])
    for k in range(start, end):
        weights[np.uint32(separators.indices[k])] = separators.data[k]
    n_positive = 0
    n_others = 0
    for row in rows:
        score = np.float32(0)
        for k in range(np.uint64(X.indptr[low + row]), np.uint64(X.indptr[low + row + 1])):
            score += weights[np.uint32(X.indices[k])] * X.data[k]
        if score > 0:
            rows[n_positive] = row
            n_positive += 1
        else:
            other_rows[n_others] = row
            n_others += 1
    rows[n_positive:] = other_rows[:n_others]
    for k in range(start, end):
        weights[np.uint32(separators.indices[k])] = 0
    return n_positive


@strict_callee
def _add_leaf(
    distributions: CSR, leaf: int, totals: np.ndarray, named: np.ndarray, n_named: int
) -> int:
    """Add the scores of a leaf to ``totals``; return how many labels are ``named`` so far."""
    for k in range(distributions.indptr[leaf], distributions.indptr[leaf + 1]):
        label = distributions.indices[k]
        if totals[label] == 0:
            named[n_named] = label
            n_named += 1
        totals[label] += distributions.data[k]
    return n_named


@strict_callee
def _keep_best(
    totals: np.ndarray, named: np.ndarray, n_trees: float, ids: np.ndarray, best: np.ndarray
) -> None:
    """Insert the named labels into the best ones of an instance, ties to the smaller label."""
    for label in named:
        score = totals[label] / n_trees
        if score > best[-1] or (score == best[-1] and label < ids[-1]):
            insert_label(score, label, ids, best)
