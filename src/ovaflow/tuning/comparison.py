"""Candidates compared on the same held-out instances; the default stays unless another is surely
better.
"""

import math
import time
from typing import NamedTuple, get_args

import numpy as np

from ovaflow.evaluation.metric import compute_instance_scores, compute_metric, get_metric
from ovaflow.evaluation.ranking import Ranked
from ovaflow.evaluation.resampling import MeanDifference
from ovaflow.settings.prepare import Comparison
from ovaflow.training.shard_job import train_model

_ENOUGH_HELD_OUT = 1200
_MAX_ROUNDS = 10
"""Held-out instances that are enough, and most rounds to get there."""
_SURE_STANDARD_ERRORS = 2
"""Standard errors by which a candidate is surely better or worse."""
_MAX_PRECISION_LOSS = 0.002
"""By how much P@1 may fall for another metric: more is seen by whoever takes the first suggestion.
"""
COMPARED_METRICS = get_args(Comparison.model_fields["metric"].annotation)


class Trial(NamedTuple):
    """What a candidate reached in a round."""

    scores: np.ndarray  # of the held-out instances; their mean is the metric
    first: np.ndarray  # whether the first label of each is right; their mean is P@1
    metrics: dict
    seconds: float  # of the processor


def divide_into_rounds(groups, held_out):
    """Positions of instances divided into others and held-out ones, as often as it takes to hold
    out enough.
    """
    n = len(groups)
    units = np.unique(groups, return_inverse=True)[1]
    # in the order of the rows large groups would come first, and be held out more often than they
    # occur
    places = np.random.default_rng(0).permutation(units.max(initial=0) + 1)
    order = np.argsort(places[units], kind="stable")
    held = min(max(1, round(held_out * n)), n - 1)
    rounds = max(1, min(_MAX_ROUNDS, n // held, math.ceil(_ENOUGH_HELD_OUT / held)))
    for number in range(rounds):
        part = np.sort(order[number * held : (number + 1) * held])
        # of a group of near twins that goes on in the next round, the rest is in neither part
        yield np.flatnonzero(~np.isin(groups, groups[part])), part


def train_and_score(dataset, training, metric, threads):
    """Train on a dataset in memory and score its test set."""
    began = time.process_time()
    model = train_model(dataset, training, training.stored_threshold, threads)
    ids, _ = model.top_k(dataset.test.X, 5, threads)
    seconds = time.process_time() - began
    inverse = dataset.inverse_propensity(training.propensity_a, training.propensity_b)
    ranked = Ranked(ids, dataset.test.Y, inverse)
    return Trial(
        compute_instance_scores(metric, ranked),
        ranked.hits[:, 0],
        {name: compute_metric(name, ranked) for name in COMPARED_METRICS},
        seconds,
    )


def compare_candidates(rounds, attempt, candidates):
    """Trials by candidate, and the best; who is two standard errors behind drops out."""
    trials = {candidate: [] for candidate in candidates}
    alive = list(candidates)
    best = None
    for part in rounds:
        for candidate in alive:
            trials[candidate].append(attempt(candidate, part))
        best = max(alive, key=lambda candidate: _scores(trials[candidate]).mean())
        differences = {name: _difference(trials[best], trials[name]) for name in alive}
        alive = [
            name
            for name, (mean, error) in differences.items()
            if mean >= -_SURE_STANDARD_ERRORS * error
        ]
        if len(alive) == 1:
            break
    return trials, best


def _scores(trials, of="scores"):
    return np.concatenate([getattr(trial, of) for trial in trials]).astype(float)


def _difference(trials, others, of="scores"):
    """The second's scores less the first's on the same instances."""
    rounds = min(len(trials), len(others))
    return MeanDifference.of(_scores(trials[:rounds], of), _scores(others[:rounds], of))


def decide(metric, trials, best, default, try_on_all=None):
    """What is used, as JSON: the best candidate where it is surely better than the default.

    ``try_on_all`` gives a candidate's trial with all instances, which decides; None where those of
    ``trials`` were all.
    """
    tables = {"candidates": trials}
    if best != default and try_on_all is not None:
        tables["check"] = {name: [try_on_all(name)] for name in (default, best)}
    chosen = _choose_surely_better(metric, tables.get("check", trials), best, default)
    entries = {name: _entries(part, chosen) for name, part in tables.items()}
    return {"metric": metric, "default": default, "chosen": chosen, **entries}


def _choose_surely_better(metric, trials, best, default):
    """The best candidate, or the default where that may be as good or has better first labels."""
    gain, error = _difference(trials[default], trials[best])
    change, noise = _difference(trials[default], trials[best], "first")
    # whoever looks for rare labels takes others first; few instances say little of a change so
    # small
    is_of_rare_labels = get_metric(metric)[0].by_propensity
    falls = change + noise < -_MAX_PRECISION_LOSS and not is_of_rare_labels
    return best if gain > _SURE_STANDARD_ERRORS * error and not falls else default


def _entries(trials, chosen):
    """Entries of the candidates: metrics, difference from the chosen one, and time."""
    entries = []
    for candidate, rounds in trials.items():
        difference, error = _difference(trials[chosen], rounds)
        entry = {
            "candidate": candidate,
            "rounds": len(rounds),
            "held_out": sum(len(trial.scores) for trial in rounds),
            "difference": difference,
            "error": error,
            "seconds": sum(trial.seconds for trial in rounds),
            "metrics": {name: _mean_of(name, rounds) for name in COMPARED_METRICS},
        }
        entries.append(entry)
    return entries


def _mean_of(metric, rounds):
    weights = [len(trial.scores) for trial in rounds]
    return float(np.average([trial.metrics[metric] for trial in rounds], weights=weights))
