"""Train one shard of a forest: threads that grow trees, and the file of a shard."""

import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import local

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Dataset
from ovaflow.machine.limits import read_peak_rss
from ovaflow.machine.pinning import pin_thread
from ovaflow.methods.fastxml.assignment import GAIN_RESOLUTION, derive_seed
from ovaflow.methods.fastxml.forest import Forest, join_trees
from ovaflow.methods.fastxml.gains import make_gains
from ovaflow.methods.fastxml.growing import GrowthSettings, grow_tree
from ovaflow.methods.fastxml.scratch import make_tree_scratch
from ovaflow.methods.fastxml.separator import SeparatorSettings
from ovaflow.methods.fastxml.settings import GrowTrees
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Settings
from ovaflow.sparse.csr import CSR
from ovaflow.storage.artifact import Artifact
from ovaflow.storage.parts import Parts

SEPARATOR_TOLERANCE = 0.01
"""Violation at which a separator is done, as a share of that at w = 0 (LIBLINEAR's default)."""

SEPARATOR_INNER_TOLERANCE = 0.35
"""Inner tolerance of the separators' solver, which takes a fifth less time than with 0.1.

It is looser than for one-vs-all, whose problems are solved more exactly.
"""

_TREE_ARRAYS = (
    "children",
    "sizes",
    "separators_data",
    "separators_indices",
    "separators_indptr",
    "distributions_data",
    "distributions_indices",
    "distributions_indptr",
)
"""Names of the arrays that :func:`grow_tree` returns."""


@dataclass(frozen=True)
class TreeShard(Artifact, kind="tree-shard", made_from=("dataset",), remedy="train it again"):
    """Some trees of a forest."""

    numbers: np.ndarray  # int32 (T,); numbers of the trees within their forest, ascending
    seconds: np.ndarray  # float64 (T,); processor time of each tree
    forest: Forest
    core_seconds: float  # processor time of all attempts
    peak_rss_bytes: int


class _TreeGrower:
    """Grows trees of one forest, in threads that each have working arrays of their own."""

    def __init__(self, X: CSR, Y: CSR, dataset: Dataset, settings: GrowTrees) -> None:
        self._X = X
        self._Y = Y
        label_gains = None
        if settings.weighting == "propensity":
            label_gains = dataset.inverse_propensity(settings.propensity_a, settings.propensity_b)
        self._gains = make_gains(settings.objective, Y, label_gains)
        self._seed = settings.seed
        self._growth = GrowthSettings(
            max_leaf=settings.max_leaf,
            leaf_labels=settings.leaf_labels,
            updates=settings.updates,
            C_delta=settings.C_delta,
            C_r=settings.C_r,
            balanced=settings.balanced,
        )
        # C is in the costs of each instance
        solver = Settings(
            C=1.0,
            loss=LOGISTIC,
            inner_tolerance=SEPARATOR_INNER_TOLERANCE,
            max_newton=settings.outer_iterations,
            max_cg=settings.inner_iterations,
        )
        self._separator = SeparatorSettings(SEPARATOR_TOLERANCE, solver)
        self._per_thread = local()

    def grow(self, number: int) -> tuple[int, dict[str, np.ndarray]]:
        """Grow a tree; return its number and its arrays, with its processor time in seconds."""
        if not hasattr(self._per_thread, "scratch"):
            self._per_thread.scratch = make_tree_scratch(self._X, self._Y)
        start = time.thread_time()
        seed = np.uint64(derive_seed(np.uint64(self._seed), np.uint64(number)))
        arrays = grow_tree(
            self._X,
            self._Y,
            self._gains,
            self._per_thread.scratch,
            self._growth,
            self._separator,
            seed,
        )
        tree = dict(zip(_TREE_ARRAYS, arrays, strict=True))
        tree["seconds"] = np.array([time.thread_time() - start])
        return number, tree


def grow_trees(
    dataset: Dataset,
    numbers: Sequence[int],
    settings: GrowTrees,
    threads: int = 1,
    title: str = "grow",
    parts: Parts | None = None,
) -> TreeShard:
    """Grow some trees of a forest.

    Parameters
    ----------
    dataset : Dataset
    numbers : sequence of int
        Numbers of the trees within the forest.
    settings : GrowTrees
    threads : int, default=1
        Number of threads, which changes no result.
    title : str, default="grow"
        Title of the progress.
    parts : Parts, optional
        Store of finished trees, from which an interrupted training continues.

    Returns
    -------
    TreeShard

    Raises
    ------
    InputError
        If instances have weights, or sums of gains could exceed 63 bits.
    """
    dataset.require_equal_weights("fastxml")
    X = dataset.train.unscale_rows(dataset.parameters.get("bias", 0))._replace(places=None)
    Y = dataset.train.Y
    if max(X.n_rows, 1) * max(Y.n_columns, 1) * GAIN_RESOLUTION >= 1 << 62:
        message = "too many instances times labels for fastxml (more than 4e12)"
        remedy = "train on fewer instances, or one-vs-all"
        raise InputError(message, path=dataset.path, remedy=remedy)
    parts = parts or Parts()
    grower = _TreeGrower(X, Y, dataset, settings)
    trees = parts.read_earlier()
    if trees:
        print(
            f"{title}: continues, {len(trees)} of {len(numbers)} trees were finished",
            file=sys.stderr,
        )
    missing = [number for number in numbers if number not in trees]
    _grow_missing(grower, missing, trees, parts, threads, title)
    core_seconds = parts.core_seconds
    parts.write()
    forest = join_trees(
        [_make_forest(trees[number], X.n_columns, Y.n_columns) for number in numbers],
        X.n_columns,
        Y.n_columns,
    )
    seconds = np.array([trees[number]["seconds"][0] for number in numbers], np.float64)
    return TreeShard(np.array(numbers, np.int32), seconds, forest, core_seconds, read_peak_rss())


def _grow_missing(
    grower: _TreeGrower,
    numbers: Iterable[int],
    trees: dict[int, dict[str, np.ndarray]],
    parts: Parts,
    threads: int,
    title: str,
) -> None:
    """Grow trees in threads, and add them to ``trees`` and ``parts`` as they are finished."""
    pool = ThreadPoolExecutor(threads, initializer=pin_thread)
    futures = [pool.submit(grower.grow, number) for number in numbers]
    with Progress(title, len(futures), "trees") as progress:
        try:
            for future in as_completed(futures):
                number, tree = future.result()
                trees[number] = tree
                parts.keep(number, **tree)
                progress.advance()
        finally:
            # after a failure or Ctrl-C, do not wait for the other trees
            pool.shutdown(wait=False, cancel_futures=True)


def _make_forest(tree: dict[str, np.ndarray], n_features: int, n_labels: int) -> Forest:
    """Make a forest of one tree from its arrays."""
    return Forest(
        starts=np.array([0, len(tree["children"])]),
        children=tree["children"],
        sizes=tree["sizes"],
        separators=CSR(
            tree["separators_data"],
            tree["separators_indices"],
            tree["separators_indptr"],
            n_features,
        ),
        distributions=CSR(
            tree["distributions_data"],
            tree["distributions_indices"],
            tree["distributions_indptr"],
            n_labels,
        ),
    )
