"""Which weight of the loss suits a dataset: ``C: auto``."""

from dataclasses import replace
from functools import cache

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence
from ovaflow.data.dataset import Names
from ovaflow.sparse.csr import CSR
from ovaflow.tuning.comparison import SAMPLE, compare, folds, summary, try_on

KIND = "C"


def _part_of(dataset, fit, held):
    """Some training instances as a dataset, with the features that they have; ``held`` are its test set."""
    parts = dataset.train.take(fit), dataset.train.take(held)
    # a label takes time for each feature, even for those that no instance has
    used = np.unique(parts[0].X.indices)
    column = np.full(dataset.n_features, -1, np.int32)
    column[used] = np.arange(len(used), dtype=np.int32)
    train, test = (replace(part, X=_columns_of(part.X, column, len(used))) for part in parts)
    return replace(dataset, train=train, test=test, checksum="", given=Names(dataset.label_names, []))


def _columns_of(X, column, n_columns):
    """A matrix with some of its columns; -1 leaves one out."""
    kept = column[X.indices] >= 0
    before = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=before[1:])
    return CSR(X.data[kept], column[X.indices[kept]], before[X.indptr], n_columns)


def choose_C(dataset, training, tune, threads=1):
    """Compare values of C on instances of the training set; returns JSON-able figures.

    ``training`` are the settings of the labels but C, ``tune`` those of the comparison. The value nearest to 1 is
    compared with its neighbours, and as long as the best is the last of those tried, with the next one.
    """
    values, n = sorted(tune.candidates), dataset.train.X.n_rows
    sample = np.random.default_rng(0).permutation(n)[:SAMPLE]
    if len(sample) < 2:
        raise InputError(f"{n} training instances are too few to choose C on", path=dataset.path)
    rounds = list(folds(len(sample), tune.held_out))
    with Progress("choosing C", 0, "trainings") as progress:

        @cache
        def attempt(C, number):
            fit, held = (np.sort(sample[positions]) for positions in rounds[number])
            with silence():
                trial = try_on(_part_of(dataset, fit, held), training.model_copy(update={"C": C}), tune.metric, threads)
            progress.advance()
            return trial

        middle = int(np.argmin(np.abs(np.log(values))))
        low, high, before = max(middle - 1, 0), min(middle + 2, len(values)), None
        while (low, high) != before:
            trials, best = compare(range(len(rounds)), attempt, values[low:high])
            before = low, high
            low, high = max(low - (best == values[low]), 0), min(high + (best == values[high - 1]), len(values))
    return {"metric": tune.metric, "instances": len(sample)} | summary(trials, best)
