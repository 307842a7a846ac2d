"""What a start from an earlier model saves: some labels solved from it and from a cold start."""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.label_tree import with_ancestors
from ovaflow.training.shard_job import train_labels

SHARE = 0.02
"""Share of the labels that are solved twice."""

FEWEST = 128
"""At least this many labels are solved, if there are as many: two batches of the fast path."""

MEANS = ("newton_steps", "cg_steps", "full_passes", "seconds")
"""Statistics that are averaged over the sample."""


def compare_with_cold_start(dataset, inputs, training, seed=0):
    """Solve a random sample of labels twice, under one stopping rule and on one thread; returns JSON-able figures.

    ``inputs`` has an earlier model; ``training.initialization`` is the cold start. ``labels`` is the size of the
    sample, ``of`` the labels with positives, ``cold`` and ``warm`` are averages over the sample (seconds of processor
    time, which other programs hardly change), ``objective_difference`` is the largest, relative to the cold start's.
    """
    candidates = np.flatnonzero(inputs.means.counts)
    if not len(candidates):
        raise InputError(
            "no label has positives", path=dataset.path, remedy="give a dataset whose training instances have labels"
        )
    size = min(len(candidates), max(FEWEST, round(SHARE * len(candidates))))
    labels = np.sort(np.random.default_rng(seed).choice(candidates, size, replace=False))
    by_count = labels[np.argsort(inputs.means.counts[labels])]
    # loads the kernels of both solvers before the clock runs
    train_labels(dataset, inputs, by_count[[0, -1]] if size > 1 else labels, training, title="warm up")
    # parents are solved with their children, and left out of the comparison
    above = labels if inputs.parents is None else with_ancestors(labels, inputs.parents)
    cold = {name: values[:size] for name, values in _solved(dataset, inputs, above, training).items()}
    warm = _solved(dataset, inputs, labels, training.model_copy(update={"initialization": "pretrained"}))
    difference = (warm["objective"] - cold["objective"]) / cold["objective"]
    return {
        "initialization": training.initialization,
        "labels": size,
        "of": len(candidates),
        "cold": {name: float(cold[name].mean()) for name in MEANS},
        "warm": {name: float(warm[name].mean()) for name in MEANS},
        "objective_difference": float(np.abs(difference).max()),
    }


def _solved(dataset, inputs, labels, training):
    """Statistics of the labels."""
    return train_labels(dataset, inputs, labels, training, title=training.initialization).statistics
