"""Which weight of the loss suits a dataset: ``C: auto``."""

import math
from functools import cache, partial

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence_progress
from ovaflow.dataset.hold_out import draw_held_out_documents
from ovaflow.dataset.partition import drop_unseen_labels, partition_documents
from ovaflow.records.units import select_units
from ovaflow.tuning.comparison import (
    compare_candidates,
    decide,
    divide_into_rounds,
    train_and_score,
)

COST_KIND = "C"

_MAX_SAMPLED_INSTANCES = 12_000
"""Most instances to search on; what is found there is checked with all."""


def choose_C(dataset, training, tune, threads=1):
    """Compare the C nearest to 1, the default, with its neighbours, and the next while the last is
    best.
    """
    sample, available = _sample_of(dataset, tune.instances or _MAX_SAMPLED_INSTANCES)
    rounds = list(divide_into_rounds(select_units(dataset.units, sample), tune.held_out))
    with Progress("choosing C", 0, "trainings") as progress:

        def train(part, C):
            with silence_progress():
                trial = train_and_score(
                    part, training.model_copy(update={"C": C}), tune.metric, threads
                )
            progress.advance()
            return trial

        @cache
        def attempt(C, number):
            fit, held = (np.sort(sample[positions]) for positions in rounds[number])
            return train(_part(dataset, fit, held), C)

        def try_on_all(C):
            return train(_all(dataset, tune.held_out), C)

        values = sorted(tune.candidates)
        default = min(values, key=lambda C: abs(math.log(C)))
        trials, best = _search(
            values, values.index(default), partial(compare_candidates, range(len(rounds)), attempt)
        )
        decision = decide(
            tune.metric, trials, best, default, try_on_all if len(sample) < available else None
        )
    return {"instances": len(sample)} | decision


def _search(values, place, compare_some):
    """Trials of the value at a place and its neighbours, and the best; and of the next while the
    last is best.
    """
    low = max(place - 1, 0)
    high = min(place + 2, len(values))
    before = None
    while (low, high) != before:
        trials, best = compare_some(values[low:high])
        before = low, high
        low = max(low - (best == values[low]), 0)
        high = min(high + (best == values[high - 1]), len(values))
    return trials, best


def _sample_of(dataset, size):
    """A sample of at most so many training instances that may be held out, and how many there are."""
    n = dataset.n_documents
    order = np.random.default_rng(0).permutation(n)
    order = order[~dataset.extra_documents[order]]
    if min(size, len(order)) < 2:
        raise InputError(f"{n} training instances are too few to choose C on", path=dataset.path)
    return order[:size], len(order)


def _all(dataset, held_out):
    """Return a dataset of all training instances but a share to test, as the second stage holds
    them out.
    """
    held = draw_held_out_documents(dataset, held_out)
    # near twins of held-out instances are left out of training, extra ones among them
    tested = held & ~dataset.extra_documents
    return _part(dataset, np.flatnonzero(~held), np.flatnonzero(tested))


def _part(dataset, fit, held):
    return drop_unseen_labels(partition_documents(dataset, fit, held))
