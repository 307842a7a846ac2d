"""Quality of a run by label and by group of labels, and reasons of missed labels."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.metric import CUTOFFS
from ovaflow.evaluation.ranking import (
    LabelCounts,
    Ranked,
    find_best_gains,
    make_indicator_matrix,
    ratio,
)
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.answer_length import FIRST_LABELS

FREQUENCY_BINS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1001, 10001, 100001)
"""Fewest training positives of each group of labels."""

MAX_CONFUSED_PAIRS = 20
"""Most pairs of labels that are listed as confused."""

MAX_MISSED_LABELS = 3
"""Most labels that are listed as missed though they are candidates."""

LIKELY_PROBABILITY = 0.2
"""Probability of labels that a person who looks at them may want to see."""


def tabulate_labels(measured: EvaluatedPredictions, dataset: Dataset) -> Iterator[Sequence[Any]]:
    """Yield the head and rows of labels.csv.

    They say how often each label is true, predicted and right among the first five, and, with a
    second stage, among those that fit.
    """
    order = measured.order
    first_counts = order.count_labels(order.first(max(CUTOFFS)))
    columns = {
        "label": dataset.label_names,
        "uri": dataset.label_uris or [""] * dataset.n_labels,
        "training_documents": dataset.counts.tolist(),
        "test_positives": first_counts.true.tolist(),
        **_make_quality_columns(first_counts),
    }
    if measured.probabilistic:
        fitting_counts = measured.candidates.count_labels(measured.predicted)
        for name, values in _make_quality_columns(fitting_counts).items():
            columns[f"{name}_fit"] = values
    yield list(columns)
    yield from zip(*columns.values(), strict=True)


def _make_quality_columns(counts: LabelCounts) -> dict[str, list[Any]]:
    """Make the columns of labels.csv about the quality of labels."""
    return {
        "predicted": counts.predicted.tolist(),
        "hits": counts.right.tolist(),
        "precision": _compute_shares(counts.right, counts.predicted),
        "recall": _compute_shares(counts.right, counts.true),
        "F1": _compute_shares(2 * counts.right, counts.true + counts.predicted),
    }


def _compute_shares(parts: np.ndarray, wholes: np.ndarray) -> list[float | str]:
    """Divide numbers (l,), rounded to four digits; a share of nothing is empty."""
    shares: list[float | str] = []
    for part, whole in zip(parts.tolist(), wholes.tolist(), strict=True):
        shares.append(round(part / whole, 4) if whole else "")
    return shares


def group_by_frequency(
    ranked: Ranked, counts: np.ndarray, k: int, starts: Sequence[int]
) -> list[dict[str, Any]]:
    """Measure groups of labels with similar counts.

    Precision and psp of the groups add up to P@k and PSP@k.

    Parameters
    ----------
    ranked : Ranked
    counts : int (l,)
        Training positives of each label.
    k : int
        Cut-off.
    starts : sequence of int
        Smallest count of each group.
    """
    of_labels = ranked.count_labels(ranked.first(k))
    group = np.searchsorted(starts, counts, "right") - 1
    gains = np.bincount(group, of_labels.right * ranked.label_gains, len(starts))
    best_gain = find_best_gains(ranked.Y, ranked.label_gains, k).sum()
    n_predicted = k * len(ranked.ids)
    rows = []
    for number, start in enumerate(starts):
        is_member = group == number
        if not is_member.any():
            continue
        right = of_labels.right[is_member]
        true = of_labels.true[is_member]
        n_hits = int(right.sum())
        n_true = int(true.sum())
        last = None
        if number + 1 < len(starts):
            last = starts[number + 1] - 1
        rows.append(
            {
                "from": start,
                "to": last,
                "labels": int(is_member.sum()),
                "true": n_true,
                "predicted": int(of_labels.predicted[is_member].sum()),
                "hits": n_hits,
                "recall": ratio(n_hits, n_true),
                "precision": ratio(n_hits, n_predicted),
                "coverage": ratio((right > 0).sum(), (true > 0).sum()),
                "psp": ratio(gains[number], best_gain),
            }
        )
    return rows


def find_confused_labels(ranked: Ranked, k: int, amount: int) -> list[dict[str, Any]]:
    """Find pairs of a label missed among the first k and one predicted instead.

    Those that exceed chance most come first; pairs that occur once are left out.
    """
    ids = ranked.ids[:, :k]
    hits = ranked.hits[:, :k]
    Y = ranked.Y
    # with m labels there are min(m, k) places: a wrong prediction takes that of a missed label
    has_place = np.arange(ids.shape[1]) < np.diff(Y.indptr)[:, None]
    wrong = make_indicator_matrix(np.where(hits | ~has_place, NO_LABEL, ids), Y)
    missed = Y.to_scipy() > make_indicator_matrix(np.where(hits, ids, NO_LABEL), Y)
    together = missed.T.astype(np.int64) @ wrong.astype(np.int64)
    together.sort_indices()
    n_missed = together.sum(axis=1)
    n_wrong = together.sum(axis=0)
    pairs = together.tocoo()
    missed_labels, wrong_labels = pairs.coords
    times = pairs.data
    expected = n_missed[missed_labels] * n_wrong[wrong_labels] / times.sum()
    order = np.argsort(expected - times, kind="stable")[:amount]
    entries = []
    for i in order:
        if times[i] > 1:
            entries.append(
                {
                    "true": int(missed_labels[i]),
                    "predicted": int(wrong_labels[i]),
                    "times": int(times[i]),
                    "expected": float(expected[i]),
                }
            )
    return entries


def analyse(ranked: Ranked, counts: np.ndarray) -> dict[str, Any]:
    """Measure labels by training frequency, and find confused ones, among the first five."""
    k = min(max(CUTOFFS), ranked.max_predicted)
    groups = group_by_frequency(ranked, counts, k, (0, *FREQUENCY_BINS))
    return {
        "k": k,
        "bins": [group for group in groups if group["from"]],
        "confused": find_confused_labels(ranked, k, MAX_CONFUSED_PAIRS),
    }


class MissedCandidate(NamedTuple):
    """A label that is missed in some test instances though it is a candidate."""

    label: int
    missed: int  # instances in which it is missed
    true: int  # instances that have it


class LabelOutcomes(NamedTuple):
    """Numbers of (test instance, label) pairs by what a second stage makes of them.

    A true label that is not found is no candidate, or ranked after the first five, or among these
    but not among the labels that fit.
    """

    true: int
    suggested: int  # labels that fit, right or wrong
    found: int  # true labels among these
    unfitting: int  # true labels among the first five that do not fit
    ranked_low: int  # true labels that are candidates after the fifth and do not fit
    no_candidates: int  # true labels that are no candidates
    in_first_five: int  # true labels among the first five
    in_first_ten: int
    likely: int  # labels with a probability of at least LIKELY_PROBABILITY
    likely_true: int  # true labels among these
    most_missed: list[MissedCandidate]  # candidates that are missed in the most instances

    @property
    def found_share(self) -> float:
        """Share of the true labels that are found."""
        return ratio(self.found, self.true)


def count_outcomes(measured: EvaluatedPredictions) -> LabelOutcomes:
    """Count the labels that a second stage suggests, finds, and misses by reason."""
    candidates = measured.candidates
    hits = measured.hits
    fits = measured.predicted
    n_true = len(candidates.Y.indices)
    first_five = candidates.first(FIRST_LABELS)
    first_ten = candidates.first(2 * FIRST_LABELS)
    is_likely = (candidates.ids != NO_LABEL) & (measured.values >= LIKELY_PROBABILITY)
    return LabelOutcomes(
        true=n_true,
        suggested=int(fits.sum()),
        found=int((hits & fits).sum()),
        unfitting=int((hits & ~fits & first_five).sum()),
        ranked_low=int((hits & ~fits & ~first_five).sum()),
        no_candidates=n_true - int(hits.sum()),
        in_first_five=int((hits & first_five).sum()),
        in_first_ten=int((hits & first_ten).sum()),
        likely=int(is_likely.sum()),
        likely_true=int((hits & is_likely).sum()),
        most_missed=_list_missed_candidates(candidates, hits & ~fits),
    )


def _list_missed_candidates(candidates: Ranked, missed: np.ndarray) -> list[MissedCandidate]:
    """List the labels that are missed in the most instances though they are candidates.

    ``missed`` marks the missed candidates: bool (n, K).
    """
    counts = candidates.count_labels(missed)
    order = np.argsort(-counts.predicted, kind="stable")[:MAX_MISSED_LABELS]
    most_missed = []
    for label in order:
        n_missed = int(counts.predicted[label])
        if n_missed:
            most_missed.append(MissedCandidate(int(label), n_missed, int(counts.true[label])))
    return most_missed
