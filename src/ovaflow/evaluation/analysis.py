"""Where a run is good and where it fails, by label and by group of labels."""

import numpy as np

from ovaflow.evaluation.metrics import PLACES, most_places
from ovaflow.evaluation.ranking import best_gains, find_hits, indicator, ratio
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.answer_length import count_as_predicted

TENTHS = np.append(np.arange(1, 10) / 10, 1)

STARTS = (0, 1, 2, 5, 10, 50, 100, 1000)
"""Smallest number of training positives of each group, 0 first."""

NAMES = {0: "unseen", 1: "tail", 6: "torso", 101: "head"}
"""Names of the groups by their fewest training positives."""

BINS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1001, 10001, 100001)
"""Fewest training positives of each bin."""

WORST = 20  # failures of each kind that are listed
ENOUGH = 10  # fewest test positives of a label whose own figures mean something
TRUSTED = 10  # labels listed as the best, and as the worst


def decile_starts(counts):
    """Smallest counts of ten groups of equal size, rarest first, and the deciles of each."""
    known = counts[counts > 0]
    if not len(known):
        return [], []
    # the groups of pandas.qcut(counts, 10, duplicates="drop"): equally frequent labels stay together
    ends, present = np.floor(np.quantile(known, TENTHS)), np.unique(known)
    before, places = np.unique(np.searchsorted(ends, present), return_index=True)
    last = np.searchsorted(ends, ends[before], "right")
    return present[places].tolist(), list(zip((before + 1).tolist(), last.tolist(), strict=True))


def _tallies(ids, hits, Y):
    """How often each label is true, predicted and a hit: three arrays (l,)."""
    occurrences = Y.indices, ids[ids >= 0], ids[hits]
    return [np.bincount(labels, minlength=Y.n_columns) for labels in occurrences]


def results_of_labels(predictions, dataset):
    """Head and rows of labels.csv: how often each is true, predicted and right; at 5 places, and where it fits."""
    Y, ids, ranking = dataset.test.Y, predictions.ids[:, : max(PLACES)], predictions.ranking
    true, *first = _tallies(ids, find_hits(ids, Y), Y)
    columns = {
        "label": dataset.label_names,
        "uri": dataset.label_uris or [""] * dataset.n_labels,
        "training_documents": dataset.counts.tolist(),
        "test_positives": true.tolist(),
        **_quality_of_labels(true, *first),
    }
    if ranking is not None:
        counted = count_as_predicted(ranking.ids, ranking.probabilities, probabilistic=True)
        fitting = np.where(counted, ranking.ids, NO_LABEL)
        _, *fit = _tallies(fitting, find_hits(fitting, Y), Y)
        columns |= {f"{name}_fit": values for name, values in _quality_of_labels(true, *fit).items()}
    yield [*columns]
    yield from zip(*columns.values(), strict=True)


def _quality_of_labels(true, predicted, right):
    """Columns of labels.csv; a share of nothing is empty."""

    def share(part, whole):
        return [round(p / w, 4) if w else "" for p, w in zip(part.tolist(), whole.tolist(), strict=True)]

    return {
        "predicted": predicted.tolist(),
        "hits": right.tolist(),
        "precision": share(right, predicted),
        "recall": share(right, true),
        "F1": share(2 * right, true + predicted),
    }


def best_and_worst(ids, hits, Y, amount):
    """Labels of the largest and of the smallest F1, with :data:`ENOUGH` test positives."""
    true, predicted, right = _tallies(ids, hits, Y)
    enough = np.flatnonzero(true >= ENOUGH)
    f1 = 2 * right[enough] / (true + predicted)[enough]
    order = enough[np.lexsort((-true[enough], -f1))]
    amount = min(amount, (len(order) + 1) // 2)

    def entries(labels):
        tallies = {"true": true, "predicted": predicted, "found": right}
        return [{"label": j} | {name: int(of[j]) for name, of in tallies.items()} for j in labels.tolist()]

    worst = order[amount:][::-1][:amount]
    return {"enough": len(enough), "best": entries(order[:amount]), "worst": entries(worst)}


def frequency_groups(ids, hits, Y, counts, k, starts, inverse):
    """Results by group of labels with similar counts; precision and psp add up to P@k and PSP@k."""
    first, hit = ids[:, :k], hits[:, :k]
    true, predicted, right = _tallies(first, hit, Y)
    group = np.searchsorted(starts, counts, "right") - 1
    gains, best = np.bincount(group, right * inverse, len(starts)), best_gains(Y, inverse, k).sum()
    rows = []
    for g, start in enumerate(starts):
        members = group == g
        if not members.any():
            continue
        n_hits, n_true = int(right[members].sum()), int(true[members].sum())
        rows.append({
            "from": start,
            "to": starts[g + 1] - 1 if g + 1 < len(starts) else None,
            "labels": int(members.sum()),
            "true": n_true,
            "predicted": int(predicted[members].sum()),
            "hits": n_hits,
            "recall": ratio(n_hits, n_true),
            "precision": ratio(n_hits, first.size),
            "coverage": ratio((right[members] > 0).sum(), (true[members] > 0).sum()),
            "psp": ratio(gains[g], best),
        })  # fmt: skip
    return rows


def sure_and_wrong(ids, scores, hits, n_true, amount):
    """First predictions with the highest scores that are not true, each label once."""
    rows = np.flatnonzero((n_true > 0) & ~hits[:, 0] & (ids[:, 0] >= 0))
    rows = rows[np.argsort(-scores[rows, 0], kind="stable")]
    _, first = np.unique(ids[rows, 0], return_index=True)
    return [
        {"row": int(row), "label": int(ids[row, 0]), "score": float(scores[row, 0])}
        for row in rows[np.sort(first)][:amount]
    ]


def often_missed(ids, hits, Y, amount):
    """Labels that are missed in the most instances: how often they are true, and found."""
    true, _, right = _tallies(ids, hits, Y)
    missed = true - right
    order = np.argsort(-missed, kind="stable")[:amount]
    labels = order[missed[order] > 0]
    return [{"label": int(j), "true": int(true[j]), "found": int(right[j])} for j in labels]


def confused(ids, hits, Y, amount):
    """Pairs of a missed and a wrongly predicted label, those that exceed chance most first."""
    # with m labels there are min(m, k) places: a wrong prediction takes that of a missed label
    places = np.arange(ids.shape[1]) < np.diff(Y.indptr)[:, None]
    wrong = indicator(np.where(hits | ~places, NO_LABEL, ids), Y)
    missed = Y.to_scipy() > indicator(np.where(hits, ids, NO_LABEL), Y)
    together = missed.T.astype(np.int64) @ wrong.astype(np.int64)
    together.sort_indices()
    pairs, of_missed, of_wrong = together.tocoo(), together.sum(axis=1), together.sum(axis=0)
    times, (left, right) = pairs.data, pairs.coords
    expected = of_missed[left] * of_wrong[right] / times.sum()
    order = np.argsort(expected - times, kind="stable")[:amount]
    return [
        {"true": int(left[i]), "predicted": int(right[i]), "times": int(times[i]), "expected": float(expected[i])}
        for i in order
        if times[i] > 1
    ]


def evaluate_groups(predictions, dataset, model, a, b):
    """Results by training frequency at 5 places, or as many as were predicted."""
    k, _, groups = _grouping(predictions, dataset, model, a, b)
    return {"k": k, "groups": groups(STARTS)}


def analyse(predictions, dataset, model, a, b):
    """Results by training frequency, and failures; propensities have the constants a and b."""
    k, hits, groups = _grouping(predictions, dataset, model, a, b)
    Y, ids, scores = dataset.test.Y, predictions.ids[:, :k], predictions.scores[:, :k]
    starts, deciles = decile_starts(dataset.counts)
    names = [f"{first}" if first == last else f"{first}–{last}" for first, last in deciles]
    by_decile = [group for group in groups((0, *starts)) if group["from"]]
    return {
        "model": model.checksum,
        "k": k,
        "groups": [{"name": NAMES[group["from"]], **group} for group in groups(tuple(NAMES))],
        "deciles": [{"name": name, **group} for name, group in zip(names, by_decile, strict=True)],
        "bins": [group for group in groups((0, *BINS)) if group["from"]],
        "wrong": sure_and_wrong(ids, scores, hits, np.diff(Y.indptr), WORST),
        "trust": best_and_worst(ids, hits, Y, TRUSTED),
        "missed": often_missed(ids, hits, Y, WORST),
        "confused": confused(ids, hits, Y, WORST),
    }


def _grouping(predictions, dataset, model, a, b):
    """Number of places, hits there, and a function of the groups' smallest counts."""
    predictions.require(dataset=dataset, model=model)
    Y, k = dataset.test.Y, min(max(PLACES), most_places(predictions.ids, dataset.test.Y))
    ids = predictions.ids[:, :k]
    hits, inverse = find_hits(ids, Y), dataset.inverse_propensity(a, b)
    return k, hits, lambda starts: frequency_groups(ids, hits, Y, dataset.counts, k, starts, inverse)
