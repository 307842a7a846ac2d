"""Which weight of the loss suits a dataset: ``C: auto``."""

from dataclasses import replace
from functools import cache

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence
from ovaflow.data.hold_out import copies_of
from ovaflow.data.near_twins import near_twins, rows_alike
from ovaflow.sparse.csr import rows_of
from ovaflow.tuning.comparison import compare, folds, summary, try_on

KIND = "C"

_SAMPLE = 12_000
"""Most instances to choose on: the best C falls as their number grows, up to 12,000 at least."""


def choose_C(dataset, training, tune, threads=1):
    """Compare the C nearest to 1 with its neighbours, and the next while the last is best."""
    values, n = sorted(tune.candidates), dataset.n_documents
    sample = np.random.default_rng(0).permutation(n)
    if dataset.train.extra is not None:
        sample = sample[~dataset.train.extra[sample]]
    sample = sample[: tune.instances or _SAMPLE]
    if len(sample) < 2:
        raise InputError(f"{n} training instances are too few to choose C on", path=dataset.path)
    groups = np.full(n, -1) if dataset.train.groups is None else dataset.train.groups
    alike = rows_alike(groups[sample])
    if dataset.parameters.get("split") != "random":
        X = rows_of(dataset.train.X, sample)
        alike = near_twins(X, copies_of(X, dataset.bias_feature), groups[sample])
    rounds = list(folds(alike, tune.held_out))
    with Progress("choosing C", 0, "trainings") as progress:

        @cache
        def attempt(C, number):
            fit, held = (np.sort(sample[positions]) for positions in rounds[number])
            with silence():
                trial = try_on(_part(dataset, fit, held), training.model_copy(update={"C": C}), tune.metric, threads)
            progress.advance()
            return trial

        middle = int(np.argmin(np.abs(np.log(values))))
        low, high, before = max(middle - 1, 0), min(middle + 2, len(values)), None
        while (low, high) != before:
            trials, best = compare(range(len(rounds)), attempt, values[low:high])
            before = low, high
            low, high = max(low - (best == values[low]), 0), min(high + (best == values[high - 1]), len(values))
    return {"metric": tune.metric, "instances": len(sample)} | summary(trials, best)


def _part(dataset, fit, held):
    """A dataset of some training instances, with the names of their labels, and of others to test."""
    Y, n = dataset.train.Y, dataset.n_documents
    labels = np.unique(rows_of(Y, fit).indices)
    names = n + np.flatnonzero(np.isin(Y.indices[Y.indptr[n] :], labels))
    return replace(
        dataset,
        train=dataset.train.take(np.concatenate([fit, names])),
        test=dataset.train.take(held),
        checksum="",
        parameters=dataset.parameters | {"named_labels": len(names)},
    )
