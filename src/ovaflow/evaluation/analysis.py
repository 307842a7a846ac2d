"""Where a run is good and where it fails, by label and by group of labels."""

import numpy as np

from ovaflow.evaluation.metric import CUTOFFS
from ovaflow.evaluation.ranking import find_best_gains, make_indicator_matrix, ratio
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.answer_length import FIRST_LABELS

FREQUENCY_BINS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1001, 10001, 100001)
"""Fewest training positives of each bin."""

MAX_CONFUSED_PAIRS = 20  # pairs of labels that are listed
MAX_MISSED_LABELS = 3  # labels missed though candidates that are listed

LIKELY_PROBABILITY = 0.2
"""Probability of labels that a person who looks at them may want to see."""


def tabulate_labels(measured, dataset):
    """Head and rows of labels.csv: how often each is true, predicted and right; at 5 places, and
    where it fits.
    """
    order = measured.order
    at_places = order.count_labels(order.first(max(CUTOFFS)))
    columns = {
        "label": dataset.label_names,
        "uri": dataset.label_uris or [""] * dataset.n_labels,
        "training_documents": dataset.counts.tolist(),
        "test_positives": at_places.true.tolist(),
        **_quality_of_labels(at_places),
    }
    if measured.probabilistic:
        fitting = measured.candidates.count_labels(measured.predicted)
        columns |= {f"{name}_fit": values for name, values in _quality_of_labels(fitting).items()}
    yield [*columns]
    yield from zip(*columns.values(), strict=True)


def _quality_of_labels(counts):
    """Columns of labels.csv; a share of nothing is empty."""
    true, predicted, right = counts

    def share(part, whole):
        return [
            round(p / w, 4) if w else "" for p, w in zip(part.tolist(), whole.tolist(), strict=True)
        ]

    return {
        "predicted": predicted.tolist(),
        "hits": right.tolist(),
        "precision": share(right, predicted),
        "recall": share(right, true),
        "F1": share(2 * right, true + predicted),
    }


def group_by_frequency(ranked, counts, k, starts):
    """Results by group of labels with similar counts; precision and psp add up to P@k and PSP@k."""
    true, predicted, right = ranked.count_labels(ranked.first(k))
    group = np.searchsorted(starts, counts, "right") - 1
    gains = np.bincount(group, right * ranked.inverse, len(starts))
    best = find_best_gains(ranked.Y, ranked.inverse, k).sum()
    places = k * len(ranked.ids)
    rows = []
    for g, start in enumerate(starts):
        members = group == g
        if not members.any():
            continue
        n_hits = int(right[members].sum())
        n_true = int(true[members].sum())
        rows.append(
            {
                "from": start,
                "to": starts[g + 1] - 1 if g + 1 < len(starts) else None,
                "labels": int(members.sum()),
                "true": n_true,
                "predicted": int(predicted[members].sum()),
                "hits": n_hits,
                "recall": ratio(n_hits, n_true),
                "precision": ratio(n_hits, places),
                "coverage": ratio((right[members] > 0).sum(), (true[members] > 0).sum()),
                "psp": ratio(gains[g], best),
            }
        )
    return rows


def find_confused_labels(ranked, k, amount):
    """Pairs of a label missed among the first k and one predicted instead, those that exceed chance
    most first.
    """
    ids = ranked.ids[:, :k]
    hits = ranked.hits[:, :k]
    Y = ranked.Y
    # with m labels there are min(m, k) places: a wrong prediction takes that of a missed label
    places = np.arange(ids.shape[1]) < np.diff(Y.indptr)[:, None]
    wrong = make_indicator_matrix(np.where(hits | ~places, NO_LABEL, ids), Y)
    missed = Y.to_scipy() > make_indicator_matrix(np.where(hits, ids, NO_LABEL), Y)
    together = missed.T.astype(np.int64) @ wrong.astype(np.int64)
    together.sort_indices()
    pairs = together.tocoo()
    of_missed = together.sum(axis=1)
    of_wrong = together.sum(axis=0)
    times = pairs.data
    (left, right) = pairs.coords
    expected = of_missed[left] * of_wrong[right] / times.sum()
    order = np.argsort(expected - times, kind="stable")[:amount]
    return [
        {
            "true": int(left[i]),
            "predicted": int(right[i]),
            "times": int(times[i]),
            "expected": float(expected[i]),
        }
        for i in order
        if times[i] > 1
    ]


def analyse(ranked, counts):
    """Results by training frequency, and labels predicted in place of others, among the first five."""
    k = min(max(CUTOFFS), ranked.most)
    bins = group_by_frequency(ranked, counts, k, (0, *FREQUENCY_BINS))
    return {
        "k": k,
        "bins": [group for group in bins if group["from"]],
        "confused": find_confused_labels(ranked, k, MAX_CONFUSED_PAIRS),
    }


def count_missed_labels(measured):
    """Count the true labels of test instances that a second stage found, and those that it missed,
    by reason.

    Candidates are its labels by falling probability: a missed label is none of them, or ranked
    after the first five, or among these and below the cut between labels that fit and others.
    ``listed``: true labels among the first five and ten; ``likely``: labels of a probability of at
    least :data:`LIKELY`, and the true ones of them.
    """
    ranked = measured.candidates
    hits = measured.hits
    fits = measured.predicted
    Y = ranked.Y
    first = ranked.first(FIRST_LABELS)
    likely = (ranked.ids != NO_LABEL) & (measured.values >= LIKELY_PROBABILITY)
    return {
        "true": len(Y.indices),
        "found": int((hits & fits).sum()),
        "below the cut": int((hits & ~fits & first).sum()),
        "ranked too low": int((hits & ~fits & ~first).sum()),
        "no candidates": len(Y.indices) - int(hits.sum()),
        "listed": {k: int(hits[:, :k].sum()) for k in (FIRST_LABELS, 2 * FIRST_LABELS)},
        "likely": {"labels": int(likely.sum()), "true": int((hits & likely).sum())},
        "missed": _missed_candidates(ranked, hits & ~fits),
    }


def _missed_candidates(ranked, missed):
    """Labels that are missed in the most instances though they are candidates: how often, and how
    often true.
    """
    true, times, _ = ranked.count_labels(missed)
    order = np.argsort(-times, kind="stable")[:MAX_MISSED_LABELS]
    return [
        {"label": int(j), "missed": int(times[j]), "true": int(true[j])} for j in order if times[j]
    ]
