"""One shard of a forest: threads that grow trees."""

import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import local

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.fastxml.assignment import RESOLUTION
from ovaflow.fastxml.finished_trees import FinishedTrees
from ovaflow.fastxml.forest import Forest, join_trees
from ovaflow.fastxml.growing import grow_tree
from ovaflow.fastxml.scratch import make_scratch
from ovaflow.fastxml.seeding import seed_of
from ovaflow.machine.place import settle_thread
from ovaflow.training.memory import peak_rss_bytes


@dataclass(frozen=True)
class GrownShard:
    """Trees of a shard.

    Attributes
    ----------
    forest : Forest
    seconds : ndarray of float64, shape (T,)
        Time spent on each tree.
    core_seconds : float
        Threads times wall seconds, of all attempts.
    peak_rss_bytes : int
    """

    forest: Forest
    seconds: np.ndarray
    core_seconds: float
    peak_rss_bytes: int


def grow_trees(dataset, numbers, forestry, threads=1, title="grow", journal=None):
    """Grow some trees of a forest.

    Parameters
    ----------
    dataset : Dataset
    numbers : sequence of int
        Which; a tree depends on its number and the settings alone.
    forestry : Forestry
    threads : int
        Trees grown at a time; they change no result.
    title : str
        Name of the step in its progress lines.
    journal : Journal, optional
        Keeps trees as they are finished; what it holds already is not grown.

    Returns
    -------
    GrownShard
        Trees in the order given.

    Raises
    ------
    InputError
        If there are too many instances and labels for the sums of gains.
    """
    X, Y = dataset.train.X, dataset.train.Y
    if max(X.n_rows, 1) * max(Y.n_columns, 1) * RESOLUTION >= 1 << 62:
        raise InputError(
            "too many instances times labels for fastxml (more than 4e12)",
            path=dataset.path,
            remedy="train on fewer instances, or one-vs-all",
        )
    finished, gains, own = FinishedTrees(journal, threads, X.n_columns, Y.n_columns), forestry.gains(Y), local()

    def grow(number):
        if not hasattr(own, "scratch"):
            own.scratch = make_scratch(X, Y)
        began = time.perf_counter()
        seed = np.uint64(seed_of(np.uint64(forestry.seed), np.uint64(number)))
        arrays = grow_tree(X, Y, gains, own.scratch, forestry.rules, forestry.separator, seed)
        return number, arrays, time.perf_counter() - began

    grown = finished.earlier(numbers, title)
    left = [number for number in numbers if number not in grown]
    pool = ThreadPoolExecutor(threads, initializer=settle_thread)
    with Progress(title, len(left), "trees") as progress, pool:
        try:
            for growing in as_completed([pool.submit(grow, number) for number in left]):
                number, arrays, seconds = growing.result()
                grown[number] = finished.keep(number, arrays, seconds)
                progress.advance()
        finally:
            pool.shutdown(cancel_futures=True)
    core_seconds = finished.core_seconds
    if journal is not None:
        journal.write()
    grown = [grown[number] for number in numbers]
    forest = join_trees([tree.forest for tree in grown], X.n_columns, Y.n_columns)
    return GrownShard(forest, np.array([tree.seconds for tree in grown]), core_seconds, peak_rss_bytes())
