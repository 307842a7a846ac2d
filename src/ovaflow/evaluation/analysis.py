"""Where a run is good and where it fails: what metrics.json says in one number each, label by label."""

import numpy as np

from ovaflow.data.propensity import inverse_propensity
from ovaflow.evaluation import failures
from ovaflow.evaluation.deciles import decile_starts
from ovaflow.evaluation.groups import frequency_groups
from ovaflow.evaluation.metrics import PLACES, check_inputs
from ovaflow.evaluation.ranking import find_hits

NAMES = {0: "unseen", 1: "tail", 6: "torso", 101: "head"}
"""Fewest training positives of a group and its name."""

BINS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1001, 10001, 100001)
"""Fewest training positives of each bin, finer."""

WORST = 20
"""Failures of each kind that are listed."""


def analyse(predictions, dataset, model, a, b):
    """Results by training frequency, and failures, as a dict for JSON; propensities have the constants a and b."""
    check_inputs(predictions, dataset, model)
    Y, k = dataset.test.Y, min(max(PLACES), predictions.ids.shape[1])
    ids, scores = predictions.ids[:, :k], predictions.scores[:, :k]
    hits = find_hits(ids, Y)
    inverse = inverse_propensity(model.counts, dataset.train.X.n_rows, a, b)

    def grouped(starts):
        return frequency_groups(ids, hits, Y, model.counts, k, starts, inverse)

    return {
        "model": model.checksum,
        "k": k,
        "groups": [{"name": NAMES[group["from"]], **group} for group in grouped(tuple(NAMES))],
        "deciles": _named(grouped, model.counts),
        "bins": [group for group in grouped((0, *BINS)) if group["from"]],
        "wrong": failures.sure_and_wrong(ids, scores, hits, np.diff(Y.indptr), WORST),
        "missed": failures.often_missed(ids, hits, Y, WORST),
        "confused": failures.confused(ids, hits, Y, WORST),
    }


def _named(grouped, counts):
    starts, deciles = decile_starts(counts)
    groups = [group for group in grouped((0, *starts)) if group["from"]] if starts else []
    names = [f"{first}" if first == last else f"{first}–{last}" for first, last in deciles]
    return [{"name": name, **group} for name, group in zip(names, groups, strict=True)]
