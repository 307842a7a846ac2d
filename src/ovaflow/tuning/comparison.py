"""Comparison of candidates on the same held-out instances.

The default stays unless another candidate is surely better.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.metric import compute_instance_scores, compute_metric, get_metric
from ovaflow.evaluation.ranking import Ranked
from ovaflow.evaluation.resampling import MeanDifference
from ovaflow.settings.prepare import Comparison
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

_ENOUGH_HELD_OUT = 1200
"""Rounds are added until they hold out as many instances together."""

_MAX_ROUNDS = 10
"""Most rounds to get there."""

_SURE_STANDARD_ERRORS = 2
"""Standard errors by which a candidate is surely better or worse."""

_MAX_PRECISION_LOSS = 0.002
"""Loss of P@1 that is allowed for another metric: people who take the first suggestion notice more.
"""

COMPARED_METRICS = get_args(Comparison.model_fields["metric"].annotation)
"""Metrics of each candidate; the settings choose the one that decides."""

Candidate = TypeVar("Candidate")
Part = TypeVar("Part")
Round = tuple[np.ndarray, np.ndarray]
"""Positions of the instances to train on, and of those held out."""


class Trial(NamedTuple):
    """Result of a candidate in a round."""

    scores: np.ndarray  # of the held-out instances; their mean is the metric
    first: np.ndarray  # whether the first label of each is right; their mean is P@1
    metrics: dict[str, float]
    seconds: float  # of processor time


def divide_into_rounds(groups: np.ndarray, held_out: float) -> Iterator[Round]:
    """Divide instances into others and held-out ones, until enough have been held out.

    Parameters
    ----------
    groups : int (n,)
        Group of each instance; a group is never divided between others and held-out ones.
    held_out : float
        Share of the instances that a round holds out.
    """
    n = len(groups)
    _, units = np.unique(groups, return_inverse=True)
    # in the order of the rows large groups would come first, and be held out more often than they
    # occur
    places = np.random.default_rng(0).permutation(units.max(initial=0) + 1)
    order = np.argsort(places[units], kind="stable")
    n_held_out = min(max(1, round(held_out * n)), n - 1)
    n_rounds = min(_MAX_ROUNDS, n // n_held_out, math.ceil(_ENOUGH_HELD_OUT / n_held_out))
    for number in range(max(1, n_rounds)):
        part = np.sort(order[number * n_held_out : (number + 1) * n_held_out])
        # of a group of near twins that goes on in the next round, the rest is in neither part
        yield np.flatnonzero(~np.isin(groups, groups[part])), part


def train_and_score(dataset: Dataset, training: TrainLabels, metric: str, threads: int) -> Trial:
    """Train on a dataset in memory and score its test set."""
    began = time.process_time()
    model = train_model(dataset, training, training.stored_threshold, threads)
    ids, _ = model.top_k(dataset.test.X, 5, threads)
    seconds = time.process_time() - began
    inverse_propensity = dataset.inverse_propensity(training.propensity_a, training.propensity_b)
    ranked = Ranked(ids, dataset.test.Y, inverse_propensity)
    return Trial(
        scores=compute_instance_scores(metric, ranked),
        first=ranked.hits[:, 0],
        metrics={name: compute_metric(name, ranked) for name in COMPARED_METRICS},
        seconds=seconds,
    )


def compare_candidates(
    rounds: Iterable[Part],
    attempt: Callable[[Candidate, Part], Trial],
    candidates: Iterable[Candidate],
) -> tuple[dict[Candidate, list[Trial]], Candidate]:
    """Try candidates round by round; those that are surely worse than the best are not tried again.

    Returns the trials of each candidate, and the best.
    """
    remaining = list(candidates)
    trials: dict[Candidate, list[Trial]] = {candidate: [] for candidate in remaining}
    best = remaining[0]
    for part in rounds:
        for candidate in remaining:
            trials[candidate].append(attempt(candidate, part))
        best = max(remaining, key=lambda candidate: _join_scores(trials[candidate]).mean())
        good = []
        for candidate in remaining:
            difference = _compare_scores(trials[best], trials[candidate])
            if difference.mean >= -_SURE_STANDARD_ERRORS * difference.error:
                good.append(candidate)
        remaining = good
        if len(remaining) == 1:
            break
    return trials, best


def _join_scores(trials: Sequence[Trial]) -> np.ndarray:
    return np.concatenate([trial.scores for trial in trials]).astype(float)


def _join_first(trials: Sequence[Trial]) -> np.ndarray:
    return np.concatenate([trial.first for trial in trials]).astype(float)


def _compare_scores(before: Sequence[Trial], after: Sequence[Trial]) -> MeanDifference:
    """Compare the scores of two candidates on the same instances."""
    n_rounds = min(len(before), len(after))
    return MeanDifference.from_scores(
        _join_scores(before[:n_rounds]), _join_scores(after[:n_rounds])
    )


def _compare_first_labels(before: Sequence[Trial], after: Sequence[Trial]) -> MeanDifference:
    """Compare the first labels of two candidates on the same instances."""
    n_rounds = min(len(before), len(after))
    return MeanDifference.from_scores(_join_first(before[:n_rounds]), _join_first(after[:n_rounds]))


def decide(
    metric: str,
    trials: Mapping[Candidate, Sequence[Trial]],
    best: Candidate,
    default: Candidate,
    try_on_all: Callable[[Candidate], Trial] | None = None,
) -> dict[str, Any]:
    """Choose the best candidate where it is surely better than the default; returns JSON.

    ``try_on_all`` makes a candidate's trial with all instances, which decides; None where those of
    ``trials`` were all.
    """
    tables = {"candidates": trials}
    if best != default and try_on_all is not None:
        tables["check"] = {name: [try_on_all(name)] for name in (default, best)}
    chosen = _choose_surely_better(metric, tables.get("check", trials), best, default)
    entries = {name: _list_entries(part, chosen) for name, part in tables.items()}
    return {"metric": metric, "default": default, "chosen": chosen, **entries}


def _choose_surely_better(
    metric: str,
    trials: Mapping[Candidate, Sequence[Trial]],
    best: Candidate,
    default: Candidate,
) -> Candidate:
    """Choose the default if the best candidate may be no better or has worse first labels."""
    gain = _compare_scores(trials[default], trials[best])
    is_surely_better = gain.mean > _SURE_STANDARD_ERRORS * gain.error
    if not is_surely_better:
        return default
    # a metric of rare labels ranks others first on purpose
    compared_metric, _ = get_metric(metric)
    if compared_metric.by_propensity:
        return best
    # few instances say little of a change so small, so a standard error more is allowed
    change = _compare_first_labels(trials[default], trials[best])
    if change.mean + change.error < -_MAX_PRECISION_LOSS:
        return default
    return best


def _list_entries(
    trials: Mapping[Candidate, Sequence[Trial]], chosen: Candidate
) -> list[dict[str, Any]]:
    """List the metrics, difference from the chosen candidate, and time of each candidate."""
    entries = []
    for candidate, rounds in trials.items():
        difference = _compare_scores(trials[chosen], rounds)
        entry = {
            "candidate": candidate,
            "rounds": len(rounds),
            "held_out": sum(len(trial.scores) for trial in rounds),
            "difference": difference.mean,
            "error": difference.error,
            "seconds": sum(trial.seconds for trial in rounds),
            "metrics": {name: _average_metric(name, rounds) for name in COMPARED_METRICS},
        }
        entries.append(entry)
    return entries


def _average_metric(metric: str, rounds: Sequence[Trial]) -> float:
    """Average a metric over rounds, weighted by their instances."""
    weights = [len(trial.scores) for trial in rounds]
    return float(np.average([trial.metrics[metric] for trial in rounds], weights=weights))
