"""Choice of the weight of the loss for a dataset: ``C: auto``."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence_progress
from ovaflow.dataset.dataset import Dataset
from ovaflow.dataset.hold_out import draw_held_out_documents
from ovaflow.dataset.partition import drop_unseen_labels, partition_documents
from ovaflow.records.units import select_units
from ovaflow.settings.train import ChooseC, TrainLabels
from ovaflow.tuning.comparison import (
    Trial,
    compare_candidates,
    decide,
    divide_into_rounds,
    train_and_score,
)

COST_KIND = "C"
"""Kind of the file with the choice."""

_MAX_SAMPLED_INSTANCES = 12_000
"""Most instances to search on; the result is checked with all."""

Trials = dict[float, list[Trial]]


def choose_C(
    dataset: Dataset, training: TrainLabels, tune: ChooseC, threads: int = 1
) -> dict[str, Any]:
    """Choose C by held-out instances; returns JSON.

    The C nearest to 1, which is the default, is compared with its neighbours, and with the next
    value while the last is best.
    """
    sample, n_available = _draw_sample(dataset, tune.instances or _MAX_SAMPLED_INSTANCES)
    rounds = list(divide_into_rounds(select_units(dataset.units, sample), tune.held_out))
    with Progress("choosing C", 0, "trainings") as progress:

        def train(part: Dataset, C: float) -> Trial:
            with silence_progress():
                settings = training.model_copy(update={"C": C})
                trial = train_and_score(part, settings, tune.metric, threads)
            progress.advance()
            return trial

        @cache
        def attempt(C: float, number: int) -> Trial:
            fit_positions, held_out_positions = rounds[number]
            fit = np.sort(sample[fit_positions])
            held_out = np.sort(sample[held_out_positions])
            return train(_take_part(dataset, fit, held_out), C)

        def compare_some(values: Sequence[float]) -> tuple[Trials, float]:
            return compare_candidates(range(len(rounds)), attempt, values)

        def try_on_all(C: float) -> Trial:
            return train(_take_all(dataset, tune.held_out), C)

        values = sorted(tune.candidates)
        default = min(values, key=lambda C: abs(math.log(C)))
        trials, best = _search(values, values.index(default), compare_some)
        is_part = len(sample) < n_available
        decision = decide(tune.metric, trials, best, default, try_on_all if is_part else None)
    return {"instances": len(sample)} | decision


def _search(
    values: Sequence[float],
    place: int,
    compare_some: Callable[[Sequence[float]], tuple[Trials, float]],
) -> tuple[Trials, float]:
    """Compare the value at a place with its neighbours, and with the next while the last is best.

    Returns the trials, and the best value.
    """
    low = max(place - 1, 0)
    high = min(place + 2, len(values))
    while True:
        trials, best = compare_some(values[low:high])
        compared = low, high
        if best == values[compared[0]]:
            low = max(low - 1, 0)
        if best == values[compared[1] - 1]:
            high = min(high + 1, len(values))
        if (low, high) == compared:
            return trials, best


def _draw_sample(dataset: Dataset, size: int) -> tuple[np.ndarray, int]:
    """Draw at most ``size`` of the training instances that may be held out.

    Returns them, and how many there are.
    """
    n = dataset.n_documents
    order = np.random.default_rng(0).permutation(n)
    order = order[~dataset.extra_documents[order]]
    if min(size, len(order)) < 2:
        raise InputError(f"{n} training instances are too few to choose C on", path=dataset.path)
    return order[:size], len(order)


def _take_all(dataset: Dataset, share: float) -> Dataset:
    """Take all training instances, a share of them to test, as the second stage holds them out."""
    is_held_out = draw_held_out_documents(dataset, share)
    # near twins of held-out instances are left out of training, extra ones among them
    is_tested = is_held_out & ~dataset.extra_documents
    return _take_part(dataset, np.flatnonzero(~is_held_out), np.flatnonzero(is_tested))


def _take_part(dataset: Dataset, fit: np.ndarray, held_out: np.ndarray) -> Dataset:
    """Take some training instances, and others to test."""
    return drop_unseen_labels(partition_documents(dataset, fit, held_out))
