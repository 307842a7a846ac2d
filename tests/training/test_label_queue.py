"""The queue of labels: each once, parents first, in fair shares, without waiting forever."""

import time
from threading import Thread

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.training.label_jobs import LabelQueue


def make_parents(seed: int, n_labels: int) -> np.ndarray:
    """Make a forest: the parent of each label comes before it in a random order, or is the root."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_labels)
    parents = np.full(n_labels, ROOT_PARENT)
    for place, label in enumerate(order):
        if place and rng.random() < 0.8:
            parents[label] = order[rng.integers(place)]
    return parents


@given(st.integers(0, 1000), st.integers(0, 40), st.integers(1, 4))
def test_threads_solve_each_label_once_and_parents_first(seed, n_labels, threads) -> None:
    parents = make_parents(seed, n_labels)
    fast = (np.random.default_rng(seed).random(n_labels) < 0.5).tolist()
    queue = LabelQueue(list(range(n_labels)), fast, parents, threads)
    solved = []

    def work() -> None:
        while queue.wait():
            for kind in (False, True):
                label = queue.take(fast=kind)
                if label is not None:
                    assert fast[label] == kind
                    solved.append(label)
                    queue.finish(label)

    workers = [Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=20)
        assert not worker.is_alive()
    assert sorted(solved) == list(range(n_labels))
    place = np.argsort(solved)
    assert all(
        place[parents[label]] < place[label]
        for label in range(n_labels)
        if parents[label] != ROOT_PARENT
    )


def test_children_are_taken_before_labels_that_were_ready_earlier() -> None:
    queue = LabelQueue([0, 1, 2, 3], [False] * 4, np.array([ROOT_PARENT, ROOT_PARENT, 0, 0]))
    assert queue.take(fast=False) == 0
    queue.finish(0)
    assert [queue.take(fast=False) for _ in range(3)] == [2, 3, 1]


def test_labels_are_shared_out() -> None:
    queue = LabelQueue(list(range(10)), [True] * 10, threads=2)
    assert [queue.take(fast=True, held=held) for held in range(6)] == [0, 1, 2, 3, 4, None]
    assert [queue.take(fast=True, held=held) for held in range(5)] == [5, 6, 7, 8, 9]
    assert not queue.wait()


def test_a_stop_ends_waiting() -> None:
    queue = LabelQueue([0, 1], [False, False], np.array([ROOT_PARENT, 0]))
    assert queue.take(fast=False) == 0
    results = []
    waiting = Thread(target=lambda: results.append(queue.wait()))
    waiting.start()
    time.sleep(0.05)
    assert waiting.is_alive()
    queue.stop()
    waiting.join(timeout=5)
    assert results == [False]
    queue.finish(0)
    assert queue.take(fast=False) is None
