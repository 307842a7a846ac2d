"""Models of trees: their file, and prediction by the mean of the leaves that an instance falls
into.

That is Algorithm 3 and eq. 6. A block of instances goes down a tree together. At each node the
separator is unpacked once for all that come by, and an instance costs its own entries: near the
root separators have hundreds of times as many weights as at the leaves.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.methods.fastxml.forest import Forest
from ovaflow.model.model_file import MethodModel
from ovaflow.model.top_k import first_allowed, insert_label, no_labels
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

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
        "a label's score is the mean of the leaves an instance falls into"
    )

    @classmethod
    def what_scores_are(cls, settings):
        return (
            "A score of FastXML is the share of the label in the leaves that an instance reaches, averaged over all "
            "trees; it is not the probability of the label, and labels outside these leaves cannot be predicted."
        )

    @property
    def n_features(self):
        return self.forest.separators.n_columns

    def instances(self, split):
        return split.unscale(self.bias) if self.transform.get("unscaled") else split.X

    @property
    def nonzeros(self):
        """Number of the separators' weights and of the leaves' scores."""
        return len(self.forest.separators.data) + len(self.forest.distributions.data)

    def prepare(self) -> None:
        row = CSR(np.ones(1, np.float32), np.zeros(1, np.int32), np.array([0, 1]), 1)
        leaf = Forest(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32), row, row)
        predict_trees(leaf, row, 1, quiet=True)

    def top_k(self, X, k, threads=1, quiet=True, allowed=None):
        if allowed is None:
            return predict_trees(self.forest, X, k, threads, quiet=quiet)
        # so many that k of them are allowed, but no more than leaves name
        named = self.forest.n_trees * int(np.diff(self.forest.distributions.indptr).max())
        most = min(k + np.count_nonzero(~allowed), named)
        return first_allowed(*predict_trees(self.forest, X, most, threads, quiet=quiet), allowed, k)

    def score(self, X, labels):
        """Scores of chosen labels, float32 (n, m); 0 where no leaf names the label."""
        scores = np.empty((X.n_rows, len(labels)), np.float32)
        _score_labels(X._replace(places=None), self.forest, labels, scores)
        return scores


def predict_trees(forest, X, k, threads=1, quiet=False):
    """Best k labels, two arrays (n, k), -1 and -inf where leaves name fewer; summed tree after
    tree.
    """
    X = X._replace(places=None)
    ids, scores = no_labels(X.n_rows, k)
    blocks = [
        (low, min(low + INSTANCES_PER_BLOCK, X.n_rows))
        for low in range(0, X.n_rows, INSTANCES_PER_BLOCK)
    ]

    def score(rows):
        _score_rows(X, *rows, forest, ids, scores)
        return rows[1] - rows[0]

    progress = Progress("predicting", X.n_rows, "instances", quiet=quiet)
    with progress, ThreadPoolExecutor(threads) as pool:
        for scored in pool.map(score, blocks):
            progress.advance(scored)
    return ids, scores


@strict_kernel
def _score_rows(X, low, high, forest, ids, scores) -> None:
    n_trees = len(forest.starts) - 1
    leaves = _find_leaves(X, low, high, forest)
    totals = np.zeros(forest.distributions.n_columns, np.float32)
    named = np.empty(forest.distributions.n_columns, np.int32)
    for i in range(low, high):
        count = 0
        for tree in range(n_trees):
            count = _add_leaf(forest.distributions, leaves[tree, i - low], totals, named, count)
        _keep_best(totals, named[:count], np.float32(n_trees), ids[i], scores[i])
        for c in range(count):
            totals[named[c]] = 0


@strict_kernel
def _score_labels(X, forest, labels, out) -> None:
    n_trees = len(forest.starts) - 1
    leaves = _find_leaves(X, 0, len(out), forest)
    totals = np.zeros(forest.distributions.n_columns, np.float32)
    named = np.empty(forest.distributions.n_columns, np.int32)
    for i in range(len(out)):
        count = 0
        for tree in range(n_trees):
            count = _add_leaf(forest.distributions, leaves[tree, i], totals, named, count)
        for c in range(len(labels)):
            out[i, c] = totals[labels[c]] / np.float32(n_trees)
        for c in range(count):
            totals[named[c]] = 0


@strict_kernel
def _find_leaves(X, low, high, forest):
    """Node in which each instance of a block ends, for each tree."""
    n_trees = len(forest.starts) - 1
    size = high - low
    leaves = np.empty((n_trees, size), np.int64)
    weights = np.zeros(X.n_columns, np.float32)
    rows = np.arange(size)
    right = np.empty(size, np.int64)
    # each pending node has instances of its own
    waiting = np.empty((size + 1, 3), np.int64)
    for tree in range(n_trees):
        waiting[0, 0] = forest.starts[tree]
        waiting[0, 1] = 0
        waiting[0, 2] = size
        pending = min(size, 1)
        while pending:
            pending -= 1
            node, start, end = waiting[pending]
            child = forest.children[node]
            if child == 0:
                for place in range(start, end):
                    leaves[tree, rows[place]] = node
                continue
            middle = (
                _divide(X, low, rows[start:end], right, forest.separators, node, weights) + start
            )
            child += forest.starts[tree]
            for side, first, last in ((0, start, middle), (1, middle, end)):
                if last > first:
                    waiting[pending, 0] = child + side
                    waiting[pending, 1] = first
                    waiting[pending, 2] = last
                    pending += 1
    return leaves


@strict_kernel
def _divide(X, low, rows, right, separators, node, weights):
    """Bring rows with <w, x> > 0 to the front; returns how many they are. ``weights`` are 0 between
    uses.
    """
    start = np.uint64(separators.indptr[node])
    end = np.uint64(separators.indptr[node + 1])
    for k in range(start, end):
        weights[np.uint32(separators.indices[k])] = separators.data[k]
    kept = others = 0
    for row in rows:
        score = np.float32(0)
        for k in range(np.uint64(X.indptr[low + row]), np.uint64(X.indptr[low + row + 1])):
            score += weights[np.uint32(X.indices[k])] * X.data[k]
        if score > 0:
            rows[kept] = row
            kept += 1
        else:
            right[others] = row
            others += 1
    rows[kept:] = right[:others]
    for k in range(start, end):
        weights[np.uint32(separators.indices[k])] = 0
    return kept


@strict_kernel
def _add_leaf(distributions, leaf, totals, named, count):
    """Add a leaf's scores; returns how many labels have been named so far."""
    for k in range(distributions.indptr[leaf], distributions.indptr[leaf + 1]):
        label = distributions.indices[k]
        if totals[label] == 0:
            named[count] = label
            count += 1
        totals[label] += distributions.data[k]
    return count


@strict_kernel
def _keep_best(totals, named, n_trees, ids, best) -> None:
    for label in named:
        score = totals[label] / n_trees
        if score > best[-1] or (score == best[-1] and label < ids[-1]):
            insert_label(score, label, ids, best)
