"""Figures of models on the same labelled records, and how much of a difference is chance."""

from itertools import chain
from typing import NamedTuple

import numpy as np

from ovaflow.evaluation import ranking
from ovaflow.evaluation.metric import find_cutoffs, list_labelled_file_metrics
from ovaflow.evaluation.ranking import ratio
from ovaflow.evaluation.resampling import interval, interval_of_difference, resample

COMPARED_FIGURES = {"P@1": "P@1", "P@5": "P@5", "F1": "F1 of labels that fit"}
"""Figures by which models are compared, by short names."""

MIN_BOOTSTRAP_RECORDS = 30
"""Fewest records for which the intervals of a bootstrap are wide enough."""


class Difference(NamedTuple):
    """How much a model's figure exceeds another model's."""

    difference: float
    low: float  # with high: the interval of the bootstrap
    high: float
    better: int  # records in which it is better
    worse: int

    @property
    def verdict(self):
        if self.low <= 0 <= self.high:
            return "may be chance"
        return "better" if self.low > 0 else "worse"

    @property
    def entry(self):
        return self._asdict() | {"verdict": self.verdict}


class Figures(NamedTuple):
    """Figures of a model by name, of the records with labels, known to it or not."""

    records: dict  # what each record adds to two sums, whose ratio is the figure: two arrays (m,)
    samples: dict  # the figures on the bootstrap's samples of the records, float64 (RESAMPLES,)

    @classmethod
    def of(cls, measured):
        records = _of_records(measured.keep_labelled())
        gains, best = (np.column_stack(part) for part in zip(*records.values(), strict=True))
        return cls(records, dict(zip(records, resample(gains, best).T, strict=True)))

    @property
    def n_records(self):
        gains, _ = next(iter(self.records.values()))
        return len(gains)

    @property
    def means(self):
        return {
            name: ratio(gains.sum(), best.sum()) for name, (gains, best) in self.records.items()
        }

    @property
    def intervals(self):
        return {name: interval(values) for name, values in self.samples.items()}

    def compute_differences(self, other):
        """The :class:`Difference` in each figure that both models have."""
        differences = {}
        for name in COMPARED_FIGURES.values():
            if name in self.records and name in other.records:
                # of means: each record counts as one
                gains = self.records[name][0] - other.records[name][0]
                bounds = interval_of_difference(self.samples[name], other.samples[name])
                changes = int((gains > 0).sum()), int((gains < 0).sum())
                differences[name] = Difference(float(gains.mean()), *bounds, *changes)
        return differences


MAX_CHANGED_LABELS = 10
"""Labels that are listed of those that changed most."""
_OF_A_MODEL = ("predicted", "precision", "recall", "F1")


def merge_label_entries(entries_of_models):
    """What :func:`by_label` gives of each model, by its name, as one table by URI or name of the
    label: its rows.
    """
    rows = {}
    for model, entries in entries_of_models.items():
        for entry in entries.values():
            key = entry.get("uri") or entry["label"]
            row = rows.setdefault(
                key, {"label": entry["label"], "uri": entry.get("uri", ""), "positives": 0}
            )
            row["positives"] = max(row["positives"], int(entry["positives"]))
            row[model] = {name: entry[name] for name in _OF_A_MODEL}
    return list(rows.values())


def tabulate_label_comparison(entries_of_models):
    """Head and rows of a table of labels; with several models each has its columns. 0 / 0 is empty."""
    rows = merge_label_entries(entries_of_models)
    several = len(entries_of_models) > 1
    about = (
        ["label", "uri", "positives"] if any(row["uri"] for row in rows) else ["label", "positives"]
    )
    yield about + [
        f"{name} {model}" if several else name
        for model in entries_of_models
        for name in _OF_A_MODEL
    ]
    for row in rows:
        figures = [_figures_of(row.get(model), row["positives"]) for model in entries_of_models]
        yield [row[name] for name in about] + list(chain.from_iterable(figures))


def _figures_of(entry, positives):
    """Cells of a label of a model; empty where it is neither true nor predicted there."""
    if entry is None:
        return [""] * len(_OF_A_MODEL)
    known = {"precision": entry["predicted"], "recall": positives, "F1": True}
    return [
        entry["predicted"],
        *(f"{entry[name]:.4f}" if known[name] else "" for name in _OF_A_MODEL[1:]),
    ]


def find_changed_labels(rows, before, after):
    """Labels by the change of their F1 times their positives, losses first: some of each end."""
    changes = []
    for row in rows:
        f1 = [float(row[model]["F1"]) if model in row else 0.0 for model in (before, after)]
        if row["positives"] and f1[0] != f1[1]:
            changes.append(
                {
                    "label": row["label"],
                    "positives": row["positives"],
                    "before": f1[0],
                    "after": f1[1],
                }
            )
    changes.sort(key=lambda each: (each["after"] - each["before"]) * each["positives"])
    if len(changes) > 2 * MAX_CHANGED_LABELS:
        changes = changes[:MAX_CHANGED_LABELS] + changes[-MAX_CHANGED_LABELS:]
    return changes


def _of_records(measured):
    """What each record with labels adds to the two sums of each figure."""
    ranked = measured.candidates
    n_true = measured.n_true
    hits = ranked.hits
    ones = np.ones(len(n_true))
    figures = {
        f"P@{k}": (hits[:, :k].sum(axis=1) / k, ones) for k in find_cutoffs(ranked.Y.n_columns)
    }
    figures["recall@5 of all labels"] = hits[:, :5].sum(axis=1) / n_true, ones
    for name, metric, k in list_labelled_file_metrics(ranked):
        figures.setdefault(name, metric.each(ranked, k))
    if measured.probabilistic:
        fit = ranking.compute_answer_figures(hits, measured.answer.amounts, n_true)
        for name, value in (("F1", fit["F1"]), ("precision", fit["P"]), ("recall", fit["R"])):
            figures[f"{name} of labels that fit"] = value, ones
    return figures
