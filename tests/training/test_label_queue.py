"""Labels for threads: each once, parents first, in fair shares, without waiting for ever."""

import time
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.artifacts.label_tree import ROOT
from ovaflow.training.label_queue import Hand, LabelQueue


def random_parents(seed, n_labels):
    """A forest: each label hangs at the root or at one that comes before it in a random order."""
    rng = np.random.default_rng(seed)
    order, parents = rng.permutation(n_labels), np.full(n_labels, ROOT)
    for place, label in enumerate(order):
        if place and rng.random() < 0.8:
            parents[label] = order[rng.integers(place)]
    return parents


@given(st.integers(0, 1000), st.integers(0, 40), st.integers(1, 3), st.integers(1, 4))
def test_threads_solve_each_label_once_and_parents_first(seed, n_labels, n_kinds, threads):
    parents = random_parents(seed, n_labels)
    kinds = np.random.default_rng(seed).integers(0, n_kinds, n_labels).tolist()
    queue, solved = LabelQueue(list(range(n_labels)), kinds, n_kinds, parents, threads), []

    def work():
        hand = Hand(queue)
        labels = [hand.labels(kind) for kind in range(n_kinds)]
        while labels:
            for iterator in tuple(labels):
                try:
                    label = next(iterator)
                except StopIteration:
                    labels.remove(iterator)
                    continue
                if label is not None:
                    solved.append(label)
                    hand.finish(label)
            queue.wait()

    workers = [Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=20)
        assert not worker.is_alive()
    assert sorted(solved) == list(range(n_labels))
    place = np.argsort(solved)
    assert all(place[parents[label]] < place[label] for label in range(n_labels) if parents[label] != ROOT)


def test_children_are_taken_before_what_was_ready_before():
    queue = LabelQueue([0, 1, 2, 3], [0, 0, 0, 0], 1, np.array([ROOT, ROOT, 0, 0]))
    hand = Hand(queue)
    labels = hand.labels(0)
    assert next(labels) == 0
    hand.finish(0)
    assert [next(labels) for _ in range(3)] == [2, 3, 1]


def test_labels_are_shared_out():
    queue = LabelQueue(list(range(10)), [0] * 10, 1, threads=2)
    first, second = Hand(queue).labels(0), Hand(queue).labels(0)
    assert [next(first) for _ in range(6)] == [0, 1, 2, 3, 4, None]
    assert [next(second) for _ in range(5)] == [5, 6, 7, 8, 9]
    with pytest.raises(StopIteration):
        next(first)


def test_a_stop_ends_those_who_wait():
    queue = LabelQueue([0, 1], [0, 0], 1, np.array([ROOT, 0]))
    labels = Hand(queue).labels(0)
    assert next(labels) == 0
    waiting = Thread(target=queue.wait)
    waiting.start()
    time.sleep(0.05)
    assert waiting.is_alive()
    queue.stop()
    waiting.join(timeout=5)
    assert not waiting.is_alive()
    with pytest.raises(StopIteration):
        next(labels)
