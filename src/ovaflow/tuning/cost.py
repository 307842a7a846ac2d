"""Which weight of the loss suits a dataset: ``C: auto``."""

from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence
from ovaflow.tuning.comparison import SAMPLE, compare, folds, summary, try_on

KIND = "C"


def choose_C(dataset, training, tune, threads=1):
    """Compare values of C on instances of the training set; returns JSON-able figures.

    ``training`` are the settings of the labels but C, ``tune`` those of the comparison. Values are tried from the one
    nearest to 1 on, upwards and downwards as long as they get better.
    """
    values, n = sorted(tune.candidates), dataset.train.X.n_rows
    sample = np.random.default_rng(0).permutation(n)[:SAMPLE]
    if len(sample) < 2:
        raise InputError(f"{n} training instances are too few to choose C on", path=dataset.path)
    rounds = list(folds(len(sample), tune.held_out))
    with Progress("choosing C", 0, "trainings") as progress:

        def attempt(C, part):
            fit, held = (np.sort(sample[positions]) for positions in part)
            given = replace(dataset, train=dataset.train.take(fit), test=dataset.train.take(held), checksum="")
            with silence():
                trial = try_on(given, training.model_copy(update={"C": C}), tune.metric, threads)
            progress.advance()
            return trial

        trials, chosen = compare(rounds, attempt, values, lambda score: _climb(values, score))
    return {"metric": tune.metric, "instances": len(sample)} | summary(dict(sorted(trials.items())), chosen)


def _climb(values, score):
    """Values tried, from the one nearest to 1: its neighbours on both sides, and on while they are better."""
    start = int(np.argmin(np.abs(np.log(values))))
    tried = [values[start]]
    for step in (1, -1):
        place, reached = start, score(values[start])
        while 0 <= place + step < len(values):
            place += step
            tried.append(values[place])
            if score(values[place]) <= reached:
                break
            reached = score(values[place])
    return tried
