"""One shard of a forest: what rankings are judged by, threads that grow trees, and the file of a
shard.

A measure (nDCG, or another of the paper's table 7) has a discount d for each
rank and a normaliser I(y) for each instance (eq. 3-4); the gain of ranking r is

    I(y) sum_l g_l y_l d(rank of l under r),

with g_l = 1, or 1/p_l in PfastreXML (Jain, Prabhu and Varma 2016).
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import local
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.machine.limits import peak_rss_bytes
from ovaflow.machine.pinning import pin_thread
from ovaflow.methods.fastxml.assignment import GAIN_RESOLUTION, derive_seed
from ovaflow.methods.fastxml.forest import Forest, join_trees
from ovaflow.methods.fastxml.growing import GrowthSettings, grow_tree, make_tree_scratch
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Settings
from ovaflow.sparse.csr import CSR
from ovaflow.storage.artifact import Artifact
from ovaflow.storage.parts import Parts

SEPARATOR_TOLERANCE = 0.01
"""Violation at which a separator is done, as a share of that at w = 0 (LIBLINEAR's default)."""

SEPARATOR_INNER_TOLERANCE = 0.35
"""Looser than for one-vs-all, whose problems are solved more exactly. Measured: a fifth less time
than with 0.1.
"""

_MATRICES = [
    f"{name}_{part}"
    for name in ("separators", "distributions")
    for part in ("data", "indices", "indptr")
]
_TREE = ["children", "sizes", *_MATRICES]


RANKING_MEASURES = {"nDCG": (None, True), "nDCG@5": (5, True), "P@5": (5, False)}
"""Ranks that count (None: all), and whether later ones count less."""


class Gains(NamedTuple):
    """What rankings are judged by, on a training set."""

    discounts: np.ndarray  # float64 (l,); d of each rank, best first
    normalisers: np.ndarray  # float64 (n,); I(y) of each instance; 0 without labels
    labels: np.ndarray  # float64 (l,); g_l over the largest of them, so that I(y) g_l is at most 1


def make_gains(objective, Y, gains=None):
    """An objective's gains; ``gains`` (l,) are larger for rare labels, 1/p (Jain et al. 2016), and
    1 by default.
    """
    most, discounted = RANKING_MEASURES[objective]
    worth = np.ones(Y.n_columns) if gains is None else gains / gains.max()
    ranks = np.arange(1, Y.n_columns + 1)
    discounts = 1 / np.log2(1 + ranks) if discounted else np.full(Y.n_columns, 1 / most)
    # of all ranks, as Algorithm 2 prints it: with eq. 4 for five, table 7 is not reproduced
    normalisers = _normalisers(Y, worth, discounts) if discounted else np.ones(Y.n_rows)
    return Gains(np.where(ranks <= (most or Y.n_columns), discounts, 0.0), normalisers, worth)


def _normalisers(Y, worth, discounts):
    """I(y) = 1 / sum_r d_r g_(r), the instance's labels in the order of falling g (eq. 4)."""
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    order = np.lexsort((-worth[Y.indices], rows))
    places = np.arange(len(rows)) - Y.indptr[rows]
    ideal = np.bincount(rows, worth[Y.indices[order]] * discounts[places], Y.n_rows)
    return np.divide(1.0, ideal, out=np.zeros(Y.n_rows), where=ideal > 0)


@dataclass(frozen=True)
class TreeShard(Artifact, kind="tree-shard", made_from=("dataset",), remedy="train it again"):
    """Some trees of a forest."""

    numbers: np.ndarray  # int32 (T,); of the trees within their forest, ascending
    seconds: np.ndarray  # float64 (T,); processor time of each tree
    forest: Forest
    core_seconds: float  # processor time, of all attempts
    peak_rss_bytes: int


def grow_trees(dataset, numbers, settings, threads=1, title="grow", parts=None):
    """Grow trees by their numbers; ``parts`` keep finished ones, and threads change no result."""
    dataset.require_equal_weights("fastxml")
    X = dataset.train.unscale(dataset.parameters.get("bias", 0))._replace(places=None)
    Y = dataset.train.Y
    if max(X.n_rows, 1) * max(Y.n_columns, 1) * GAIN_RESOLUTION >= 1 << 62:
        message = "too many instances times labels for fastxml (more than 4e12)"
        remedy = "train on fewer instances, or one-vs-all"
        raise InputError(message, path=dataset.path, remedy=remedy)
    parts = parts or Parts()
    per_thread = local()
    inverse = None
    if settings.weighting == "propensity":
        inverse = dataset.inverse_propensity(settings.propensity_a, settings.propensity_b)
    gains = make_gains(settings.objective, Y, inverse)
    rules = GrowthSettings(**{name: getattr(settings, name) for name in GrowthSettings._fields})
    most = {"max_newton": settings.outer_iterations, "max_cg": settings.inner_iterations}
    # C is that of each instance
    separator = Settings(
        C=1.0,
        loss=LOGISTIC,
        epsilon=SEPARATOR_TOLERANCE,
        inner_tolerance=SEPARATOR_INNER_TOLERANCE,
        **most,
    )

    def grow(number):
        if not hasattr(per_thread, "scratch"):
            per_thread.scratch = make_tree_scratch(X, Y)
        began = time.thread_time()
        seed = np.uint64(derive_seed(np.uint64(settings.seed), np.uint64(number)))
        tree = grow_tree(X, Y, gains, per_thread.scratch, rules, separator, seed)
        return number, tree, time.thread_time() - began

    grown = parts.earlier()
    if grown:
        print(
            f"{title}: continues, {len(grown)} of {len(numbers)} trees were finished",
            file=sys.stderr,
        )
    left = [number for number in numbers if number not in grown]
    pool = ThreadPoolExecutor(threads, initializer=pin_thread)
    with Progress(title, len(left), "trees") as progress:
        try:
            for growing in as_completed([pool.submit(grow, number) for number in left]):
                number, tree, seconds = growing.result()
                grown[number] = dict(zip(_TREE, tree, strict=True), seconds=np.array([seconds]))
                parts.keep(number, **grown[number])
                progress.advance()
        finally:
            # trees that are being grown when another one fails, or at Ctrl-C, are not waited for
            pool.shutdown(wait=False, cancel_futures=True)
    core_seconds = parts.core_seconds
    parts.write()
    grown = [grown[number] for number in numbers]
    seconds = np.array([tree["seconds"][0] for tree in grown], np.float64)
    forest = join_trees(
        [_forest_of(tree, X.n_columns, Y.n_columns) for tree in grown], X.n_columns, Y.n_columns
    )
    return TreeShard(np.array(numbers, np.int32), seconds, forest, core_seconds, peak_rss_bytes())


def _forest_of(tree, d, n_labels):
    """A tree as its parts keep it, as a forest of its own."""
    matrices = [tree[name] for name in _MATRICES]
    starts = np.array([0, len(tree["children"])])
    return Forest(
        starts, tree["children"], tree["sizes"], CSR(*matrices[:3], d), CSR(*matrices[3:], n_labels)
    )
