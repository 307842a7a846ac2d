"""How small weights must be to be dropped at no cost: ``prune: auto``."""

from ovaflow.evaluation.metric import compute_instance_scores
from ovaflow.evaluation.pruned_models import measure_pruned, sample_test_instances
from ovaflow.evaluation.ranking import Ranked
from ovaflow.evaluation.resampling import MeanDifference
from ovaflow.settings.train import DEFAULT_THRESHOLD, STORED_THRESHOLD
from ovaflow.storage.texts import read_json

PRUNE_KIND = "prune"

CANDIDATE_THRESHOLDS = (STORED_THRESHOLD, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)

GUARDED_METRICS = ("nDCG@5", "PSP@5")

_LOSS = 0.001
_SURE = 2
"""Nothing is lost where a metric is surely, by so many standard errors, no more than a tenth of a
point lower.
"""


def resolve_threshold(prune, dataset, choice=None):
    """Size below which weights are dropped; ``choice`` is the file of what auto chose, if any."""
    if prune != "auto":
        return prune
    if choice is not None:
        return read_json(choice, PRUNE_KIND)["chosen"]
    # of instances of another length, weights that matter may all be small
    return DEFAULT_THRESHOLD if dataset.parameters.get("normalize") else STORED_THRESHOLD


def choose_prune(model, dataset, a, b, threads=1):
    """The largest threshold up to which nothing is lost on the test instances, as JSON."""
    test = sample_test_instances(dataset)
    inverse = dataset.inverse_propensity(a, b)
    points = []
    before = None
    chosen = CANDIDATE_THRESHOLDS[0]
    good = True
    for point, ids in measure_pruned(model, CANDIDATE_THRESHOLDS, test, inverse, threads):
        scores = _scores(ids, test.Y, inverse)
        before = scores if before is None else before
        change = {
            metric: MeanDifference.of(before[metric], scores[metric]) for metric in GUARDED_METRICS
        }
        points.append(
            point | {"change": {metric: each._asdict() for metric, each in change.items()}}
        )
        good = good and all(each.mean - _SURE * each.error >= -_LOSS for each in change.values())
        chosen = point["prune"] if good else chosen
    return {"chosen": chosen, "instances": test.X.n_rows, "points": points}


def _scores(ids, Y, inverse):
    """What each instance has of each metric; their means are the metrics."""
    ranked = Ranked(ids, Y, inverse)
    return {metric: compute_instance_scores(metric, ranked) for metric in GUARDED_METRICS}
