"""One shard of a forest: threads that grow trees."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import local

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.data.propensity import inverse_propensity
from ovaflow.fastxml.assignment import RESOLUTION
from ovaflow.fastxml.forest import Forest, join_trees
from ovaflow.fastxml.growing import Rules, grow_tree
from ovaflow.fastxml.objectives import make_gains
from ovaflow.fastxml.scratch import make_scratch
from ovaflow.fastxml.seeding import seed_of
from ovaflow.machine.peak_memory import peak_rss_bytes
from ovaflow.machine.place import settle_thread
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Settings
from ovaflow.sparse.csr import CSR
from ovaflow.storage.parts import Parts

TOLERANCE = 0.01
"""Violation at which a separator is done, as a share of that at w = 0 (LIBLINEAR's default)."""

INNER_TOLERANCE = 0.35
"""Looser than for one-vs-all, whose problems are solved more exactly. Measured: a fifth less time than with 0.1."""


def rules_of(settings):
    """Constants of growing."""
    return Rules(**{name: getattr(settings, name) for name in Rules._fields})


def separator_of(settings):
    """Constants of the solver of separators; C is that of each instance."""
    return Settings(
        C=1.0,
        loss=LOGISTIC,
        epsilon=TOLERANCE,
        max_newton=settings.outer_iterations,
        max_cg=settings.inner_iterations,
        inner_tolerance=INNER_TOLERANCE,
    )


def gains_of(settings, Y):
    """What rankings of a training set are judged by: with propensities, labels gain 1/p (Jain et al. 2016)."""
    if settings.weighting != "propensity":
        return make_gains(settings.objective, Y)
    counts = np.bincount(Y.indices, minlength=Y.n_columns)
    inverse = inverse_propensity(counts, Y.n_rows, settings.propensity_a, settings.propensity_b)
    return make_gains(settings.objective, Y, inverse)


def trees_of_shard(trees, shards, shard):
    """Numbers of the trees that a shard grows: none where there are more shards than trees."""
    return range(shard * trees // shards, (shard + 1) * trees // shards)


@dataclass(frozen=True)
class GrownShard:
    forest: Forest
    seconds: np.ndarray  # float64 (T,); time spent on each tree
    core_seconds: float  # threads times wall seconds, of all attempts
    peak_rss_bytes: int


def grow_trees(dataset, numbers, settings, threads=1, title="grow", parts=None):
    """Grow trees by their numbers; ``parts`` keep finished ones, and threads change no result."""
    X, Y = dataset.train.X, dataset.train.Y
    if max(X.n_rows, 1) * max(Y.n_columns, 1) * RESOLUTION >= 1 << 62:
        raise InputError(
            "too many instances times labels for fastxml (more than 4e12)",
            path=dataset.path,
            remedy="train on fewer instances, or one-vs-all",
        )
    parts, gains, own = parts or Parts(threads=threads), gains_of(settings, Y), local()
    rules, separator = rules_of(settings), separator_of(settings)

    def grow(number):
        if not hasattr(own, "scratch"):
            own.scratch = make_scratch(X, Y)
        began = time.perf_counter()
        seed = np.uint64(seed_of(np.uint64(settings.seed), np.uint64(number)))
        tree = grow_tree(X, Y, gains, own.scratch, rules, separator, seed)
        return number, tree, time.perf_counter() - began

    grown = parts.earlier()
    if grown:
        print(f"{title}: continues, {len(grown)} of {len(numbers)} trees were finished", file=sys.stderr)
    left = [number for number in numbers if number not in grown]
    pool = ThreadPoolExecutor(threads, initializer=settle_thread)
    with Progress(title, len(left), "trees") as progress:
        try:
            for growing in as_completed([pool.submit(grow, number) for number in left]):
                number, tree, seconds = growing.result()
                grown[number] = _arrays_of(*tree, seconds)
                parts.keep(number, **grown[number])
                progress.advance()
        finally:
            # trees that are being grown when another one fails, or at Ctrl-C, are not waited for
            pool.shutdown(wait=False, cancel_futures=True)
    core_seconds = parts.core_seconds
    parts.write()
    grown = [grown[number] for number in numbers]
    forest = join_trees([_forest_of(tree, X.n_columns, Y.n_columns) for tree in grown], X.n_columns, Y.n_columns)
    return GrownShard(forest, np.array([tree["seconds"][0] for tree in grown]), core_seconds, peak_rss_bytes())


_MATRICES = [f"{name}_{part}" for name in ("separators", "distributions") for part in ("data", "indices", "indptr")]


def _arrays_of(children, sizes, separators, distributions, seconds):
    """A tree as its parts keep it."""
    matrices = zip(_MATRICES, [*separators, *distributions], strict=True)
    return {"children": children, "sizes": sizes, "seconds": np.array([seconds]), **dict(matrices)}


def _forest_of(tree, d, n_labels):
    """The same as a forest of one tree."""
    matrices = [tree[name] for name in _MATRICES]
    starts = np.array([0, len(tree["children"])])
    return Forest(starts, tree["children"], tree["sizes"], CSR(*matrices[:3], d), CSR(*matrices[3:], n_labels))
